// Where time went by path of calls: of slices, of the work that they gave devices, or of stack
// samples; of a whole trace or of a part of it. A flame graph shows them. On the caller's thread.
#pragma once

#include "analysis/engine/callpaths/call_tree.h"
#include "analysis/engine/callpaths/path_filter.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <vector>

namespace sonde::engine::callpaths {

// The sources of which the trace has rows. No time is read.
Result<std::vector<PathSource>> pathSources(const store::Database& trace);

// Times are clipped to the filter's range. Threads add up: two that work at once count twice.
//
// Slices: ranges and marks are left out, since they need not nest. In an operation is what a thread
// does in it, and what a thread does that inherited it (`slice.scope_how`); paths begin with it.
// DeviceWork: a launch that was not recorded is "[not recorded]"; work whose end is unknown is left
// out. Samples: of a range are those taken in it.
//
// The result is empty if nothing matches the filter. Errors: of samples as metrics::stackTimes().
Result<CallTree> callPaths(const store::Database& trace,
                           PathSource source,
                           const PathFilter& filter);

}  // namespace sonde::engine::callpaths
