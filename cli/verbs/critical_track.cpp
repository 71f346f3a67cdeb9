#include "cli/verbs/critical_track.h"

#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/operations/operation_rows.h"
#include "analysis/engine/report/path_report.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace critical = engine::critical;
using critical::IterationPath;
using critical::PathPart;
using exports::PathSpan;

// Iterations that overlap get different lanes, each the first free one.
std::vector<std::int64_t> lanesOf(const std::vector<IterationPath>& paths) {
  std::vector<std::int64_t> lanes;
  std::vector<std::int64_t> ends;  // by lane
  for (const IterationPath& each : paths) {
    const auto free =
        std::find_if(ends.begin(), ends.end(), [&](auto end) { return end <= each.beginNs; });
    lanes.push_back(free - ends.begin());
    if (free == ends.end())
      ends.push_back(each.endNs);
    else
      *free = each.endNs;
  }
  return lanes;
}

const char* wordOf(engine::graph::LaneKind kind) {
  using engine::graph::LaneKind;
  return kind == LaneKind::Thread ? "thread" : kind == LaneKind::Stream ? "stream" : "connection";
}

PathSpan spanOf(const engine::graph::Lane& lane, const PathPart& part, const IterationPath& path) {
  nlohmann::json args = {{"node", part.node}};
  if (path.number)
    args["iteration"] = *path.number;
  if (lane.kind != engine::graph::LaneKind::Meetings) {
    args[wordOf(lane.kind)] = lane.name;
    if (lane.rank >= 0)
      args["rank"] = lane.rank;
    else
      args["process"] = lane.pid;
  }
  PathSpan span;
  span.category = critical::nameOf(part.cause);
  span.name = part.what.empty() ? span.category : part.what;
  span.startNs = part.beginNs;
  span.durNs = part.lengthNs();
  span.args = args.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return span;
}

}  // namespace

Result<std::vector<PathSpan>> criticalTrack(const store::Database& trace) {
  using engine::report::kMostPathEvents;
  SONDE_TRY_ASSIGN(const bool hasOperations, engine::operations::isOperationLevel(trace));
  SONDE_TRY_ASSIGN(const std::int64_t events,
                   trace.queryInteger("SELECT (SELECT count(*) FROM slice) + (SELECT count(*) FROM "
                                      "kernel) + (SELECT count(*) FROM copy)"));
  if (hasOperations)
    return notFound("the path of an operation-level trace is not that of the measured times");
  if (events > kMostPathEvents)
    return notFound(fmt::format("the trace has more than {} events", humanCount(kMostPathEvents)));
  SONDE_TRY_ASSIGN(const engine::graph::TraceGraph graph, engine::graph::readGraph(trace));
  std::vector<IterationPath> paths = critical::pathsOf(graph);
  std::stable_sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) {
    return a.beginNs < b.beginNs;
  });
  SONDE_TRY_ASSIGN(const std::vector<PathPart> parts, critical::partsOf(trace, graph.graph, paths));
  const std::vector<std::int64_t> lanes = lanesOf(paths);
  std::vector<PathSpan> spans;
  for (const PathPart& part : parts) {
    spans.push_back(spanOf(graph.graph.lanes[part.lane], part, paths[part.path]));
    spans.back().lane = lanes[part.path];
  }
  return spans;
}

}  // namespace sonde::cli
