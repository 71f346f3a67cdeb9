// Where the times of a trace's rows lie after the nodes of its graph have moved. Plain values; any
// thread.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/retime/lane_times.h"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace sonde::engine::retime {

// When each node begins and how long it lasts now, by node; the job's times.
struct NewTimes {
  const std::vector<std::int64_t>& beginNs;
  const std::vector<std::int64_t>& durNs;
};

// The begin and the end of a row, in its host's time; either may be missing.
struct RowSpan {
  std::optional<std::int64_t> beginNs;
  std::optional<std::int64_t> endNs;
};

// The thread, process and host of a row, as far as known. 0: unknown. A row of a thread without
// nodes has the times of its process, and a row of a host those of the first process there.
struct RowPlace {
  std::int64_t threadId = 0;
  std::int64_t processId = 0;
  std::int64_t hostId = 0;
};

// When the three instants of a kernel or copy move, in its host's time. The transfer of a
// collective begins when all ranks have come; other work has none, and begins then.
struct WorkTimes {
  std::int64_t beginNs = 0;
  std::int64_t transferShiftNs = 0;
  std::int64_t endNs = 0;
};

class RowTimes {
 public:
  // Requires: all outlive this.
  RowTimes(const graph::TraceGraph& trace, const NewTimes& times, const align::JobClock& clock);

  RowSpan ofRow(const RowPlace& place, const RowSpan& measured) const;
  // A row of a stream that is no node.
  RowSpan ofStream(std::int64_t streamId, const RowSpan& measured) const;
  // nullopt: the kernel or copy is no node.
  std::optional<WorkTimes> ofWork(bool isCopy,
                                  std::int64_t id,
                                  std::int64_t beginNs,
                                  std::int64_t endNs) const;
  // nullopt: no node stands for the slice alone.
  std::optional<RowSpan> ofSlice(std::int64_t id, std::int64_t beginNs, std::int64_t endNs) const;
  // nullopt: the graph does not have the iteration.
  std::optional<RowSpan> ofIteration(std::int64_t processId,
                                     std::int64_t number,
                                     std::int64_t beginNs,
                                     std::int64_t endNs) const;

 private:
  using Rows = std::unordered_map<std::int64_t, graph::NodeIndex>;  // the first node of each

  void addNodes();
  void findPlaces();
  const graph::Lane* laneOf(const RowPlace& place) const;
  RowSpan moved(graph::LaneIndex lane, const RowSpan& measured) const;
  std::int64_t movedBy(std::int64_t hostId, std::int64_t ns, std::int64_t shiftNs) const;
  std::int64_t beginShift(graph::NodeIndex node) const;
  std::int64_t endShift(graph::NodeIndex node) const;

  const graph::TraceGraph& trace_;
  NewTimes times_;
  const align::JobClock& clock_;
  std::vector<LaneTimes> lanes_;  // by lane
  std::unordered_map<std::int64_t, graph::LaneIndex> ofThread_;
  std::unordered_map<std::int64_t, graph::LaneIndex> ofStream_;
  std::unordered_map<std::int64_t, graph::LaneIndex> ofProcess_;
  std::map<std::int64_t, graph::LaneIndex> ofHost_;
  Rows kernels_;
  Rows copies_;
  Rows slices_;
  // By process, number and measured begin of its first node.
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, const graph::IterationNodes*>
      iterations_;
};

}  // namespace sonde::engine::retime
