#include "gui/models/whatif/iteration_lanes.h"

#include "analysis/engine/graph/job_iterations.h"
#include "analysis/engine/statistics/series.h"
#include "gui/trace/qtext.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace sonde::gui {
namespace {

namespace critical = engine::critical;
namespace graph = engine::graph;

using NodeTimes = critical::Times;

struct Window {
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
};

// `iterations`: all of the job.
Window windowOf(const graph::TraceGraph& job,
                const std::vector<graph::JobIteration>& iterations,
                std::size_t iteration,
                const NodeTimes& times) {
  Window window;
  auto widen = [&, isFirst = true](graph::NodeIndex first, graph::NodeIndex last) mutable {
    const std::int64_t begin = times.beginNs[first];
    const std::int64_t end = times.beginNs[last] + times.durNs[last];
    window.beginNs = isFirst ? begin : std::min(window.beginNs, begin);
    window.endNs = isFirst ? end : std::max(window.endNs, end);
    isFirst = false;
  };
  if (!iterations.empty()) {
    for (const graph::IterationNodes& rank : iterations.at(iteration).ranks)
      widen(rank.first, rank.last);
    return window;
  }
  for (graph::NodeIndex node = 0; node < job.graph.nodes(); ++node)
    widen(node, node);
  return window;
}

Window windowOf(const graph::TraceGraph& job, std::size_t iteration, const NodeTimes& times) {
  return windowOf(job, graph::jobIterations(job), iteration, times);
}

// The time of `ns` within a node that begins and lasts otherwise.
std::int64_t moved(std::int64_t ns,
                   graph::NodeIndex node,
                   const graph::Graph& graph,
                   const engine::whatif::Answer* answer) {
  if (answer == nullptr)
    return ns;
  const std::int64_t before = graph.durNs[node];
  const double part =
      before > 0 ? static_cast<double>(ns - graph.beginNs[node]) / static_cast<double>(before) : 0;
  return answer->beginNs[node] + std::llround(part * static_cast<double>(answer->durNs[node]));
}

}  // namespace

std::size_t usualIteration(const AskedTrace& trace) {
  const auto iterations = graph::jobIterations(trace.job());
  const graph::Graph& graph = trace.job().graph;
  std::vector<std::int64_t> lengths;
  for (std::size_t at = 0; at < iterations.size(); ++at) {
    const Window window = windowOf(trace.job(), iterations, at, {graph.beginNs, graph.durNs});
    lengths.push_back(window.endNs - window.beginNs);
  }
  return engine::statistics::indexOfMedian(lengths).value_or(0);
}

QStringList iterationTitles(const AskedTrace& trace) {
  QStringList titles;
  for (const graph::JobIteration& each : graph::jobIterations(trace.job()))
    titles << QCoreApplication::translate("Whatif", "iteration %1").arg(each.number);
  if (titles.isEmpty())
    titles << QCoreApplication::translate("Whatif", "the whole trace");
  return titles;
}

Result<IterationParts> iterationParts(const AskedTrace& trace,
                                      std::size_t iteration,
                                      std::size_t most) {
  const graph::Graph& graph = trace.job().graph;
  const Window window = windowOf(trace.job(), iteration, {graph.beginNs, graph.durNs});
  std::vector<critical::Element> nodes;
  for (graph::NodeIndex node = 0; node < graph.nodes(); ++node) {
    const std::int64_t begin = std::max(graph.beginNs[node], window.beginNs);
    const std::int64_t end = std::min(graph.endNs(node), window.endNs);
    if (begin < end && graph.lanes[graph.lane[node]].kind != graph::LaneKind::Meetings)
      nodes.push_back({node, critical::Cause::Node, critical::kNoEdge, begin, end});
  }
  IterationParts read;
  if (nodes.size() > most) {
    std::nth_element(nodes.begin(),
                     nodes.begin() + static_cast<std::ptrdiff_t>(most),
                     nodes.end(),
                     [](const auto& left, const auto& right) {
                       return left.endNs - left.beginNs > right.endNs - right.beginNs;
                     });
    read.left = nodes.size() - most;
    nodes.resize(most);
  }
  std::sort(nodes.begin(), nodes.end(), [](const auto& left, const auto& right) {
    return left.beginNs < right.beginNs;
  });
  SONDE_TRY_ASSIGN(read.parts, trace.name(nodes));
  return read;
}

IterationLanes lanesOf(const AskedTrace& trace,
                       const LanesRequest& request,
                       const std::vector<critical::PathPart>& parts,
                       const engine::whatif::Answer* answer) {
  const graph::Graph& graph = trace.job().graph;
  const Window now = windowOf(trace.job(), request.iteration, {graph.beginNs, graph.durNs});
  const Window then =
      answer == nullptr
          ? now
          : windowOf(trace.job(), request.iteration, {answer->beginNs, answer->durNs});
  IterationLanes drawn;
  drawn.nowNs = now.endNs - now.beginNs;
  drawn.thenNs = then.endNs - then.beginNs;
  using LanePlace = std::pair<std::int64_t, graph::LaneIndex>;  // by rank
  std::map<LanePlace, std::size_t> rows;
  for (const critical::PathPart& part : parts)
    if (!request.rank || graph.lanes[part.lane].rank == *request.rank)
      rows.emplace(LanePlace{graph.lanes[part.lane].rank, part.lane}, 0);
  for (auto& [place, row] : rows) {
    row = drawn.lanes.size();
    drawn.lanes.push_back(qtext(graph::entityOf(graph.lanes[place.second])));
  }
  for (const critical::PathPart& part : parts) {
    const auto row = rows.find({graph.lanes[part.lane].rank, part.lane});
    if (row == rows.end())
      continue;
    const LanePart shown{row->second,
                         part.cause,
                         qtext(part.what),
                         part.beginNs - now.beginNs,
                         part.endNs - now.beginNs};
    drawn.now.push_back(shown);
    LanePart& other = drawn.then.emplace_back(shown);
    other.beginNs = moved(part.beginNs, part.node, graph, answer) - then.beginNs;
    other.endNs = moved(part.endNs, part.node, graph, answer) - then.beginNs;
  }
  return drawn;
}

}  // namespace sonde::gui
