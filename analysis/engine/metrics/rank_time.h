// How a rank spent its time: computing, communicating, both or neither; and the parts of an
// iteration. Plain values; reading uses the database's thread.
//
// On a process with devices, compute is the union of its kernels except those of collectives;
// copying is the union of its copies. Communication is the union of the kernels of collectives, and
// of collectives without a kernel. On a process without devices, compute is the union over its
// threads of forward, backward, optimizer, evaluation, module and operator slices, minus the same
// thread's data loading, collectives, I/O and waits. Communication is the union of its collectives.
// A backward pass whose gradients are reduced while it runs ends by waiting for the last reduction,
// and no probe sees that wait. So the thread counts as waiting from the begin of the last
// collective inside a backward pass until the pass or its collectives have ended. Hidden
// communication happens while the rank computes; the rest is exposed. If no such slice was
// recorded, the rank may have computed all the time: compute is then unknown.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::metrics {

struct RankTime {
  std::string device = "cpu";  // "gpu 0", or several with ", " between
  bool computeKnown = false;   // false: compute, hidden, exposed and idle are meaningless
  std::int64_t windowNs = 0;
  std::int64_t computeNs = 0;
  std::int64_t copyNs = 0;  // of devices; may overlap computing and communicating
  std::int64_t commNs = 0;
  std::int64_t hiddenNs = 0;  // hidden + exposed = comm
  std::int64_t exposedNs = 0;
  std::int64_t exposedCopyNs = 0;  // copying while neither computing nor communicating
  std::int64_t idleNs = 0;         // of the window: none of these
  std::int64_t collectives = 0;
};

// A rank's activity, for queries about any stretch of time.
struct RankActivity {
  std::string device = "cpu";
  bool computeKnown = false;
  Intervals computing;  // normal form, as are the next two
  Intervals copying;
  Intervals communicating;
  Intervals masked;                            // does not count: nothing above overlaps it
  std::vector<std::int64_t> collectiveBegins;  // ascending, as are the ends
  std::vector<std::int64_t> collectiveEnds;
};
// Times are by `clock`; `rank` is as recorded. Corrupt: a time is invalid.
Result<RankActivity> readRankActivity(const store::Database& trace,
                                      const RankProcess& rank,
                                      const Clock& clock = {});

// compute + exposed + exposedCopy + idle = window, if compute is known. Masked iterations count for
// none of these. O(log n + intervals in the window).
RankTime timeIn(const RankActivity& activity, Interval window);

// Within the rank's window.
Result<RankTime> timeOf(const store::Database& trace, const RankProcess& rank);

// The parts sum to durNs: each instant belongs to the innermost one on the iteration's thread.
struct IterationParts {
  std::int64_t number = 0;
  std::int64_t durNs = 0;
  std::int64_t dataLoadNs = 0;
  std::int64_t forwardNs = 0;
  std::int64_t backwardNs = 0;
  std::int64_t optimizerNs = 0;
  std::int64_t otherNs = 0;
};

// `rank` and `iteration` are as recorded.
Result<IterationParts> partsOf(const store::Database& trace,
                               const RankProcess& rank,
                               const IterationTime& iteration,
                               const Clock& clock = {});

// The iteration with the median duration; unset without iterations.
std::optional<IterationTime> medianIteration(const RankProcess& rank);

// The arithmetic of timeOf() for the slices of one thread.
struct ThreadActivity {
  Intervals computing;      // in any order, overlapping
  Intervals interruptions;  // data loading, collectives, I/O and waits of the same thread
  Intervals backwards;
};
Intervals computeOf(const ThreadActivity& thread, const Intervals& collectives);

}  // namespace sonde::engine::metrics
