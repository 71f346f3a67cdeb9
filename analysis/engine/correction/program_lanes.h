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
};

struct ThreadFacts {
  std::int64_t processId = 0;
  LaneIndex lane = kNoLane;
  bool hasIterations = false;
  std::vector<Outermost> outermost;  // by begin
};

struct LanesOfTrace {
  RecordedProgram program;
  std::unordered_map<std::int64_t, ThreadFacts> threads;  // by id
};

Result<LanesOfTrace> readLanes(const store::Database& trace, const CostTable& costs);

// Adds what the lanes waited for to `lanes.program.program.waits`.
Result<void> addWaits(const store::Database& trace, LanesOfTrace& lanes);

}  // namespace sonde::engine::correction
