// The critical path as a track of an exported trace. Uses the database's thread.
#pragma once

#include "analysis/export/timeline.h"
#include "analysis/store/database.h"

#include <vector>

namespace sonde::cli {

// The parts of the paths of all iterations, by path. Empty if there is no graph of the trace, if it
// is operation-level, whose path is not that of the measured times, or if it has more than a
// million events, of which each needs some 400 bytes.
std::vector<exports::PathSpan> criticalTrack(const store::Database& trace);

}  // namespace sonde::cli
