// The neighbourhood of a node of a job's graph: the nodes that it needed, and those that needed it.
// Plain values; any thread.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "gui/models/table/value_table.h"

#include <QString>

#include <vector>

namespace sonde::gui {

// "rank 0, stream 7: kernel, 1.2 ms after a gap of 3 µs".
[[nodiscard]] QString nodeText(const engine::graph::Graph& graph, engine::graph::NodeIndex node);

[[nodiscard]] std::vector<ValueColumn> neighbourColumns();
// First its needs, the one that was ready last on top; then the nodes that needed it, by begin.
// `nodes` gets those of the rows. Each row leads to its time.
[[nodiscard]] std::vector<ValueRow> neighbourRows(const engine::graph::Graph& graph,
                                                  engine::graph::NodeIndex node,
                                                  std::vector<engine::graph::NodeIndex>& nodes);

}  // namespace sonde::gui
