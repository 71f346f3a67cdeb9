// Names the stretches of a critical path: which rank, thread or stream, and what it did. Uses the
// database's thread.
#pragma once

#include "analysis/engine/critical/critical_path.h"
#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/critical/path_cause.h"
#include "analysis/engine/graph/graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::critical {

struct PathPart {
  graph::LaneIndex lane = 0;
  graph::NodeIndex node = 0;
  PathCause cause = PathCause::Host;
  std::string what;  // the innermost slice, or the name of the kernel or copy
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
  std::uint32_t path = 0;  // the index of its path, of several

  std::int64_t lengthNs() const noexcept { return endNs - beginNs; }
};

// The parts of a path, by time, without holes. Splits a thread's stretch where its innermost slice
// changes.
Result<std::vector<PathPart>> partsOf(const store::Database& trace,
                                      const graph::Graph& graph,
                                      const std::vector<Element>& path);
// The parts of one path after the other. Reads each thread once, however many paths there are.
Result<std::vector<PathPart>> partsOf(const store::Database& trace,
                                      const graph::Graph& graph,
                                      const std::vector<IterationPath>& paths);

// A line of the summary of some paths.
struct PathShare {
  graph::LaneIndex lane;
  PathCause cause;
  std::string what;
  std::int64_t ns = 0;
  std::int64_t parts = 0;
  double share = 0;  // of all paths
};

// Sums the parts by lane, cause and what; the longest first.
std::vector<PathShare> sharesOf(const std::vector<PathPart>& parts);

}  // namespace sonde::engine::critical
