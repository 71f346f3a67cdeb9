// The lanes of a trace and what they recorded. Within engine/correction.
#pragma once

#include "analysis/engine/correction/recorded_program.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::engine::correction {

// A stretch of a thread without anything recorded around it.
struct Outermost {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t waitId = 0;  // the slice, of one that was a wait for something, and not for a time
};

struct ThreadFacts {
  std::int64_t processId = 0;
  LaneIndex lane = kNoLane;
  bool hasIterations = false;
  std::vector<Outermost> outermost;
  std::vector<Outermost> requestWaits;  // calls of MPI that see requests done, by end
};

struct LanesOfTrace {
  Program program;
  RecordedProgram recorded;                               // but for lanes and schedule
  std::unordered_map<std::int64_t, ThreadFacts> threads;  // by id
};

Result<LanesOfTrace> readLanes(const store::Database& trace, const CostTable& costs);

}  // namespace sonde::engine::correction
