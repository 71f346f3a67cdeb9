#include "analysis/engine/whatif/scenario.h"

#include "analysis/engine/graph/node_order.h"
#include "analysis/engine/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace sonde::engine::whatif {
namespace {

using graph::NodeIndex;

constexpr std::int64_t kMostLag = std::numeric_limits<std::uint32_t>::max();

// The first piece that ends behind `ns`. Begins and ends ascend.
template <typename Pieces>
auto endsBehind(Pieces& pieces, std::int64_t ns) {
  return std::partition_point(
      pieces.begin(), pieces.end(), [ns](const Piece& each) { return each.endNs <= ns; });
}

// Divides the piece that `ns` lies in.
void divideAt(std::vector<Piece>& pieces, std::int64_t ns) {
  const auto at = endsBehind(pieces, ns);
  if (at == pieces.end() || at->beginNs >= ns)
    return;
  Piece first = *at;
  first.newNs = at->perNs() * static_cast<double>(ns - first.beginNs);
  first.endNs = ns;
  at->newNs -= first.newNs;
  at->beginNs = ns;
  pieces.insert(at, first);
}

// Indices of the edges, in the order of their targets.
std::vector<std::uint32_t> byTarget(const std::vector<NewEdge>& edges) {
  std::vector<std::uint32_t> order(edges.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return edges[a].to < edges[b].to;
  });
  return order;
}

}  // namespace

Result<void> checkAdded(double count, std::string_view of, std::string_view advice) {
  constexpr double kMost = 20e6;  // about 2 GB
  if (count <= kMost)
    return {};
  return Error{ErrorCode::InvalidArgument,
               fmt::format("{} would add about {:.2g} million nodes and edges to the job, and at "
                           "most {:.0f} million may be added: {}",
                           of,
                           count / 1e6,
                           kMost / 1e6,
                           advice)};
}

Scenario::Scenario(graph::TraceGraph job)
    : job_(std::move(job)),
      durNs_(job_.graph.durNs),
      lagNs_(job_.graph.lagNs),
      origins_(job_.graph.nodes(), Origin::Measured),
      edgeOrigins_(job_.graph.edges(), Origin::Measured) {}

Piece Scenario::wholeOf(NodeIndex node) const {
  return {graph().beginNs[node],
          graph().endNs(node),
          static_cast<double>(durNs_[node]),
          origins_[node]};
}

std::vector<Piece> Scenario::piecesOf(NodeIndex node) const {
  const auto found = pieces_.find(node);
  return found != pieces_.end() ? found->second.pieces : std::vector<Piece>{wholeOf(node)};
}

Scenario::Divided& Scenario::divided(NodeIndex node) {
  const auto [at, isNew] = pieces_.try_emplace(node);
  if (isNew)
    at->second = {{wholeOf(node)}, static_cast<double>(durNs_[node])};
  return at->second;
}

// Changes the pieces of a stretch, after their division at its ends.
template <typename Change>
void Scenario::changePieces(NodeIndex node,
                            std::int64_t beginNs,
                            std::int64_t endNs,
                            Change change) {
  Divided& of = divided(node);
  divideAt(of.pieces, beginNs);
  divideAt(of.pieces, endNs);
  auto piece = std::partition_point(of.pieces.begin(), of.pieces.end(), [&](const Piece& each) {
    return each.beginNs < beginNs;
  });
  for (; piece != of.pieces.end() && piece->endNs <= endNs; ++piece) {
    of.sumNs -= piece->newNs;
    change(*piece);
    of.sumNs += piece->newNs;
  }
  durNs_[node] = std::llround(of.sumNs);
}

void Scenario::scale(
    NodeIndex node, std::int64_t beginNs, std::int64_t endNs, double factor, Origin origin) {
  const bool isWhole = beginNs <= graph().beginNs[node] && endNs >= graph().endNs(node);
  if (isWhole && !pieces_.contains(node)) {
    setNode(node, std::llround(static_cast<double>(durNs_[node]) * factor), origin);
    return;
  }
  changePieces(node, beginNs, endNs, [&](Piece& each) {
    each.newNs *= factor;
    each.origin = std::max(each.origin, origin);
  });
}

void Scenario::setStretch(
    NodeIndex node, std::int64_t beginNs, std::int64_t endNs, double ns, Origin origin) {
  const double present = lengthNs(node, beginNs, endNs);
  if (present > 0) {
    scale(node, beginNs, endNs, ns / present, origin);
    return;
  }
  changePieces(node, beginNs, endNs, [&](Piece& each) {
    if (each.endNs <= each.beginNs)
      return;
    each.newNs =
        ns * static_cast<double>(each.endNs - each.beginNs) / static_cast<double>(endNs - beginNs);
    each.origin = std::max(each.origin, origin);
  });
}

void Scenario::extend(NodeIndex node, std::int64_t byNs, Origin origin) {
  Divided& of = divided(node);
  const std::int64_t begin = graph().beginNs[node];
  of.pieces.insert(of.pieces.begin(), {begin, begin, static_cast<double>(byNs), origin});
  of.sumNs += static_cast<double>(byNs);
  durNs_[node] = std::llround(of.sumNs);
}

double Scenario::lengthNs(NodeIndex node, std::int64_t beginNs, std::int64_t endNs) const {
  const auto lengthIn = [&](const Piece& each) {
    const std::int64_t common = std::min(each.endNs, endNs) - std::max(each.beginNs, beginNs);
    return common > 0 ? each.perNs() * static_cast<double>(common) : 0;
  };
  const auto found = pieces_.find(node);
  if (found == pieces_.end())
    return lengthIn(wholeOf(node));
  const std::vector<Piece>& pieces = found->second.pieces;
  double sum = 0;
  for (auto each = endsBehind(pieces, beginNs); each != pieces.end() && each->beginNs < endNs;
       ++each)
    sum += lengthIn(*each);
  return sum;
}

void Scenario::setNode(NodeIndex node, std::int64_t ns, Origin origin) {
  pieces_.erase(node);
  durNs_[node] = ns;
  origins_[node] = std::max(origins_[node], origin);
}

void Scenario::setLag(std::uint32_t edge, double ns, Origin origin) {
  constexpr auto kMost = static_cast<double>(kMostLag);
  lagNs_[edge] = static_cast<std::uint32_t>(std::llround(std::clamp(ns, 0.0, kMost)));
  edgeOrigins_[edge] = std::max(edgeOrigins_[edge], origin);
}

void Scenario::addNodes(const Structure& structure) {
  graph::Graph& graph = job_.graph;
  graph.lanes.insert(graph.lanes.end(), structure.lanes.begin(), structure.lanes.end());
  for (const NewNode& each : structure.nodes) {
    const auto node = static_cast<NodeIndex>(graph.nodes());
    const NodeIndex of = each.copyOf;
    const bool isCopy = of != graph::kNoNode;
    graph.lane.push_back(each.lane);
    graph.kind.push_back(isCopy ? graph.kind[of] : each.kind);
    graph.beginNs.push_back(isCopy ? graph.beginNs[of] : each.beginNs);
    graph.durNs.push_back(isCopy ? graph.durNs[of] : 0);
    graph.gapNs.push_back(isCopy ? graph.gapNs[of] : 0);
    graph.row.push_back(isCopy ? graph.row[of] : each.row);
    durNs_.push_back(isCopy ? durNs_[of] : each.durNs);
    origins_.push_back(isCopy ? origins_[of] : each.origin);
    if (const auto found = pieces_.find(of); isCopy && found != pieces_.end())
      pieces_[node] = Divided(found->second);
  }
}

// Requires: the nodes have been added.
void Scenario::changeEdges(const Structure& structure) {
  graph::Graph& graph = job_.graph;
  const std::vector<std::uint32_t> oldFirst = std::move(graph.firstIn);
  const std::vector<NodeIndex> oldFrom = std::move(graph.from);
  const std::vector<std::uint32_t> oldMeasured = std::move(graph.lagNs);
  const std::vector<graph::EdgeKind> oldKind = std::move(graph.edgeKind);
  const std::vector<std::uint32_t> oldLag = std::move(lagNs_);
  const std::vector<Origin> oldOrigin = std::move(edgeOrigins_);
  const std::size_t most = oldFrom.size() + structure.edges.size();
  graph.firstIn.assign(1, 0);
  graph.firstIn.reserve(graph.nodes() + 1);
  graph.from.resize(most);
  graph.lagNs.resize(most);
  graph.edgeKind.resize(most);
  lagNs_.resize(most);
  edgeOrigins_.resize(most);
  std::uint32_t count = 0;
  const auto keep = [&](std::uint32_t edge, NodeIndex from, graph::EdgeKind kind) {
    graph.from[count] = from;
    graph.edgeKind[count] = kind;
    graph.lagNs[count] = oldMeasured[edge];
    lagNs_[count] = oldLag[edge];
    edgeOrigins_[count++] = oldOrigin[edge];
  };
  const std::vector<std::uint32_t> added = byTarget(structure.edges);
  auto next = added.begin();
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    if (node + 1 < oldFirst.size())
      for (std::uint32_t edge = oldFirst[node]; edge < oldFirst[node + 1]; ++edge)
        if (structure.dropped.empty() || !structure.dropped[edge])
          keep(edge, oldFrom[edge], oldKind[edge]);
    for (; next != added.end() && structure.edges[*next].to == node; ++next) {
      const NewEdge& edge = structure.edges[*next];
      if (edge.copyOf != kNoEdge) {
        keep(edge.copyOf, edge.from, edge.kind);
        continue;
      }
      graph.from[count] = edge.from;
      graph.edgeKind[count] = edge.kind;
      lagNs_[count] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(edge.lagNs, 0, kMostLag));
      edgeOrigins_[count++] = Origin::Modelled;
    }
    graph.firstIn.push_back(count);
  }
  graph.from.resize(count);
  graph.lagNs.resize(count);
  graph.edgeKind.resize(count);
  lagNs_.resize(count);
  edgeOrigins_.resize(count);
}

Result<void> Scenario::restructure(const Structure& structure) {
  addNodes(structure);
  changeEdges(structure);
  graph::Graph& graph = job_.graph;
  SONDE_TRY_ASSIGN(const std::vector<std::uint32_t> circles, graph::reorderNodes(graph));
  if (circles.empty())
    return {};
  std::size_t count = 0;
  for (std::size_t edge = 0; edge < graph.edges(); ++edge)
    if (graph.from[edge] != graph::kNoNode) {
      lagNs_[count] = lagNs_[edge];
      edgeOrigins_[count++] = edgeOrigins_[edge];
    }
  lagNs_.resize(count);
  edgeOrigins_.resize(count);
  graph::removeEdges(graph);
  return {};
}

replay::Times Scenario::replay() const {
  const replay::Settings settings{durNs_, graph().gapNs, &lagNs_};
  if (resources_)
    return replay::replayShared(
        graph(), settings, *resources_, std::vector<std::int64_t>(graph().nodes(), 0));
  return {replay::replay(graph(), settings), durNs_};
}

}  // namespace sonde::engine::whatif
