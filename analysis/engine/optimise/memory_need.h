// The memory that iterations of a job need, and how much of it depends on the batch. Uses the
// database's thread while it reads; then plain values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <string>

namespace sonde::engine::optimise {

// The device, or the process, whose iterations reach the highest level.
struct MemoryNeed {
  std::string place;              // for people: "gpu 0 of rank 3"
  std::int64_t betweenBytes = 0;  // the lowest level at which an iteration began
  std::int64_t peakBytes = 0;     // the highest in an iteration

  // The peak if what an iteration adds were `activations` times as much.
  double peakWith(double activations) const noexcept {
    const auto between = static_cast<double>(betweenBytes);
    return between + activations * (static_cast<double>(peakBytes) - between);
  }
};

// Devices count if any has allocations inside of iterations, else the memory of processes.
// NotFound: the trace has no such allocations.
Result<MemoryNeed> readMemoryNeed(const store::Database& trace, const graph::TraceGraph& job);

}  // namespace sonde::engine::optimise
