// Collects nodes and edges in any order, and makes a Graph of them. One thread.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::graph {

class GraphBuilder {
 public:
  // Makes room for so many of them.
  void reserve(std::size_t nodes, std::size_t edges);

  LaneIndex addLane(const Lane& lane) {
    graph_.lanes.push_back(lane);
    return static_cast<LaneIndex>(graph_.lanes.size() - 1);
  }

  // A negative duration counts as 0.
  NodeIndex addNode(LaneIndex lane,
                    NodeKind kind,
                    std::int64_t beginNs,
                    std::int64_t durNs,
                    std::int64_t row = 0);

  // `to` begins `lagNs` after the end of `from` at the earliest. Edges of one kind between the same
  // nodes become one.
  void addEdge(NodeIndex from, NodeIndex to, EdgeKind kind, std::int64_t lagNs = 0);

  const Graph& soFar() const noexcept { return graph_; }

  // How many needs build() dropped, because instants needed each other in a circle. Clocks that
  // count in microseconds put the instants of one causal chain at the same time.
  std::int64_t circles() const noexcept { return circles_; }

  // Unsupported: there are more nodes or edges than 32 bits can number. InvalidArgument: nodes need
  // each other in a circle; the message names one of them by its time.
  Result<Graph> build();

 private:
  struct Edge {
    NodeIndex from;
    NodeIndex to;
    std::uint32_t lagNs;
    EdgeKind kind;
  };

  void groupEdges();
  void mergeParallel();
  void findGaps();

  Graph graph_;
  std::vector<Edge> edges_;
  std::int64_t circles_ = 0;
};

}  // namespace sonde::engine::graph
