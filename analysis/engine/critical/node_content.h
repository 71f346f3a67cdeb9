// The things that the nodes of a graph are made of, by name. Uses the database's thread.
#pragma once

#include "analysis/engine/critical/path_cause.h"
#include "analysis/engine/graph/graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::critical {

// Time of a node that one name had. A host node has the innermost slices of its thread; a kernel,
// copy or transfer has its own name. The parts of a node sum to its duration.
struct ContentPart {
  graph::NodeIndex node = 0;
  PathCause cause = PathCause::Host;
  std::int64_t nameId = 0;  // of table string; 0: nothing was recorded
  std::int64_t ns = 0;
};

// The parts of all nodes that take time; host nodes first. 24 bytes for each part.
Result<std::vector<ContentPart>> contentOf(const store::Database& trace, const graph::Graph& graph);

// The name of the kernel or copy that each node is, by node: an id of table string; 0 for others.
Result<std::vector<std::int64_t>> nameIdsOf(const store::Database& trace,
                                            const graph::Graph& graph);

}  // namespace sonde::engine::critical
