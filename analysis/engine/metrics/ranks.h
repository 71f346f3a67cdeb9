// The processes that a report is about: those that train, in the order of their ranks. Helpers that
// a rank started (data-loading workers, compilers) are not among them. Plain values; reading uses
// the database's thread.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/engine/metrics/clock.h"
#include "analysis/store/database.h"
#include "analysis/store/iteration_nesting.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::metrics {

struct IterationTime {
  std::int64_t number = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  std::int64_t threadId = 0;    // 0: unknown
  std::int64_t id = 0;          // of the row of `iteration`
  std::int64_t occurrence = 0;  // how many of its number the process had before: it may start anew
};

struct RankProcess {
  std::int64_t processId = 0;
  std::optional<std::int64_t> rank;
  std::string name;   // "rank 3", or "process 4711"
  Interval window{};  // its complete iterations; without any, all its slices
  std::vector<IterationTime>
      iterations;  // that ended, and not by the end of the program; by begin. Without inner ones
  store::IterationHolders holders;  // of inner ones
  std::int64_t maskedCount = 0;
  Intervals masked;  // iterations of which less was recorded than of others, which are not among
                     // these: probes were off, or all but an outline; normal form

  // Whether it has any iterations that ended, be they masked.
  bool iterates() const noexcept { return !iterations.empty() || maskedCount > 0; }
};

// The processes with iterations; if none has any, those with a training operation or a collective;
// if none has, the one that was started first. A single process without a rank is rank 0. One that
// marks iterations and does nothing else stands for the one beside it whose devices worked: such
// are the steps of some of torch.profiler's files. Empty only for a trace without processes.
// Corrupt: times are none.
Result<std::vector<RankProcess>> readRanks(const store::Database& trace);

// The threads of its process that iterations run on, ascending; all of them where none is known, as
// of a file in which another process marks the iterations.
Result<std::vector<std::int64_t>> iterationThreads(const store::Database& trace,
                                                   const RankProcess& rank);

// Its window but for masked iterations, in normal form.
Intervals countedOf(const RankProcess& rank);

// The same with times by another clock than that of the recording.
RankProcess byClock(RankProcess rank, const Clock& clock);

struct IterationStatistics {
  std::int64_t count = 0;
  std::int64_t medianNs = 0;
  std::int64_t p95Ns = 0;
  std::int64_t minNs = 0;
  std::int64_t maxNs = 0;
};

// Nearest ranks, so each is the duration of one of them. All 0 without iterations.
IterationStatistics statisticsOf(const std::vector<IterationTime>& iterations);

}  // namespace sonde::engine::metrics
