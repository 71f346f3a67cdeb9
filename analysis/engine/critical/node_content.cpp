#include "analysis/engine/critical/node_content.h"

#include "analysis/engine/critical/thread_labels.h"
#include "analysis/store/read_rows.h"

#include <unordered_map>

namespace sonde::engine::critical {
namespace {

using graph::Graph;
using graph::LaneKind;
using graph::NodeIndex;
using graph::NodeKind;

struct Named {
  std::int64_t id = 0;
  std::int64_t nameId = 0;

  SONDE_COLUMNS(id, nameId)
};

using Names = std::unordered_map<std::int64_t, std::int64_t>;  // of rows

Result<Names> namesOf(const store::Database& trace, const char* sql) {
  Names names;
  SONDE_TRY(store::forEach<Named>(
      trace, sql, [&](const Named& row) { names.emplace(row.id, row.nameId); }));
  return names;
}

PathCause causeOf(NodeKind kind) {
  return kind == NodeKind::Copy       ? PathCause::Copy
         : kind == NodeKind::Transfer ? PathCause::Transfer
                                      : PathCause::Device;
}

// Adds the host nodes of each thread; nodes of a lane follow each other.
Result<void> addThreads(const store::Database& trace,
                        const Graph& graph,
                        std::vector<ContentPart>& parts) {
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  std::vector<std::vector<ThreadStretch>> stretches(graph.lanes.size());
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (graph.kind[node] == NodeKind::Host && graph.durNs[node] > 0)
      stretches[graph.lane[node]].push_back({node, graph.beginNs[node], graph.endNs(node)});
  for (graph::LaneIndex lane = 0; lane < graph.lanes.size(); ++lane) {
    if (stretches[lane].empty())
      continue;
    SONDE_TRY(labelThread(
        trace, clock, graph.lanes[lane], stretches[lane], [&](const ThreadLabel& label) {
          parts.push_back({static_cast<NodeIndex>(label.stretch),
                           label.cause,
                           label.nameId,
                           label.endNs - label.beginNs});
        }));
    stretches[lane] = {};
  }
  return {};
}

}  // namespace

Result<std::vector<std::int64_t>> nameIdsOf(const store::Database& trace, const Graph& graph) {
  SONDE_TRY_ASSIGN(const Names kernels, namesOf(trace, "SELECT id, name_id FROM kernel"));
  SONDE_TRY_ASSIGN(const Names copies, namesOf(trace, "SELECT id, name_id FROM copy"));
  std::vector<std::int64_t> names(graph.nodes(), 0);
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    if (graph.lanes[graph.lane[node]].kind != LaneKind::Stream)
      continue;
    const Names& of = graph.kind[node] == NodeKind::Copy ? copies : kernels;
    if (const auto name = of.find(graph.row[node]); name != of.end())
      names[node] = name->second;
  }
  return names;
}

Result<std::vector<ContentPart>> contentOf(const store::Database& trace, const Graph& graph) {
  std::vector<ContentPart> parts;
  SONDE_TRY(addThreads(trace, graph, parts));
  SONDE_TRY_ASSIGN(const std::vector<std::int64_t> names, nameIdsOf(trace, graph));
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (graph.durNs[node] > 0 && graph.lanes[graph.lane[node]].kind == LaneKind::Stream)
      parts.push_back({node, causeOf(graph.kind[node]), names[node], graph.durNs[node]});
  return parts;
}

}  // namespace sonde::engine::critical
