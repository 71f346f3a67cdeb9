// The critical paths of an operation that the program annotates. Uses the database's thread.
#pragma once

#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace sonde::engine::critical {

// The path of each slice with this name, from its begin to its end on its thread, by measured
// begin. Their numbers count from 0. In the graph of an operation-level trace the times are those
// of the slice's node. InvalidArgument: no slice has the name.
Result<std::vector<IterationPath>> pathsOfOperation(const store::Database& trace,
                                                    const graph::Graph& graph,
                                                    const std::string& name);

}  // namespace sonde::engine::critical
