// A job under other settings: its graph, with what questions changed in it. Plain values; any
// thread.
//
// Questions change durations and lags, leave out edges, and add nodes and edges. Nodes keep their
// indices, so that iterations and selections of the measured job stay valid.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::engine::whatif {

// Where a duration comes from.
enum class Origin : std::uint8_t {
  Measured,
  Scaled,    // a measured duration, changed as the question says
  Modelled,  // computed by a model
};
inline constexpr std::size_t kOrigins = 3;

// A stretch of a node's measured time, and how long it takes now.
struct Piece {
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
  double newNs = 0;
  Origin origin = Origin::Measured;

  double perNs() const noexcept {
    return endNs > beginNs ? newNs / static_cast<double>(endNs - beginNs) : 0;
  }
};

struct NewEdge {
  graph::NodeIndex from = 0;
  graph::NodeIndex to = 0;
  graph::EdgeKind kind = graph::EdgeKind::Data;
  std::int64_t lagNs = 0;
};

class Scenario {
 public:
  explicit Scenario(graph::TraceGraph job);

  // With the structure as changed. Times and lags are the measured ones; those of what was added
  // are 0.
  const graph::TraceGraph& job() const noexcept { return job_; }
  const graph::Graph& graph() const noexcept { return job_.graph; }

  // As they are now, by node and by edge of graph().
  const std::vector<std::int64_t>& durNs() const noexcept { return durNs_; }
  const std::vector<std::uint32_t>& lagNs() const noexcept { return lagNs_; }
  // By measured time, from the node's begin to its end. Their new lengths sum to durNs().
  std::vector<Piece> piecesOf(graph::NodeIndex node) const;
  Origin originOfEdge(std::uint32_t edge) const { return edgeOrigins_[edge]; }

  // Makes a stretch of a node's measured time take `factor` times as long as now.
  void scale(graph::NodeIndex node,
             std::int64_t beginNs,
             std::int64_t endNs,
             double factor,
             Origin origin);
  // Makes a node take longer, from its begin.
  void extend(graph::NodeIndex node, std::int64_t byNs, Origin origin);
  // The present length of such a stretch.
  double lengthNs(graph::NodeIndex node, std::int64_t beginNs, std::int64_t endNs) const;
  // Makes the whole node take this long.
  void setNode(graph::NodeIndex node, std::int64_t ns, Origin origin);
  // The part of a begin that nothing explains.
  void setGap(graph::NodeIndex node, std::int64_t ns) { job_.graph.gapNs[node] = ns; }
  void setLag(std::uint32_t edge, double ns, Origin origin);

  // Several changes of the structure at once.
  struct NewNode {
    graph::LaneIndex lane = 0;
    std::int64_t beginNs = 0;  // if it needs nothing; by the job's measured time
    graph::NodeKind kind = graph::NodeKind::Transfer;
    std::int64_t row = 0;  // id of a measured kernel, copy or slice that it stands for; 0: none
    std::int64_t durNs = 0;
    Origin origin = Origin::Modelled;
  };
  struct Structure {
    std::vector<graph::Lane> lanes;  // behind those of graph()
    std::vector<NewNode> nodes;      // behind those of graph()
    std::vector<NewEdge> edges;      // their lags count as modelled
    std::vector<bool> dropped;       // by edge of graph(); empty: none
  };
  // Edges get new indices. InvalidArgument: nodes would
  // need each other in a circle.
  Result<void> restructure(const Structure& structure);

  // When each node begins now.
  std::vector<std::int64_t> replay() const;

 private:
  std::vector<Piece>& divided(graph::NodeIndex node);

  graph::TraceGraph job_;
  std::vector<std::int64_t> durNs_;
  std::vector<std::uint32_t> lagNs_;
  std::vector<Origin> origins_;      // by node; of those without pieces
  std::vector<Origin> edgeOrigins_;  // by edge
  std::unordered_map<graph::NodeIndex, std::vector<Piece>> pieces_;  // of nodes changed in part
};

}  // namespace sonde::engine::whatif
