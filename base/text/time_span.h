// Parses time spans from a command line. Plain functions; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string_view>

namespace sonde {

// Returns ns. A number, with or without a decimal point, and a unit: none or s; ns; us; ms; m or
// min; h. Ignores case and a space between.
Result<std::int64_t> parseTimeSpan(std::string_view text);

struct TimeRange {
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
};
// "1.2s..1.5s". InvalidArgument: another form, or the end is not after the begin.
Result<TimeRange> parseTimeRange(std::string_view text);

}  // namespace sonde
