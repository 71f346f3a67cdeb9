// Finds impossible times of a file: weeks away from nearly all its events. For example 0 for a
// missing time among times since 1970.
//
// Plain values. Memory: at most a few thousand numbers, if all times fulfil isTime().
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <map>

namespace sonde::ingest {

// The possible times.
struct TimeWindow {
  std::int64_t beginNs = std::numeric_limits<std::int64_t>::min();
  std::int64_t endNs = std::numeric_limits<std::int64_t>::max();

  bool holds(std::int64_t startNs, std::int64_t lastNs) const noexcept {
    return startNs >= beginNs && lastNs <= endNs;
  }
};

class TimeCensus {
 public:
  static constexpr int kShift = 51;  // 2^51 ns are 26 days
  static constexpr std::int64_t kSpanNs = std::int64_t{1} << kShift;
  static constexpr std::int64_t spanOf(std::int64_t ns) noexcept { return ns >> kShift; }

  void add(std::int64_t ns) {
    const std::int64_t span = spanOf(ns);
    if (last_ == nullptr || span != lastSpan_) {
      last_ = &counts_[span];
      lastSpan_ = span;
    }
    ++*last_;
  }

  // The 26 days with the most events (the last of several), plus 26 days before and after.
  // Everything if all events are in one or two adjacent spans.
  TimeWindow window() const {
    if (counts_.empty() || std::prev(counts_.end())->first - counts_.begin()->first < 2)
      return {};
    auto most = counts_.begin();
    for (auto each = counts_.begin(); each != counts_.end(); ++each)
      most = each->second < most->second ? most : each;
    return {(most->first - 1) * kSpanNs, (most->first + 2) * kSpanNs};
  }

 private:
  std::map<std::int64_t, std::uint64_t> counts_;
  std::uint64_t* last_ = nullptr;
  std::int64_t lastSpan_ = 0;
};

}  // namespace sonde::ingest
