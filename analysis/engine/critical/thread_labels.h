// Says what a thread did in stretches of its time: its innermost slices. Uses the database's
// thread.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/critical/path_cause.h"
#include "analysis/engine/graph/graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace sonde::engine::critical {

struct ThreadStretch {
  std::size_t key;  // the caller's
  std::int64_t beginNs;
  std::int64_t endNs;
};

struct ThreadLabel {
  std::size_t stretch;  // its key
  std::int64_t beginNs;
  std::int64_t endNs;
  PathCause cause;      // Host, Loader, Transfer, Io or Wait
  std::int64_t nameId;  // of table string; 0: nothing was recorded
};

using LabelSink = std::function<void(const ThreadLabel&)>;

// Divides the stretches where the thread's innermost slice changes; by time. Times are the job's.
// Requires: `lane` is a thread; stretches by begin, without overlaps; at least one.
Result<void> labelThread(const store::Database& trace,
                         const align::JobClock& clock,
                         const graph::Lane& lane,
                         const std::vector<ThreadStretch>& stretches,
                         const LabelSink& sink);

}  // namespace sonde::engine::critical
