#include "gui/models/graph/neighbours.h"

#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"

#include <QCoreApplication>

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

namespace graph = engine::graph;

QString nodeWords(const char* text) {
  return QCoreApplication::translate("Graph", text);
}

// A neighbour and the edge to it.
struct Neighbour {
  graph::NodeIndex node = graph::kNoNode;
  std::uint32_t edge = 0;
};

std::vector<Neighbour> needsOf(const graph::Graph& graph, graph::NodeIndex node) {
  std::vector<Neighbour> needs;
  for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge)
    needs.push_back({graph.from[edge], edge});
  std::stable_sort(needs.begin(), needs.end(), [&](const Neighbour& left, const Neighbour& right) {
    return graph.endNs(left.node) + graph.lagNs[left.edge] >
           graph.endNs(right.node) + graph.lagNs[right.edge];
  });
  return needs;
}

std::vector<Neighbour> needersOf(const graph::Graph& graph, graph::NodeIndex node) {
  std::vector<Neighbour> needers;
  for (graph::NodeIndex other = 0; other < graph.nodes(); ++other)
    for (std::uint32_t edge = graph.firstIn[other]; edge < graph.firstIn[other + 1]; ++edge)
      if (graph.from[edge] == node)
        needers.push_back({other, edge});
  std::stable_sort(
      needers.begin(), needers.end(), [&](const Neighbour& left, const Neighbour& right) {
        return graph.beginNs[left.node] < graph.beginNs[right.node];
      });
  return needers;
}

ValueRow rowOf(const graph::Graph& graph, const Neighbour& neighbour, const QString& relation) {
  const graph::NodeIndex node = neighbour.node;
  const auto integer = [](std::int64_t value) { return QVariant::fromValue<qlonglong>(value); };
  return {{relation,
           spaced(graph::nameOf(graph.edgeKind[neighbour.edge])),
           qtext(graph::entityOf(graph.lanes[graph.lane[node]])),
           QString::fromLatin1(graph::nameOf(graph.kind[node])),
           integer(graph.durNs[node]),
           integer(graph.lagNs[neighbour.edge])},
          {.span = Span{graph.beginNs[node], graph.endNs(node)}}};
}

}  // namespace

QString nodeText(const graph::Graph& graph, graph::NodeIndex node) {
  return nodeWords("%1: %2, %3 after a gap of %4")
      .arg(qtext(graph::entityOf(graph.lanes[graph.lane[node]])),
           QString::fromLatin1(graph::nameOf(graph.kind[node])),
           formatDuration(graph.durNs[node]),
           formatDuration(graph.gapNs[node]));
}

std::vector<ValueColumn> neighbourColumns() {
  return {{nodeWords("relation")},
          {nodeWords("why")},
          {nodeWords("where")},
          {nodeWords("kind")},
          {nodeWords("time"), ValueKind::Duration},
          {nodeWords("lag"), ValueKind::Duration, nodeWords("passes between the two")}};
}

std::vector<ValueRow> neighbourRows(const graph::Graph& graph,
                                    graph::NodeIndex node,
                                    std::vector<graph::NodeIndex>& nodes) {
  nodes.clear();
  std::vector<ValueRow> rows;
  const auto add = [&](const std::vector<Neighbour>& neighbours, const QString& relation) {
    for (const Neighbour& each : neighbours) {
      rows.push_back(rowOf(graph, each, relation));
      nodes.push_back(each.node);
    }
  };
  add(needsOf(graph, node), nodeWords("needs"));
  add(needersOf(graph, node), nodeWords("needed by"));
  return rows;
}

}  // namespace sonde::gui
