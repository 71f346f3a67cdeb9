// The newest iterations of a large trace, as a database that engines read as they read a trace. So
// the time to judge a run does not grow with its length.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace sonde::engine::recent {

struct RecentSize {
  std::int64_t events = 200'000;  // about as many, over all ranks
  std::int64_t iterations = 50;   // but not fewer of these in any process
  // If no process has more iterations: so much time before the newest event, instead of the whole
  // trace. 0: the whole trace.
  std::int64_t spanNs = 0;
};

// Tables of events have only rows from the begin of a process's first kept iteration on, and the
// slices that those refer to. A slice that spans that moment is kept whole. Processes, threads,
// streams, names, scalars, tensors, allocations and clocks are those of the trace. Used on one
// thread.
class RecentTrace {
 public:
  // Requires: `trace` outlives the result. A trace that is small, has no iterations, or is in
  // memory is kept whole. Reads what is committed.
  static Result<RecentTrace> read(const store::Database& trace, RecentSize size = {});

  const store::Database& database() const noexcept { return own_ ? *own_ : *whole_; }
  bool isWhole() const noexcept { return !own_; }

 private:
  explicit RecentTrace(const store::Database& whole) noexcept : whole_(&whole) {}

  const store::Database* whole_;
  std::unique_ptr<store::Database> own_;  // nullptr: kept whole
  std::shared_ptr<store::RowMemo> rows_;  // of own_, which does not change
};

// Writes the same rows as a trace of their own, finished or not as the whole is, without what is
// derived from it. Scalars, tensors, samples and freed allocations that are older than the kept
// rows are left out, too, so that the file does not grow with the run. Replaces a file at `to`.
// InvalidArgument: the trace is in memory.
Result<void> writeRecent(const store::Database& trace,
                         const std::filesystem::path& to,
                         RecentSize size = {});

}  // namespace sonde::engine::recent
