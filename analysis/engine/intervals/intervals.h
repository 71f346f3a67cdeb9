// Sets of instants as half-open intervals of nanoseconds, and what can be asked of them. The normal
// form is ascending, without empty, overlapping or touching intervals; only normalise() takes
// anything else. Pure functions.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::metrics {

struct Interval {
  std::int64_t begin;
  std::int64_t end;
  friend bool operator==(const Interval&, const Interval&) = default;
};

using Intervals = std::vector<Interval>;

// What begins at `beginNs` and lasts for `durNs`; what would end before it begins takes no time.
// Corrupt: these are no times, as in a damaged file.
Result<Interval> intervalOf(std::int64_t beginNs, std::int64_t durNs);

// The union of any intervals, in any order; those that end at or before their begin are empty. O(n
// log n).
Intervals normalise(Intervals intervals);

// Requires of all below: normal form. O(n + m).
Intervals unite(const Intervals& a, const Intervals& b);
Intervals intersect(const Intervals& a, const Intervals& b);
Intervals subtract(const Intervals& a, const Intervals& b);
// What lies in `window`. O(log n + the intervals there).
Intervals clip(const Intervals& intervals, Interval window);
// Whether one of them holds `at`. O(log n).
bool holds(const Intervals& intervals, std::int64_t at);
std::int64_t totalLength(const Intervals& intervals);

}  // namespace sonde::engine::metrics
