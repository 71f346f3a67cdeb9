// The graph and the critical path of a job as tables, JSON and pictures. Plain functions.
#pragma once

#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/critical/lane_slack.h"
#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/critical/second_parts.h"
#include "analysis/engine/footprint/memory_rows.h"
#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/stragglers/stragglers.h"
#include "analysis/export/charts/bar_chart.h"
#include "cli/text/table.h"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sonde::cli {

// The graph and the critical path of one trace, as the verb shows them.
struct GraphView {
  engine::graph::TraceGraph trace;
  std::string operation;  // whose paths these are; empty: those of iterations
  std::vector<engine::critical::IterationPath> paths;
  std::vector<engine::critical::PathPart> parts;                     // of all paths
  std::vector<std::optional<engine::critical::SecondPart>> seconds;  // by path
  std::vector<engine::critical::PathShare> shares;
  std::vector<engine::critical::LaneSlack> slacks;
  std::vector<engine::stragglers::Straggler> stragglers;
  std::string whyNoStragglers;  // empty: they were looked for, or not asked for
  std::optional<std::vector<engine::footprint::MemoryRow>> memory;  // if it was asked for
};

// `withPath`: also the critical path, slack and stragglers. With a single iteration the JSON has
// its path part by part.
nlohmann::json jsonOf(const GraphView& view, bool withPath);
std::string textOf(const GraphView& view, bool withPath);
// The critical path, summed.
Table pathTable(const GraphView& view);

// The critical path as a bar for each rank, divided by cause.
exports::BarChart chartOf(const GraphView& view, const std::string& title);

// The node with this index and all within two edges of it, for Graphviz. Requires: the node exists.
std::string dotOf(const engine::graph::Graph& graph, engine::graph::NodeIndex node);

}  // namespace sonde::cli
