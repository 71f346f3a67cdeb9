// How much slower kernels are while collectives run on the same device, measured from a trace. Feng
// et al., "Echo: Simulating Distributed Training At Scale", 2024, predict the same from a database
// of kernels. Uses the database's thread while it reads; then plain values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/whatif/question.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::whatif {

// A kernel that computes, and the part of its time in which the transfer of a collective runs on a
// stream of its process.
struct OverlappedKernel {
  graph::NodeIndex node = 0;
  double overlap = 0;
};

// A kernel takes (1 + slowdown * overlap) times as long as alone.
struct OverlapPenalty {
  double slowdown = 0;
  double standardError = 0;
  std::int64_t shapes = 0;  // names and grids of kernels that run with and without overlap
  std::vector<OverlappedKernel> kernels;  // all that overlap
};

// Compares kernels of the same name, grid and block. NotFound: none runs both with and without a
// collective, or too few do.
Result<OverlapPenalty> measureOverlapPenalty(const store::Database& trace,
                                             const graph::TraceGraph& job);

// Asks how long an iteration takes if kernels were not slowed down by collectives, as if these took
// no processors and no memory bandwidth. Errors as above.
Question noOverlapPenalty();

}  // namespace sonde::engine::whatif
