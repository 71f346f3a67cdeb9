// What a rank did with its time: computing, communicating, both, neither; and the parts of an
// iteration. Plain values; reading uses the database's thread.
//
// On a process with devices, compute is the union of its kernels, but for those of collectives, and
// copying that of its copies; communication is the union of the kernels of collectives, and of the
// collectives that have none. On one without, compute is the union over its threads of forward,
// backward, optimizer, evaluation, module and operator slices, less what the same thread spent in
// data loading, collectives, I/O and waits. A backward whose gradients are reduced while it runs
// ends by waiting for the last reduction; no probe sees that wait, so from where the last
// collective inside a backward begins until the collectives of that backward have ended, or it has,
// the thread counts as waiting. Communication is the union of the rank's collectives there. Hidden
// communication is what happens while the rank computes; the rest is exposed. A rank of which no
// such slice was recorded may have computed all the time: then nobody knows.
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
  bool computeKnown = false;   // else compute, hidden, exposed and idle say nothing
  std::int64_t windowNs = 0;
  std::int64_t computeNs = 0;
  std::int64_t copyNs = 0;  // of devices; some of it may be while they compute or communicate
  std::int64_t commNs = 0;
  std::int64_t hiddenNs = 0;  // hidden + exposed = comm
  std::int64_t exposedNs = 0;
  std::int64_t exposedCopyNs = 0;  // copying while neither computing nor communicating
  std::int64_t idleNs = 0;         // of the window: nothing of these
  std::int64_t collectives = 0;
};

// All that a rank did, to be asked about any stretch of it.
struct RankActivity {
  std::string device = "cpu";
  bool computeKnown = false;
  Intervals computing;  // normal form, as are the next two
  Intervals copying;
  Intervals communicating;
  Intervals masked;                            // that does not count: nothing of the above is in it
  std::vector<std::int64_t> collectiveBegins;  // ascending, as are the ends
  std::vector<std::int64_t> collectiveEnds;
};
// By `clock`; `rank` is as recorded. Corrupt: times are none.
Result<RankActivity> readRankActivity(const store::Database& trace,
                                      const RankProcess& rank,
                                      const Clock& clock = {});

// compute + exposed + exposedCopy + idle = window, where compute is known; masked iterations in the
// window count for none of these. O(log n + what lies in the window).
RankTime timeIn(const RankActivity& activity, Interval window);

// Within the rank's window.
Result<RankTime> timeOf(const store::Database& trace, const RankProcess& rank);

// The parts sum to durNs: each instant belongs to the innermost of them on the iteration's own
// thread.
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

// The iteration whose duration is the median; nothing without iterations.
std::optional<IterationTime> medianIteration(const RankProcess& rank);

// The arithmetic of timeOf, on the slices of one thread.
struct ThreadActivity {
  Intervals computing;      // in any order, overlapping
  Intervals interruptions;  // data loading, collectives, I/O and waits of the same thread
  Intervals backwards;
};
Intervals computeOf(const ThreadActivity& thread, const Intervals& collectives);

}  // namespace sonde::engine::metrics
