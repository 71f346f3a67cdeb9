// Checks and computes the times of a trace's events. Pure functions. Within engine/breakdown.
#pragma once

#include "analysis/engine/breakdown/process_events.h"
#include "analysis/model/times.h"
#include "base/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace sonde::engine::breakdown {

// An event that ends before it begins takes no time. Saturates: a damaged file's sums may overflow.
inline std::int64_t endOf(std::int64_t begin, std::int64_t duration) noexcept {
  std::int64_t end = 0;
  return __builtin_add_overflow(begin, std::max<std::int64_t>(duration, 0), &end) ? kOpenEnd - 1
                                                                                  : end;
}

inline Result<void> checkTimes(std::int64_t begin, std::int64_t end) {
  if (model::isTime(begin) && (end == kOpenEnd || model::isTime(end)))
    return {};
  return Error{
      ErrorCode::Corrupt,
      fmt::format(
          "the trace is damaged: it has an event from {} to {} ns, which are not valid times",
          begin,
          end)};
}

}  // namespace sonde::engine::breakdown
