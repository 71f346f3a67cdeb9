// Parses sizes from a command line. Plain functions; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string_view>

namespace sonde {

// A number, with or without a decimal point, and a unit: none or B; kB MB GB TB (powers of 1000);
// KiB MiB GiB TiB (powers of 1024). Ignores case and a space between. Drops fractions of a byte.
Result<std::uint64_t> parseByteSize(std::string_view text);

}  // namespace sonde
