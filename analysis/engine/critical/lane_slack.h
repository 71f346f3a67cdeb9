// How close each thread and stream of a job is to the critical path. Free functions; any thread.
#pragma once

#include "analysis/engine/critical/iteration_paths.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::critical {

struct LaneSlack {
  graph::LaneIndex lane = 0;
  std::int64_t pathNs = 0;   // on the critical path, mean of the iterations
  std::int64_t slackNs = 0;  // the least of its nodes, mean of the iterations
};

// The lanes that did something for the end of an iteration, the one with the least slack first.
// Looks at 16 of the iterations at most, evenly chosen.
std::vector<LaneSlack> laneSlacks(const graph::Graph& graph,
                                  const std::vector<IterationPath>& paths);

}  // namespace sonde::engine::critical
