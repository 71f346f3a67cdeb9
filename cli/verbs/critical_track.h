// The critical path as a track of an exported trace. Uses the database's thread.
#pragma once

#include "analysis/export/timeline.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <vector>

namespace sonde::cli {

// The parts of the paths of all iterations, by path. NotFound: the trace has no graph, is
// operation-level, whose path is not that of the measured times, or has more slices, kernels and
// copies than engine::report::kMostPathEvents. Other errors are those of readGraph().
Result<std::vector<exports::PathSpan>> criticalTrack(const store::Database& trace);

}  // namespace sonde::cli
