// Limits events to a range of time. A pure function.
#pragma once

#include "analysis/engine/intervals/intervals.h"

#include <optional>

namespace sonde::engine::metrics {

// Whether an event shares time with the range; unset: all time. An instant belongs to the range
// that it begins.
inline bool sharesTime(Interval event, const std::optional<Interval>& range) noexcept {
  return !range ||
         (event.begin < range->end && (event.end > range->begin || event.begin >= range->begin));
}

}  // namespace sonde::engine::metrics
