#include "analysis/engine/critical/operation_paths.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace sonde::engine::critical {
namespace {

using graph::Graph;
using graph::LaneIndex;
using graph::NodeIndex;

struct AnnotatedSlice {
  std::int64_t id = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;

  SONDE_COLUMNS(id, threadId, startNs, endNs)
};

constexpr const char* kAnnotated =
    "SELECT s.id, s.thread_id, s.start_ns, s.start_ns + s.dur_ns AS end_ns FROM slice s WHERE "
    "s.name_id "
    "IN "
    "(SELECT id FROM string WHERE text = ?) AND s.dur_ns > 0 ORDER BY s.start_ns";

// The threads of a graph, with the nodes of each by time.
class ThreadNodes {
 public:
  explicit ThreadNodes(const Graph& graph) : graph_(graph), nodes_(graph.lanes.size()) {
    for (LaneIndex lane = 0; lane < graph.lanes.size(); ++lane)
      if (graph.lanes[lane].kind == graph::LaneKind::Thread)
        lanes_.emplace(graph.lanes[lane].id, lane);
    for (NodeIndex node = 0; node < graph.nodes(); ++node) {
      nodes_[graph.lane[node]].push_back(node);
      if (graph.row[node] != 0 && graph.lanes[graph.lane[node]].kind == graph::LaneKind::Thread)
        ofSlice_.emplace(graph.row[node], node);
    }
  }

  // Nodes of an operation-level trace stand for slices, and may have other times than these.
  bool areSlices() const { return !ofSlice_.empty(); }
  // kNoNode: the graph leaves it out.
  NodeIndex nodeOf(std::int64_t slice) const {
    const auto node = ofSlice_.find(slice);
    return node == ofSlice_.end() ? graph::kNoNode : node->second;
  }

  // The last node of the thread that begins before `ns`; kNoNode: none.
  NodeIndex before(std::int64_t thread, std::int64_t ns) const {
    const auto lane = lanes_.find(thread);
    if (lane == lanes_.end())
      return graph::kNoNode;
    const std::vector<NodeIndex>& nodes = nodes_[lane->second];
    const auto behind = std::partition_point(
        nodes.begin(), nodes.end(), [&](NodeIndex node) { return graph_.beginNs[node] < ns; });
    return behind == nodes.begin() ? graph::kNoNode : *(behind - 1);
  }

 private:
  const Graph& graph_;
  std::unordered_map<std::int64_t, LaneIndex> lanes_;  // by thread
  std::vector<std::vector<NodeIndex>> nodes_;          // by lane
  std::unordered_map<std::int64_t, NodeIndex> ofSlice_;
};

}  // namespace

Result<std::vector<IterationPath>> pathsOfOperation(const store::Database& trace,
                                                    const Graph& graph,
                                                    const std::string& name) {
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare(kAnnotated));
  rows.bind(1, name);
  const ThreadNodes threads(graph);
  std::vector<IterationPath> paths;
  SONDE_TRY(store::forEach<AnnotatedSlice>(rows, [&](const AnnotatedSlice& row) {
    IterationPath path;
    path.last =
        threads.areSlices() ? threads.nodeOf(row.id) : threads.before(row.threadId, row.endNs);
    if (path.last == graph::kNoNode)
      return;
    const graph::Lane& lane = graph.lanes[graph.lane[path.last]];
    path.number = static_cast<std::int64_t>(paths.size());
    path.rank = lane.rank;
    path.beginNs =
        threads.areSlices() ? graph.beginNs[path.last] : clock.toJob(lane.hostId, row.startNs);
    path.endNs = threads.areSlices() ? graph.endNs(path.last) : clock.toJob(lane.hostId, row.endNs);
    path.path =
        criticalPathTo(graph, {graph.beginNs, graph.durNs}, path.last, path.beginNs, path.endNs);
    paths.push_back(std::move(path));
  }));
  if (paths.empty())
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("no operation is called '{}': 'sonde stats TRACE' lists them", name)};
  return paths;
}

}  // namespace sonde::engine::critical
