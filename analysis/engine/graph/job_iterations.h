// The iterations of the whole job: those of its ranks that belong together. Plain values; any
// thread.
#pragma once

#include "analysis/engine/graph/trace_graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::graph {

// The iterations of the ranks with the same number. If a number repeats, as where each epoch counts
// from 0, those that have it the same time.
struct JobIteration {
  std::int64_t number = 0;
  std::int64_t occurrence = 0;  // how often the number was there before
  std::vector<IterationNodes>
      ranks;            // by process; only unmasked ones, unless all of the job are masked
  bool isWhole = true;  // all ranks that have iterations have it, masked or not
};

// By number; by begin, if numbers repeat. `only`: those with that number, also masked ones.
std::vector<JobIteration> jobIterations(const TraceGraph& trace,
                                        std::optional<std::int64_t> only = std::nullopt);

// Whether a number repeats.
bool doNumbersRepeat(const std::vector<JobIteration>& iterations);

}  // namespace sonde::engine::graph
