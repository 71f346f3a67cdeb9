// The processor time of ranks while their iterations ran, and how long their main threads waited
// for a processor that others used, such as the threads that move the data of collectives. Uses the
// database's thread while it reads; then plain values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>

namespace sonde::engine::whatif {

// Sums of all iterations of a rank, as far as they were sampled (`sonde run`, source system).
struct DriverTimes {
  double spanNs = 0;    // from the first sample to the last one
  double ownNs = 0;     // of the thread that iterations run on, on a processor
  double queuedNs = 0;  // of the same, in the run queue
  double othersNs = 0;  // of the other threads of its process
  bool isTcp = false;   // the job moves data over TCP

  // The part of that thread's busy time that others took: the time in the run queue, but no more
  // than they had of processors. The kernel moves data over TCP for them, too; it does so whenever
  // it can, and its time counts as that of the thread that runs. It is about as long as theirs: in
  // bench/ddp_job.py 0.8 to 1.0 times.
  double stolenShare() const noexcept;
};

// By the thread that iterations run on; without those that were not sampled.
Result<std::map<graph::LaneIndex, DriverTimes>> readDriverTimes(const store::Database& trace,
                                                                const graph::TraceGraph& job);

}  // namespace sonde::engine::whatif
