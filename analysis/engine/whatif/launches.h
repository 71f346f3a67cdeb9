// Kernels and copies, and the calls that launched them. Uses the database's thread.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/engine/whatif/thread_spans.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <functional>

namespace sonde::engine::whatif {

struct Launched {
  bool isCopy = false;
  std::int64_t row = 0;  // of table copy or kernel
  graph::LaneIndex thread = 0;
  Span call;  // in the job's time
};

// Leaves out work whose call is unknown.
Result<void> forEachLaunch(const store::Database& trace,
                           const graph::Graph& graph,
                           const std::function<void(const Launched&)>& each);

}  // namespace sonde::engine::whatif
