// Sizes as people write them on a command line. Plain functions; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string_view>

namespace sonde::cli {

// A number, also with a decimal point, and a unit: none or B, kB MB GB TB (powers of 1000), KiB MiB
// GiB TiB (of 1024); in either case of letters, with or without a space between. What is left of a
// byte is cut off.
Result<std::uint64_t> parseByteSize(std::string_view text);

}  // namespace sonde::cli
