// The functions of an ELF file, from all the symbol tables that belong to it.
#pragma once

#include "analysis/ingest/stacks/code_file.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace sonde::ingest {

// By address, without overlaps; empty when there are none. Of several names for one function it is
// the one that programs call it by.
std::vector<CodeFunction> symbolsOf(const std::filesystem::path& path);
std::vector<CodeFunction> symbolsOf(std::span<const std::byte> image);

}  // namespace sonde::ingest
