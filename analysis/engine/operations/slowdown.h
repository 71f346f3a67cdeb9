// How much slower a job is than one without stragglers, in which all operations of a type take the
// same time; and which operations, workers and stages make it so. Free functions; any thread.
//
// Source: "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI'25),
// sections 3 to 5: S, its decomposition, M_W and M_S. All replays are without launch delays.
#pragma once

#include "analysis/engine/operations/operation_graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::operations {

// The duration of each node without stragglers, in ns: the mean of its type over all workers and
// steps for computing, the median for communication. Each of the four types of sends and receives
// has its own.
std::vector<std::int64_t> idealDurations(const OperationGraph& job);

// The slow-down of a job in which only this group's operations take their own time.
struct GroupSlowdown {
  std::string name;  // of types: sends and receives of a direction are one, "forward-pp-comm"
  std::int64_t number = 0;  // of data-parallel rank or stage
  double slowdown = 1;
};

struct Slowdown {
  double ownNs = 0;     // mean step with own durations
  double idealNs = 0;   // mean step without stragglers
  double slowdown = 1;  // S: their ratio
  std::vector<GroupSlowdown> types;
  std::vector<GroupSlowdown> dataParallelRanks;
  std::vector<GroupSlowdown> stages;
  // M_S, the imbalance of stages: the part of ownNs − idealNs that goes if only the last stage gets
  // ideal durations. 0 if both are equal.
  double lastStageShare = 0;
  // M_W: the same for the slowest workers, 3 % of all and at least one. A worker is as slow as its
  // data-parallel rank or its stage, whichever is less. Indices, the slowest first.
  double slowestWorkersShare = 0;
  std::vector<std::uint32_t> slowestWorkers;
};

// NotFound: the job takes no time.
Result<Slowdown> slowdownOf(const OperationGraph& job);

}  // namespace sonde::engine::operations
