// Spans of time as people write them on a command line. Plain functions; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string_view>

namespace sonde::cli {

// In ns: a number, also with a decimal point, and a unit: none or s, ms, m or min, h; with or
// without a space between; in either case of letters.
Result<std::int64_t> parseTimeSpan(std::string_view text);

}  // namespace sonde::cli
