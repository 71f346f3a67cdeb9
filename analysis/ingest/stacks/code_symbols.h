// Reads the functions of an ELF file from all its symbol tables.
#pragma once

#include "analysis/ingest/stacks/code_file.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace sonde::ingest {

// By address, without overlaps; empty if there are none. If a function has several names, the one
// that programs use is taken.
std::vector<CodeFunction> symbolsOf(const std::filesystem::path& path);
std::vector<CodeFunction> symbolsOf(std::span<const std::byte> image);

}  // namespace sonde::ingest
