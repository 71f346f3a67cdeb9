// Which times of a file cannot be: they lie weeks from those of nearly all its events, as the 0 of
// a record whose time a profiler did not get does among times since 1970.
//
// Plain values; memory: a few thousand numbers at most, of times that are isTime().
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <map>

namespace sonde::ingest {

// Times that can be.
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

  // The 26 days with most of the events, the last of those with as many, and as much before and
  // behind them; everything where all lie in two such spans beside each other.
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
