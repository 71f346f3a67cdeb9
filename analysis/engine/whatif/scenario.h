// A job under other settings: its graph, with what questions changed in it. Plain values; any
// thread.
//
// Questions change durations and lags, leave out edges, and add nodes and edges. Nodes keep their
// indices, so that iterations and selections of the measured job stay valid.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/models/collective_model.h"
#include "analysis/engine/replay/shared_replay.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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

inline constexpr std::uint32_t kNoEdge = 0xFFFFFFFF;

struct NewEdge {
  graph::NodeIndex from = 0;
  graph::NodeIndex to = 0;
  graph::EdgeKind kind = graph::EdgeKind::Data;
  std::int64_t lagNs = 0;  // at most 4.29 s count
  // An edge of graph() whose lag and origin it has instead.
  std::uint32_t copyOf = kNoEdge;
};

// A transfer that a question put in place of measured ones.
struct MadeTransfer {
  graph::NodeIndex node = 0;
  std::string communicator;
  std::string op;
  std::int64_t bytes = 0;
  std::int64_t ranks = 0;  // of the communicator, when measured
};

using NetworkKey = std::pair<std::string, std::string>;  // communicator and operation

// The settings of the job that one question changes and later ones need.
struct JobSetting {
  std::map<NetworkKey, models::CollectiveModel> networks;  // those that were changed
  std::optional<std::int64_t> ranks;                       // empty: as measured
  std::vector<MadeTransfer> transfers;
  std::set<CollectiveKey> replaced;  // collectives whose own transfers no longer count
  // Lanes that load for a thread in place of what it waited for; empty: it loads by itself.
  std::map<graph::LaneIndex, std::vector<graph::LaneIndex>> loaders;
};

// InvalidArgument: `of` would add so many nodes and edges that memory may end. `advice`: what to
// do, for people.
Result<void> checkAdded(double count, std::string_view of, std::string_view advice);

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
  // Makes such a stretch take `ns`.
  void setStretch(
      graph::NodeIndex node, std::int64_t beginNs, std::int64_t endNs, double ns, Origin origin);
  // Makes a node take longer, from its begin.
  void extend(graph::NodeIndex node, std::int64_t byNs, Origin origin);
  // The present length of such a stretch.
  double lengthNs(graph::NodeIndex node, std::int64_t beginNs, std::int64_t endNs) const;
  // Makes the whole node take this long.
  void setNode(graph::NodeIndex node, std::int64_t ns, Origin origin);
  JobSetting& setting() noexcept { return setting_; }
  const JobSetting& setting() const noexcept { return setting_; }

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
    // A node of graph() whose times, gap and origin it has, as they are now. kNoNode: it is
    // as the members above say.
    graph::NodeIndex copyOf = graph::kNoNode;
  };
  struct Structure {
    std::vector<graph::Lane> lanes;  // behind those of graph()
    // Behind those of graph(). LaneLookup finds those of a new lane if they follow each other.
    std::vector<NewNode> nodes;
    std::vector<NewEdge> edges;  // their lags count as modelled
    std::vector<bool> dropped;   // by edge of graph(); empty: none
  };
  // Edges get new indices. InvalidArgument: nodes would need each other in a circle; the scenario
  // is of no use then.
  Result<void> restructure(const Structure& structure);
  // Other iterations count.
  void setIterations(std::vector<graph::IterationNodes> iterations) {
    job_.iterations = std::move(iterations);
  }
  // Nodes share these. Requires: the scenario is not restructured afterwards.
  void share(replay::Resources resources) { resources_ = std::move(resources); }

  // When each node begins now, and how long it lasts: with the time in which it has nothing of what
  // it shares.
  replay::Times replay() const;

 private:
  // A node's pieces by time, and the sum of their new lengths.
  struct Divided {
    std::vector<Piece> pieces;
    double sumNs = 0;
  };

  Piece wholeOf(graph::NodeIndex node) const;
  Divided& divided(graph::NodeIndex node);
  template <typename Change>
  void changePieces(graph::NodeIndex node, std::int64_t beginNs, std::int64_t endNs, Change change);
  void addNodes(const Structure& structure);
  void changeEdges(const Structure& structure);

  graph::TraceGraph job_;
  std::vector<std::int64_t> durNs_;
  std::vector<std::uint32_t> lagNs_;
  std::vector<Origin> origins_;                           // by node; of those without pieces
  std::vector<Origin> edgeOrigins_;                       // by edge
  std::unordered_map<graph::NodeIndex, Divided> pieces_;  // of nodes changed in part
  JobSetting setting_;
  std::optional<replay::Resources> resources_;
};

}  // namespace sonde::engine::whatif
