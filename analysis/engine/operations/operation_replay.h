// How exact the replay of an operation-level trace is. A free function; any thread.
#pragma once

#include "analysis/engine/operations/operation_graph.h"
#include "analysis/engine/replay/replay_report.h"
#include "base/result.h"

namespace sonde::engine::operations {

// The replay without launch delays, which has to prove something: a replay with them repeats the
// measured times. An iteration of a rank lasts from the begin of its step, which is the same for
// all ranks, to the rank's last end; that of the job lasts to the last end of all ranks.
//
// `error` is the mean over the steps. `gapShare` is the part of the measured critical paths that is
// launch delay. NotFound: the job takes no time.
Result<replay::ReplayReport> replayOperations(const OperationGraph& job);

}  // namespace sonde::engine::operations
