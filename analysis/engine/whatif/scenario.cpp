#include "analysis/engine/whatif/scenario.h"

#include "analysis/engine/graph/graph_builder.h"
#include "analysis/engine/replay/replay.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sonde::engine::whatif {
namespace {

using graph::NodeIndex;

// Divides the piece that `ns` lies in.
void divideAt(std::vector<Piece>& pieces, std::int64_t ns) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (ns <= pieces[i].beginNs || ns >= pieces[i].endNs)
      continue;
    Piece first = pieces[i];
    first.newNs = pieces[i].perNs() * static_cast<double>(ns - first.beginNs);
    first.endNs = ns;
    pieces[i].newNs -= first.newNs;
    pieces[i].beginNs = ns;
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(i), first);
    return;
  }
}

std::int64_t sumOf(const std::vector<Piece>& pieces) {
  double sum = 0;
  for (const Piece& each : pieces)
    sum += each.newNs;
  return std::llround(sum);
}

}  // namespace

Scenario::Scenario(graph::TraceGraph job)
    : job_(std::move(job)),
      durNs_(job_.graph.durNs),
      lagNs_(job_.graph.lagNs),
      origins_(job_.graph.nodes(), Origin::Measured),
      edgeOrigins_(job_.graph.edges(), Origin::Measured) {}

std::vector<Piece> Scenario::piecesOf(NodeIndex node) const {
  if (const auto found = pieces_.find(node); found != pieces_.end())
    return found->second;
  return {{graph().beginNs[node],
           graph().endNs(node),
           static_cast<double>(durNs_[node]),
           origins_[node]}};
}

std::vector<Piece>& Scenario::divided(NodeIndex node) {
  const auto found = pieces_.find(node);
  return found != pieces_.end() ? found->second
                                : pieces_.emplace(node, piecesOf(node)).first->second;
}

void Scenario::scale(
    NodeIndex node, std::int64_t beginNs, std::int64_t endNs, double factor, Origin origin) {
  const bool isWhole = beginNs <= graph().beginNs[node] && endNs >= graph().endNs(node);
  if (isWhole && !pieces_.contains(node)) {
    setNode(node, std::llround(static_cast<double>(durNs_[node]) * factor), origin);
    return;
  }
  std::vector<Piece>& pieces = divided(node);
  divideAt(pieces, beginNs);
  divideAt(pieces, endNs);
  for (Piece& each : pieces)
    if (each.beginNs >= beginNs && each.endNs <= endNs) {
      each.newNs *= factor;
      each.origin = std::max(each.origin, origin);
    }
  durNs_[node] = sumOf(pieces);
}

void Scenario::setStretch(
    NodeIndex node, std::int64_t beginNs, std::int64_t endNs, double ns, Origin origin) {
  const double present = lengthNs(node, beginNs, endNs);
  if (present > 0) {
    scale(node, beginNs, endNs, ns / present, origin);
    return;
  }
  std::vector<Piece>& pieces = divided(node);
  divideAt(pieces, beginNs);
  divideAt(pieces, endNs);
  for (Piece& each : pieces)
    if (each.beginNs >= beginNs && each.endNs <= endNs && each.endNs > each.beginNs) {
      each.newNs = ns * static_cast<double>(each.endNs - each.beginNs) /
                   static_cast<double>(endNs - beginNs);
      each.origin = std::max(each.origin, origin);
    }
  durNs_[node] = sumOf(pieces);
}

void Scenario::extend(NodeIndex node, std::int64_t byNs, Origin origin) {
  std::vector<Piece>& pieces = divided(node);
  const std::int64_t begin = graph().beginNs[node];
  pieces.insert(pieces.begin(), {begin, begin, static_cast<double>(byNs), origin});
  durNs_[node] = sumOf(pieces);
}

double Scenario::lengthNs(NodeIndex node, std::int64_t beginNs, std::int64_t endNs) const {
  double sum = 0;
  for (const Piece& each : piecesOf(node)) {
    const std::int64_t common = std::min(each.endNs, endNs) - std::max(each.beginNs, beginNs);
    if (common > 0)
      sum += each.perNs() * static_cast<double>(common);
  }
  return sum;
}

void Scenario::setNode(NodeIndex node, std::int64_t ns, Origin origin) {
  pieces_.erase(node);
  durNs_[node] = ns;
  origins_[node] = std::max(origins_[node], origin);
}

void Scenario::setLag(std::uint32_t edge, double ns, Origin origin) {
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  lagNs_[edge] = static_cast<std::uint32_t>(std::llround(std::clamp(ns, 0.0, kMost)));
  edgeOrigins_[edge] = std::max(edgeOrigins_[edge], origin);
}

Result<void> Scenario::restructure(const Structure& structure) {
  const graph::Graph& old = graph();
  graph::GraphBuilder builder;
  builder.reserve(old.nodes() + structure.nodes.size(), old.edges() + structure.edges.size());
  for (const graph::Lane& lane : old.lanes)
    builder.addLane(lane);
  for (const graph::Lane& lane : structure.lanes)
    builder.addLane(lane);
  for (NodeIndex node = 0; node < old.nodes(); ++node)
    builder.addNode(
        old.lane[node], old.kind[node], old.beginNs[node], old.durNs[node], old.row[node]);
  for (const NewNode& each : structure.nodes) {
    const NodeIndex of = each.copyOf;
    if (of == graph::kNoNode)
      builder.addNode(each.lane, each.kind, each.beginNs, 0, each.row);
    else
      builder.addNode(each.lane, old.kind[of], old.beginNs[of], old.durNs[of], old.row[of]);
  }
  // The builder keeps an index of its own for each edge: its lag stands for the edge, until the
  // real lags are put back.
  struct Kept {
    std::int64_t measuredNs;
    std::uint32_t lagNs;
    Origin origin;
  };
  std::vector<Kept> kept;
  kept.reserve(old.edges() + structure.edges.size());
  for (NodeIndex node = 0; node < old.nodes(); ++node)
    for (std::uint32_t edge = old.firstIn[node]; edge < old.firstIn[node + 1]; ++edge)
      if (structure.dropped.empty() || !structure.dropped[edge]) {
        builder.addEdge(
            old.from[edge], node, old.edgeKind[edge], static_cast<std::int64_t>(kept.size()));
        kept.push_back({old.lagNs[edge], lagNs_[edge], edgeOrigins_[edge]});
      }
  for (const NewEdge& edge : structure.edges) {
    builder.addEdge(edge.from, edge.to, edge.kind, static_cast<std::int64_t>(kept.size()));
    if (edge.copyOf == kNoEdge)
      kept.push_back({0, static_cast<std::uint32_t>(edge.lagNs), Origin::Modelled});
    else
      kept.push_back({old.lagNs[edge.copyOf], lagNs_[edge.copyOf], edgeOrigins_[edge.copyOf]});
  }
  SONDE_TRY_ASSIGN(graph::Graph made, builder.build());
  lagNs_.assign(made.edges(), 0);
  edgeOrigins_.assign(made.edges(), Origin::Measured);
  for (std::uint32_t edge = 0; edge < made.edges(); ++edge) {
    const Kept& of = kept[made.lagNs[edge]];
    made.lagNs[edge] = static_cast<std::uint32_t>(of.measuredNs);
    lagNs_[edge] = of.lagNs;
    edgeOrigins_[edge] = of.origin;
  }
  made.gapNs = old.gapNs;
  made.gapNs.resize(made.nodes(), 0);
  for (const NewNode& each : structure.nodes) {
    const auto node = static_cast<NodeIndex>(durNs_.size());
    const bool isCopy = each.copyOf != graph::kNoNode;
    durNs_.push_back(isCopy ? durNs_[each.copyOf] : each.durNs);
    origins_.push_back(isCopy ? origins_[each.copyOf] : each.origin);
    if (!isCopy)
      continue;
    made.gapNs[node] = old.gapNs[each.copyOf];
    if (const auto found = pieces_.find(each.copyOf); found != pieces_.end())
      pieces_[node] = std::vector<Piece>(found->second);
  }
  job_.graph = std::move(made);
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
