#include "analysis/engine/whatif/ranks/rank_copies.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace sonde::engine::whatif {
namespace {

using graph::Graph;
using graph::IterationNodes;
using graph::kNoNode;
using graph::LaneIndex;
using graph::NodeIndex;

// The numbers of copies and of their processes.
class CopyNumbers {
 public:
  explicit CopyNumbers(const graph::TraceGraph& job) {
    for (const graph::Lane& each : job.graph.lanes)
      next_ = std::max(next_, each.processId + 1);
    for (const IterationNodes& each : job.iterations)
      next_ = std::max(next_, each.processId + 1);
  }
  std::int64_t process(std::int64_t rank, std::int64_t original) {
    const auto [at, isNew] = processes_.emplace(std::pair(rank, original), next_);
    next_ += isNew ? 1 : 0;
    return at->second;
  }

 private:
  std::int64_t next_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> processes_;
};

// Collects one copy of a rank after the other.
class Copier {
 public:
  Copier(const Graph& graph, CopyNumbers& numbers, Scenario::Structure& structure)
      : graph_(graph), numbers_(numbers), structure_(structure) {}

  void copy(std::int64_t original, std::int64_t rank) {
    copies_.assign(graph_.nodes(), kNoNode);
    std::vector<LaneIndex> lanes(graph_.lanes.size());
    for (LaneIndex lane = 0; lane < graph_.lanes.size(); ++lane)
      if (graph_.lanes[lane].rank == original) {
        lanes[lane] = static_cast<LaneIndex>(graph_.lanes.size() + structure_.lanes.size());
        graph::Lane made = graph_.lanes[lane];
        made.rank = rank;
        made.processId = numbers_.process(rank, made.processId);
        structure_.lanes.push_back(std::move(made));
      }
    for (NodeIndex node = 0; node < graph_.nodes(); ++node)
      if (rankOf(node) == original) {
        copies_[node] = static_cast<NodeIndex>(graph_.nodes() + structure_.nodes.size());
        structure_.nodes.push_back(
            {.lane = lanes[graph_.lane[node]], .beginNs = graph_.beginNs[node], .copyOf = node});
      }
    for (NodeIndex to = 0; to < graph_.nodes(); ++to)
      for (std::uint32_t edge = graph_.firstIn[to]; edge < graph_.firstIn[to + 1]; ++edge)
        copyEdge(edge, to);
  }

  NodeIndex copyOf(NodeIndex node) const { return copies_[node]; }

 private:
  std::int64_t rankOf(NodeIndex node) const { return graph_.lanes[graph_.lane[node]].rank; }

  void copyEdge(std::uint32_t edge, NodeIndex to) {
    const NodeIndex from = graph_.from[edge];
    if (copies_[to] == kNoNode && (copies_[from] == kNoNode || rankOf(to) >= 0))
      return;
    structure_.edges.push_back({copies_[from] == kNoNode ? from : copies_[from],
                                copies_[to] == kNoNode ? to : copies_[to],
                                graph_.edgeKind[edge],
                                0,
                                edge});
  }

  const Graph& graph_;
  CopyNumbers& numbers_;
  Scenario::Structure& structure_;
  std::vector<NodeIndex> copies_;  // by node of the graph; kNoNode: the copy has none
};

IterationNodes renamed(IterationNodes nodes, std::int64_t rank, CopyNumbers& numbers) {
  nodes.rank = rank;
  nodes.processId = numbers.process(rank, nodes.processId);
  return nodes;
}

}  // namespace

std::vector<std::int64_t> ranksOf(const graph::TraceGraph& job) {
  std::set<std::int64_t> found;
  for (const IterationNodes& each : job.iterations)
    if (each.rank >= 0)
      found.insert(each.rank);
  return {found.begin(), found.end()};
}

Result<void> dropRanks(Scenario& scenario,
                       const std::vector<std::int64_t>& ranks,
                       std::int64_t count) {
  const Graph& graph = scenario.graph();
  const std::set<std::int64_t> removed(ranks.begin() + count, ranks.end());
  const auto isRemoved = [&](NodeIndex node) {
    return removed.contains(graph.lanes[graph.lane[node]].rank);
  };
  Scenario::Structure structure;
  structure.dropped.assign(graph.edges(), false);
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge)
      structure.dropped[edge] = isRemoved(graph.from[edge]) && !isRemoved(node);
  std::vector<IterationNodes> iterations = scenario.job().iterations;
  std::erase_if(iterations, [&](const auto& each) { return removed.contains(each.rank); });
  SONDE_TRY(scenario.restructure(structure));
  scenario.setIterations(std::move(iterations));
  return {};
}

void repeatRanks(Scenario& scenario, const std::vector<std::int64_t>& ranks, std::int64_t count) {
  CopyNumbers numbers(scenario.job());
  std::vector<IterationNodes> iterations = scenario.job().iterations;
  const std::vector<IterationNodes> measured = iterations;
  for (auto rank = static_cast<std::int64_t>(ranks.size()); rank < count; ++rank)
    for (const IterationNodes& each : measured)
      if (each.rank == ranks[static_cast<std::size_t>(rank) % ranks.size()])
        iterations.push_back(renamed(each, rank, numbers));
  scenario.setIterations(std::move(iterations));
}

Result<void> copyRanks(Scenario& scenario,
                       const std::vector<std::int64_t>& ranks,
                       std::int64_t count) {
  CopyNumbers numbers(scenario.job());
  Scenario::Structure structure;
  Copier copier(scenario.graph(), numbers, structure);
  std::vector<IterationNodes> iterations = scenario.job().iterations;
  const std::vector<IterationNodes> measured = iterations;
  for (auto rank = static_cast<std::int64_t>(ranks.size()); rank < count; ++rank) {
    const std::int64_t original = ranks[static_cast<std::size_t>(rank) % ranks.size()];
    copier.copy(original, rank);
    for (const IterationNodes& each : measured)
      if (each.rank == original) {
        iterations.push_back(renamed(each, rank, numbers));
        iterations.back().first = copier.copyOf(each.first);
        iterations.back().last = copier.copyOf(each.last);
      }
  }
  SONDE_TRY(scenario.restructure(structure));
  scenario.setIterations(std::move(iterations));
  return {};
}

}  // namespace sonde::engine::whatif
