// The memory that processes hold in a replay of their graph. An allocation or release moves with
// its thread. If that is unknown, a release moves with the thread that allocated, and an allocation
// with the thread that drives the process. Plain values; any thread.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/critical/critical_path.h"
#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/memory/memory_log.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::footprint {

// The memory of a process at one place by one allocator. Times are by its host's clock as measured,
// plus what the replay moved them.
struct HeldMemory {
  metrics::MemoryPlace place;
  std::int64_t baseBytes = 0;  // held before the first block
  metrics::MemoryLevel peak;
  std::vector<metrics::MemoryLevel> series;  // thinned
  // The allocation that reached the peak.
  std::int64_t scopeId = 0;  // the slice around it; 0: none
  graph::NodeIndex node = graph::kNoNode;
  std::optional<std::int64_t> iteration;
};

// By place; without places that have no blocks. `times`: of a replay of the graph. With the
// measured times peaks, series and bases equal those of metrics::memoryUses(). O(n log n) for n
// blocks and nodes.
std::vector<HeldMemory> heldMemory(const metrics::MemoryLogs& logs,
                                   const graph::TraceGraph& trace,
                                   const align::JobClock& clock,
                                   const critical::Times& times);

}  // namespace sonde::engine::footprint
