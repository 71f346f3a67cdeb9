// Compares and checks paths from the user. Plain functions; any thread.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sonde {

// Whether both paths are one place, by another spelling or through linked or mounted folders, even
// if nothing exists there. A link is a different place than its target, unless the target exists.
bool samePlace(const std::filesystem::path& one, const std::filesystem::path& other);

// Whether a file of this name must not be replaced: a device, a pipe, a folder, or the system's
// name for an open file, such as /dev/stdout.
bool mustStay(const std::filesystem::path& path);

// Whether the file exists; follows links. False where this process may not look.
bool isThere(const std::filesystem::path& path) noexcept;

// The file's size in bytes; 0 if it cannot be read.
std::uint64_t fileBytes(const std::filesystem::path& path) noexcept;

}  // namespace sonde
