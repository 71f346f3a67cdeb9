// The processes that a report covers: those that train, ordered by rank. Helpers that a rank
// started (data-loading workers, compilers) are not included. Plain values; reading uses the
// database's thread.
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
  std::int64_t occurrence = 0;  // how often the process had this number before; numbers may restart
};

struct RankProcess {
  std::int64_t processId = 0;
  std::optional<std::int64_t> rank;
  std::string name;   // "rank 3", or "process 4711"
  Interval window{};  // its complete iterations; without any, all its slices
  std::vector<IterationTime>
      iterations;  // by begin; without inner ones and those that only the program's end closed
  store::IterationHolders holders;  // of inner ones
  std::int64_t maskedCount = 0;
  Intervals masked;  // not among `iterations`: less was recorded, because probes were off or only
                     // an outline was kept; normal form

  // Whether it has any iterations that ended, masked or not.
  bool iterates() const noexcept { return !iterations.empty() || maskedCount > 0; }
};

// The processes with iterations; if none, those with a training operation or a collective; if none,
// the one that started first. A single process without a rank is rank 0. A process that only marks
// iterations stands for the one process whose devices worked, as in some files of torch.profiler.
// Empty only for a trace without processes. Corrupt: a time is invalid.
Result<std::vector<RankProcess>> readRanks(const store::Database& trace);

// The threads of its process that have iterations, ascending. All threads if none is known, for
// example because another process marks the iterations.
Result<std::vector<std::int64_t>> iterationThreads(const store::Database& trace,
                                                   const RankProcess& rank);

// Its window without masked iterations, in normal form.
Intervals countedOf(const RankProcess& rank);

// The same with times by `clock`.
RankProcess byClock(RankProcess rank, const Clock& clock);

struct IterationStatistics {
  std::int64_t count = 0;
  std::int64_t medianNs = 0;
  std::int64_t p95Ns = 0;
  std::int64_t minNs = 0;
  std::int64_t maxNs = 0;
};

// Nearest-rank percentiles: each is the duration of an iteration. All 0 without iterations.
IterationStatistics statisticsOf(const std::vector<IterationTime>& iterations);

}  // namespace sonde::engine::metrics
