// Places in the file system that users name. Plain functions; any thread.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sonde {

// Whether both names are of one place, whatever is there: by another spelling, through linked or
// mounted folders. A link is another place than what it leads to, unless that is there.
bool samePlace(const std::filesystem::path& one, const std::filesystem::path& other);

// Whether nothing may take the place of what has this name: a device, a pipe, a folder, or a name
// of the system for an open file, as /dev/stdout is.
bool mustStay(const std::filesystem::path& path);

// Whether the file exists; follows links. False where this process may not look.
bool isThere(const std::filesystem::path& path) noexcept;

// The file's size in bytes; 0 if it cannot be read.
std::uint64_t fileBytes(const std::filesystem::path& path) noexcept;

}  // namespace sonde
