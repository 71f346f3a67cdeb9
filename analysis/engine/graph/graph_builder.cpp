#include "analysis/engine/graph/graph_builder.h"

#include "analysis/engine/graph/node_order.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sonde::engine::graph {

void GraphBuilder::reserve(std::size_t nodes, std::size_t edges) {
  graph_.beginNs.reserve(nodes);
  graph_.durNs.reserve(nodes);
  graph_.lane.reserve(nodes);
  graph_.kind.reserve(nodes);
  graph_.row.reserve(nodes);
  edges_.reserve(edges);
}

NodeIndex GraphBuilder::addNode(
    LaneIndex lane, NodeKind kind, std::int64_t beginNs, std::int64_t durNs, std::int64_t row) {
  graph_.beginNs.push_back(beginNs);
  graph_.durNs.push_back(std::max<std::int64_t>(durNs, 0));
  graph_.lane.push_back(lane);
  graph_.kind.push_back(kind);
  graph_.row.push_back(row);
  return static_cast<NodeIndex>(graph_.beginNs.size() - 1);
}

void GraphBuilder::addEdge(NodeIndex from, NodeIndex to, EdgeKind kind, std::int64_t lagNs) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const auto lag = static_cast<std::uint32_t>(std::clamp<std::int64_t>(lagNs, 0, kMost));
  edges_.push_back({from, to, lag, kind});
}

Result<Graph> GraphBuilder::build() {
  if (graph_.nodes() >= kNoNode || edges_.size() >= std::numeric_limits<std::uint32_t>::max())
    return Error{ErrorCode::Unsupported,
                 "the job has more than four thousand million nodes; trim the trace to fewer "
                 "iterations (sonde trim)"};
  groupEdges();
  mergeParallel();
  SONDE_TRY_ASSIGN(const std::vector<std::uint32_t> dropped, orderNodes(graph_));
  circles_ = static_cast<std::int64_t>(dropped.size());
  if (circles_ > 0)
    removeEdges(graph_);
  findGaps();
  return std::move(graph_);
}

// Counting sort by target; edges of one target keep their order.
void GraphBuilder::groupEdges() {
  graph_.firstIn.assign(graph_.nodes() + 1, 0);
  for (const Edge& edge : edges_)
    ++graph_.firstIn[edge.to + 1];
  for (std::size_t i = 1; i < graph_.firstIn.size(); ++i)
    graph_.firstIn[i] += graph_.firstIn[i - 1];
  graph_.from.resize(edges_.size());
  graph_.lagNs.resize(edges_.size());
  graph_.edgeKind.resize(edges_.size());
  std::vector<std::uint32_t> next(graph_.firstIn.begin(), graph_.firstIn.end() - 1);
  for (const Edge& edge : edges_) {
    const std::uint32_t place = next[edge.to]++;
    graph_.from[place] = edge.from;
    graph_.lagNs[place] = edge.lagNs;
    graph_.edgeKind[place] = edge.kind;
  }
  edges_ = {};
}

// Many small receives of one message give as many edges from one node to another. Only the one with
// the longest lag matters.
void GraphBuilder::mergeParallel() {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> edgeFrom(graph_.nodes(), kNone);  // the last edge from a node
  bool found = false;
  for (NodeIndex node = 0; node < graph_.nodes(); ++node)
    for (std::uint32_t i = graph_.firstIn[node]; i < graph_.firstIn[node + 1]; ++i) {
      std::uint32_t& other = edgeFrom[graph_.from[i]];
      if (other == kNone || other < graph_.firstIn[node] ||
          graph_.edgeKind[other] != graph_.edgeKind[i]) {
        other = i;
        continue;
      }
      found = true;
      graph_.lagNs[other] = std::max(graph_.lagNs[other], graph_.lagNs[i]);
      graph_.from[i] = kNoNode;
    }
  if (found)
    removeEdges(graph_);
}

void GraphBuilder::findGaps() {
  graph_.gapNs.assign(graph_.nodes(), 0);
  for (NodeIndex node = 0; node < graph_.nodes(); ++node) {
    std::int64_t ready = std::numeric_limits<std::int64_t>::min();
    for (std::uint32_t i = graph_.firstIn[node]; i < graph_.firstIn[node + 1]; ++i)
      ready = std::max(ready, graph_.endNs(graph_.from[i]) + graph_.lagNs[i]);
    if (ready != std::numeric_limits<std::int64_t>::min())
      graph_.gapNs[node] = graph_.beginNs[node] - ready;
  }
}

}  // namespace sonde::engine::graph
