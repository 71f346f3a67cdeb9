#include "base/text/time_span.h"

#include "base/text/quantity.h"

#include <fmt/format.h>

namespace sonde {

Result<std::int64_t> parseTimeSpan(std::string_view text) {
  constexpr Unit kUnits[] = {{"", 1e9L},
                             {"s", 1e9L},
                             {"ms", 1e6L},
                             {"us", 1e3L},
                             {"ns", 1},
                             {"m", 60e9L},
                             {"min", 60e9L},
                             {"h", 3600e9L}};
  if (const auto ns = parseQuantity(text, kUnits))
    return *ns;
  return Error{
      ErrorCode::InvalidArgument,
      fmt::format("{} is not a time: give a number of seconds, or one with ns, us, ms, s, m or "
                  "h, as in 30s or 1.5m",
                  text)};
}

Result<TimeRange> parseTimeRange(std::string_view text) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos)
    return Error{ErrorCode::InvalidArgument, "a range of time is like 1.2s..1.5s"};
  TimeRange range;
  SONDE_TRY_ASSIGN(range.beginNs, parseTimeSpan(text.substr(0, dots)));
  SONDE_TRY_ASSIGN(range.endNs, parseTimeSpan(text.substr(dots + 2)));
  if (range.endNs <= range.beginNs)
    return Error{ErrorCode::InvalidArgument, "the end is not after the begin"};
  return range;
}

}  // namespace sonde
