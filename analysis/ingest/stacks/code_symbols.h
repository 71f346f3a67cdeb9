// Reads the functions of an ELF file from all its symbol tables.
#pragma once

#include "analysis/ingest/stacks/code_file.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sonde::ingest {

// By address, without overlaps; empty if there are none. If a function has several names, the one
// that programs use is taken.
std::vector<CodeFunction> symbolsOf(const std::filesystem::path& path);
std::vector<CodeFunction> symbolsOf(std::span<const std::byte> image);

// The address of an exported object, as in the file; unset if the file exports none of this name.
std::optional<std::uint64_t> objectAddress(const std::filesystem::path& path,
                                           std::string_view name);

}  // namespace sonde::ingest
