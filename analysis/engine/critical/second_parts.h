// The second-best paths of iterations, with names. Uses the database's thread.
#pragma once

#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/graph/graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::critical {

struct SecondPart {
  std::int64_t behindNs = 0;  // than the critical path
  PathPart through;           // the longest part that only the second path has
};

// By path; nullopt: it has no second one (second_path.h).
Result<std::vector<std::optional<SecondPart>>> secondPartsOf(
    const store::Database& trace,
    const graph::Graph& graph,
    const std::vector<IterationPath>& paths);

}  // namespace sonde::engine::critical
