// The rate of a counter's total. Free functions; any thread.
#pragma once

#include <cstdint>
#include <limits>

namespace sonde::engine::counters {

struct CounterPoint {
  std::int64_t ns = 0;
  double value = 0;
};

// Growth per second between two samples; of a total of time in ns, the share of the time. NaN: it
// shrank, so it began anew. Requires: from.ns < to.ns.
inline double rateOf(const CounterPoint& from, const CounterPoint& to, bool isTime) {
  constexpr double kNsPerSecond = 1e9;
  const double grown = to.value - from.value;
  if (grown < 0)
    return std::numeric_limits<double>::quiet_NaN();
  return grown / static_cast<double>(to.ns - from.ns) * (isTime ? 1 : kNsPerSecond);
}

}  // namespace sonde::engine::counters
