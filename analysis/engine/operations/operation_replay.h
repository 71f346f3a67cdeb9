// How exact the replay of an operation-level trace is. Free functions; any thread.
#pragma once

#include "analysis/engine/operations/operation_graph.h"
#include "analysis/engine/replay/replay_report.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::operations {

// Judge::Identity: the replay without launch delays, which has to prove something, since a replay
// with them repeats the measured times. `error` is the mean over the steps. Judge::Odd: the even
// steps with the launch delays of each other (predictedDelays()), against the odd ones.
//
// An iteration of a rank lasts from the begin of its step, which is the same for all ranks, to the
// rank's last end; that of the job lasts to the last end of all ranks. `gapShare` is the part of
// the measured critical paths that is launch delay. NotFound: the job takes no time, or there are
// no even and odd steps of one structure.
Result<replay::ReplayReport> replayOperations(const OperationGraph& job, replay::Judge judge);

// When each node begins in that replay. With Judge::Odd all steps have the launch delays of the
// other even ones. Between two steps as much time passes as measured.
std::vector<std::int64_t> replayedBegins(const OperationGraph& job, replay::Judge judge);

}  // namespace sonde::engine::operations
