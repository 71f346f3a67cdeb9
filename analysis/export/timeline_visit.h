// The implementation of visitTimeline(). Within analysis/export; one thread.
#pragma once

#include "analysis/export/span_facts.h"
#include "analysis/export/timeline.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace sonde::exports {

using store::Database;
using store::Statement;

// Above every pid and tid of Linux, so that generated numbers never equal the trace's.
inline constexpr std::int64_t kMadeProcess = 1LL << 23;
inline constexpr std::int64_t kMadeThread = 2LL << 23;
inline constexpr std::int64_t kMadeStream = 3LL << 23;
inline constexpr std::int64_t kMadeChannel = 4LL << 23;

class Visit {
 public:
  Visit(const Database& trace, TimelineVisitor& visitor, const Progress& progress) noexcept
      : trace_(trace), visitor_(visitor), progress_(progress) {}

  Result<void> all();

 private:
  Result<void> processes();
  Result<void> iterations();
  Result<void> threads();
  Result<void> slices(std::int64_t thread);
  Result<void> streams();
  Result<void> deviceWide();
  Result<void> work(Statement& rows, std::int64_t pid);
  Result<void> channels();
  Result<void> transfers(std::int64_t channel);
  Result<void> counters();
  Result<void> scalars();
  Result<void> samples(Statement& rows);

  void showProgress(std::string_view what);
  model::OptionalInt shownPid(const Statement& row, int column) const;

  const Database& trace_;
  TimelineVisitor& visitor_;
  const Progress& progress_;
  std::optional<SpanFacts> facts_;
  std::int64_t tracks_ = 0;                         // threads and streams
  std::int64_t shown_ = 0;                          // those already visited
  std::map<std::int64_t, std::int64_t> shownPids_;  // by process
  std::map<std::int64_t, std::int64_t> numbers_;    // of iterations, by slice
};

// Assigns overlapping spans to different lanes.
class Lanes {
 public:
  std::int64_t laneOf(const TimelineSpan& span) {
    const auto lane = std::find_if(
        ends_.begin(), ends_.end(), [&](std::int64_t endNs) { return endNs <= span.startNs; });
    const std::int64_t number = lane - ends_.begin();
    if (lane == ends_.end())
      ends_.push_back(0);
    ends_[static_cast<std::size_t>(number)] =
        span.drawnNs ? span.startNs + *span.drawnNs : std::numeric_limits<std::int64_t>::max();
    return number;
  }

 private:
  std::vector<std::int64_t> ends_;  // of the last span, by lane
};

// Calls `take` with each row.
template <typename Take>
Result<void> forEach(Statement& rows, const Take& take) {
  for (;;) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    SONDE_TRY(take(rows));
  }
}

template <typename Take>
Result<void> forEach(const Database& trace, std::string_view sql, const Take& take) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(sql));
  return forEach(rows, take);
}

}  // namespace sonde::exports
