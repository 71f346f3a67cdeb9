#include "analysis/engine/whatif/compute/overlap_penalty.h"

#include "analysis/engine/whatif/compute/device_works.h"
#include "analysis/engine/whatif/thread_spans.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace sonde::engine::whatif {
namespace {

using graph::NodeIndex;

constexpr std::int64_t kFewest = 6;  // kernels with, and as many without overlap
constexpr double kSpread = 0.5;      // of the overlap, among kernels of a shape

struct ShapeRow {
  std::int64_t id = 0;
  std::string shape;

  SONDE_COLUMNS(id, shape)
};

constexpr const char* kShapes =
    "SELECT id, name_id || ' ' || coalesce(grid_x, 0) || ' ' || coalesce(grid_y, 0) || ' ' || "
    "coalesce(grid_z, 0) || ' ' || coalesce(block_x, 0) || ' ' || coalesce(block_y, 0) || ' ' || "
    "coalesce(block_z, 0) AS shape FROM kernel";

struct Sample {
  NodeIndex node = 0;
  double overlap = 0;
  double ns = 0;
};

// The line ns = alone + slope * overlap through the samples of a shape.
struct Line {
  double alone = 0;
  double slope = 0;
  double spread = 0;   // sum of the squared deviations of the overlap
  double squares = 0;  // of the residuals
};

Line lineOf(const std::vector<Sample>& samples) {
  const auto count = static_cast<double>(samples.size());
  double overlap = 0;
  double ns = 0;
  for (const Sample& each : samples) {
    overlap += each.overlap / count;
    ns += each.ns / count;
  }
  Line line;
  double product = 0;
  for (const Sample& each : samples) {
    line.spread += (each.overlap - overlap) * (each.overlap - overlap);
    product += (each.overlap - overlap) * (each.ns - ns);
  }
  line.slope = line.spread > 0 ? product / line.spread : 0;
  line.alone = ns - line.slope * overlap;
  for (const Sample& each : samples) {
    const double residual = each.ns - line.alone - line.slope * each.overlap;
    line.squares += residual * residual;
  }
  return line;
}

bool spreads(const std::vector<Sample>& samples) {
  const auto [least, most] =
      std::minmax_element(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
        return a.overlap < b.overlap;
      });
  return most->overlap - least->overlap >= kSpread;
}

// When transfers of collectives run on streams of a process. Disjoint, by begin.
std::unordered_map<std::int64_t, std::vector<Span>> transfersOf(const graph::Graph& graph) {
  std::unordered_map<std::int64_t, std::vector<Span>> found;
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (graph.kind[node] == graph::NodeKind::Transfer && graph.durNs[node] > 0 &&
        graph.lanes[graph.lane[node]].kind == graph::LaneKind::Stream)
      found[graph.lanes[graph.lane[node]].processId].push_back(
          {graph.beginNs[node], graph.endNs(node)});
  for (auto& [process, spans] : found) {
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return a.beginNs < b.beginNs;
    });
    std::vector<Span> joined;
    for (const Span& each : spans)
      if (!joined.empty() && each.beginNs <= joined.back().endNs)
        joined.back().endNs = std::max(joined.back().endNs, each.endNs);
      else
        joined.push_back(each);
    spans = std::move(joined);
  }
  return found;
}

double overlapOf(const std::vector<Span>& spans, std::int64_t beginNs, std::int64_t endNs) {
  auto span =
      std::lower_bound(spans.begin(), spans.end(), beginNs, [](const Span& each, std::int64_t ns) {
        return each.endNs <= ns;
      });
  std::int64_t common = 0;
  for (; span != spans.end() && span->beginNs < endNs; ++span)
    common += std::min(span->endNs, endNs) - std::max(span->beginNs, beginNs);
  return static_cast<double>(common) / static_cast<double>(endNs - beginNs);
}

// By process and shape: ranks may have devices of different speeds.
using Shapes = std::map<std::pair<std::int64_t, std::string>, std::vector<Sample>>;

Result<Shapes> readShapes(const store::Database& trace, const graph::TraceGraph& job) {
  const graph::Graph& graph = job.graph;
  const auto transfers = transfersOf(graph);
  SONDE_TRY_ASSIGN(const std::vector<DeviceWork> works, readDeviceWorks(trace, job));
  std::unordered_map<std::int64_t, NodeIndex> kernels;
  for (const DeviceWork& each : works)
    if (!each.isCollective && graph.kind[each.node] == graph::NodeKind::Kernel &&
        graph.durNs[each.node] > 0)
      kernels.emplace(graph.row[each.node], each.node);
  Shapes shapes;
  SONDE_TRY(store::forEach<ShapeRow>(trace, kShapes, [&](const ShapeRow& row) {
    const auto node = kernels.find(row.id);
    if (node == kernels.end())
      return;
    const std::int64_t process = graph.lanes[graph.lane[node->second]].processId;
    const auto spans = transfers.find(process);
    const double overlap =
        spans == transfers.end()
            ? 0
            : overlapOf(spans->second, graph.beginNs[node->second], graph.endNs(node->second));
    shapes[{process, row.shape}].push_back(
        {node->second, overlap, static_cast<double>(graph.durNs[node->second])});
  }));
  return shapes;
}

// Least squares of all shapes: slope = slowdown * alone, weighted by how well a slope is known. The
// error is that of the samples, or that of the shapes if these differ more: kernels of one name and
// grid may do other work where nothing runs beside them.
void fit(const Shapes& shapes, OverlapPenalty& penalty) {
  double product = 0;
  double weight = 0;
  double ofShapes = 0;  // the squares of their slow-downs
  double squares = 0;   // relative
  double freedom = 0;
  double count = 0;
  std::set<std::string> names;
  for (const auto& [key, samples] : shapes) {
    if (!spreads(samples))
      continue;
    const Line line = lineOf(samples);
    if (line.alone <= 0)
      continue;
    names.insert(key.second);
    ++count;
    const double slowdown = line.slope / line.alone;
    product += line.spread * slowdown;
    ofShapes += line.spread * slowdown * slowdown;
    weight += line.spread;
    squares += line.squares / (line.alone * line.alone);
    freedom += static_cast<double>(samples.size()) - 2;
  }
  if (weight <= 0)
    return;
  penalty.shapes = static_cast<std::int64_t>(names.size());
  penalty.slowdown = product / weight;
  penalty.standardError = freedom > 0 ? std::sqrt(squares / freedom / weight) : 0;
  const double variance = ofShapes / weight - penalty.slowdown * penalty.slowdown;
  if (count > 1 && variance > 0)
    penalty.standardError = std::max(penalty.standardError, std::sqrt(variance / (count - 1)));
}

}  // namespace

Result<OverlapPenalty> measureOverlapPenalty(const store::Database& trace,
                                             const graph::TraceGraph& job) {
  SONDE_TRY_ASSIGN(const Shapes shapes, readShapes(trace, job));
  OverlapPenalty penalty;
  std::int64_t with = 0;
  std::int64_t without = 0;
  for (const auto& [shape, samples] : shapes) {
    const bool isCompared = spreads(samples);
    for (const Sample& each : samples) {
      if (each.overlap > 0)
        penalty.kernels.push_back({each.node, each.overlap});
      if (isCompared)
        ++(each.overlap >= kSpread ? with : without);
    }
  }
  if (std::min(with, without) < kFewest)
    return notFound(fmt::format(
        "the trace has too few kernels of the same name and grid that run both with and without a "
        "collective beside them: {} with, {} without, and {} of each are needed",
        with,
        without,
        kFewest));
  fit(shapes, penalty);
  return penalty;
}

Question noOverlapPenalty() {
  return [](Asking& asking) -> Result<void> {
    SONDE_TRY_ASSIGN(const OverlapPenalty penalty,
                     measureOverlapPenalty(asking.trace, asking.scenario.job()));
    if (penalty.slowdown <= 2 * penalty.standardError) {
      asking.notes.push_back(fmt::format(
          "collectives do not measurably slow down the kernels beside them ({:.1f} % ± {:.1f} %), "
          "so nothing changes",
          100 * penalty.slowdown,
          200 * penalty.standardError));
      return {};
    }
    for (const OverlappedKernel& each : penalty.kernels) {
      const graph::Graph& graph = asking.scenario.graph();
      asking.scenario.scale(each.node,
                            graph.beginNs[each.node],
                            graph.endNs(each.node),
                            1 / (1 + penalty.slowdown * each.overlap),
                            Origin::Modelled);
    }
    asking.modelError = std::max(asking.modelError, penalty.standardError);
    asking.notes.push_back(fmt::format(
        "kernels take {:.1f} % ± {:.1f} % longer while a collective runs beside them, measured on "
        "kernels of {} names and grids; {} kernels then take their time alone",
        100 * penalty.slowdown,
        200 * penalty.standardError,
        penalty.shapes,
        penalty.kernels.size()));
    return {};
  };
}

}  // namespace sonde::engine::whatif
