// Finds rows of a trace in its job's graph: the lane of their thread or stream, and their time by
// the job's clock. Plain values; any thread.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/whatif/thread_spans.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>

namespace sonde::engine::whatif {

struct LaneSpan {
  graph::LaneIndex lane = 0;
  Span span;
};

class JobLanes {
 public:
  JobLanes() = default;  // without any lane
  static Result<JobLanes> read(const store::Database& trace, const graph::Graph& graph);

  // nullopt: the graph lacks the row's thread. Requires: `row` has threadId, startNs and durNs, by
  // the clock of its host.
  template <class Row>
  std::optional<LaneSpan> ofThread(const Row& row) const {
    return find(threads_, row.threadId, row.startNs, row.startNs + row.durNs);
  }
  // The same by numbers of the trace.
  std::optional<LaneSpan> onThread(std::int64_t id,
                                   std::int64_t beginNs,
                                   std::int64_t endNs) const {
    return find(threads_, id, beginNs, endNs);
  }
  std::optional<LaneSpan> onStream(std::int64_t id,
                                   std::int64_t beginNs,
                                   std::int64_t endNs) const {
    return find(streams_, id, beginNs, endNs);
  }

 private:
  struct Place {
    graph::LaneIndex lane = 0;
    std::int64_t hostId = 0;
  };
  using Places = std::unordered_map<std::int64_t, Place>;

  std::optional<LaneSpan> find(const Places& places,
                               std::int64_t id,
                               std::int64_t beginNs,
                               std::int64_t endNs) const;

  align::JobClock clock_;
  Places threads_;  // by row of table thread
  Places streams_;  // by row of table stream
};

// The threads that run the job's iterations.
std::set<graph::LaneIndex> driversOf(const graph::TraceGraph& job);

}  // namespace sonde::engine::whatif
