// Sets of instants as half-open intervals of nanoseconds, and operations on them. Normal form is
// ascending, without empty, overlapping or touching intervals; only normalise() takes other input.
// Pure functions.
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

// The interval from `beginNs` with length `durNs`; a negative length counts as 0. Corrupt: the
// values are not valid times, as in a damaged file.
Result<Interval> intervalOf(std::int64_t beginNs, std::int64_t durNs);

// The union of intervals in any order; those that end at or before their begin are empty. O(n log
// n).
Intervals normalise(Intervals intervals);

// All functions below require normal form. O(n + m).
Intervals unite(const Intervals& a, const Intervals& b);
Intervals intersect(const Intervals& a, const Intervals& b);
Intervals subtract(const Intervals& a, const Intervals& b);
// The part inside `window`. O(log n + intervals in it).
Intervals clip(const Intervals& intervals, Interval window);
// Whether an interval contains `at`. O(log n).
bool holds(const Intervals& intervals, std::int64_t at);
std::int64_t totalLength(const Intervals& intervals);

}  // namespace sonde::engine::metrics
