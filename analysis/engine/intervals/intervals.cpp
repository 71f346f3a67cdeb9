#include "analysis/engine/intervals/intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace sonde::engine::metrics {

Result<Interval> intervalOf(std::int64_t beginNs, std::int64_t durNs) {
  // Differences of two times must not overflow either.
  constexpr std::int64_t kMostNs = std::int64_t{1} << 62;
  std::int64_t endNs = 0;
  if (__builtin_add_overflow(beginNs, std::max<std::int64_t>(durNs, 0), &endNs) ||
      beginNs <= -kMostNs || endNs >= kMostNs)
    return Error{ErrorCode::Corrupt,
                 fmt::format("the trace is damaged: it has an event at {} ns that lasts {} ns, "
                             "which are not valid times",
                             beginNs,
                             durNs)};
  return Interval{beginNs, endNs};
}

Intervals normalise(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    return a.begin < b.begin;
  });
  Intervals result;
  for (const Interval& next : intervals) {
    if (next.end <= next.begin)
      continue;
    if (!result.empty() && next.begin <= result.back().end)
      result.back().end = std::max(result.back().end, next.end);
    else
      result.push_back(next);
  }
  return result;
}

Intervals unite(const Intervals& a, const Intervals& b) {
  Intervals all = a;
  all.insert(all.end(), b.begin(), b.end());
  return normalise(std::move(all));
}

Intervals intersect(const Intervals& a, const Intervals& b) {
  Intervals result;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Interval common{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (common.begin < common.end)
      result.push_back(common);
    if (a[i].end < b[j].end)
      ++i;
    else
      ++j;
  }
  return result;
}

Intervals subtract(const Intervals& a, const Intervals& b) {
  Intervals result;
  std::size_t j = 0;
  for (const Interval& whole : a) {
    std::int64_t from = whole.begin;
    while (j < b.size() && b[j].end <= from)
      ++j;
    for (std::size_t k = j; k < b.size() && b[k].begin < whole.end; ++k) {
      if (from < b[k].begin)
        result.push_back({from, b[k].begin});
      from = std::max(from, b[k].end);
    }
    if (from < whole.end)
      result.push_back({from, whole.end});
  }
  return result;
}

Intervals clip(const Intervals& intervals, Interval window) {
  Intervals result;
  auto at =
      std::lower_bound(intervals.begin(),
                       intervals.end(),
                       window.begin,
                       [](const Interval& each, std::int64_t from) { return each.end <= from; });
  for (; at != intervals.end() && at->begin < window.end && window.begin < window.end; ++at)
    result.push_back({std::max(at->begin, window.begin), std::min(at->end, window.end)});
  return result;
}

bool holds(const Intervals& intervals, std::int64_t at) {
  const auto after = std::upper_bound(
      intervals.begin(), intervals.end(), at, [](std::int64_t ns, const Interval& each) {
        return ns < each.begin;
      });
  return after != intervals.begin() && at < std::prev(after)->end;
}

std::int64_t totalLength(const Intervals& intervals) {
  std::int64_t total = 0;
  for (const Interval& interval : intervals)
    total += interval.end - interval.begin;
  return total;
}

}  // namespace sonde::engine::metrics
