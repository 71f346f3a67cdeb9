// A trace as a program to be corrected: what of it is a lane, what each of these recorded, and what
// it waited for. Owns its memory; one thread. 16 bytes for each end of a recorded event.
#pragma once

#include "analysis/base/result.h"
#include "analysis/engine/correction/cost_table.h"
#include "analysis/engine/correction/program.h"
#include "analysis/store/database.h"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sonde::engine::correction {

struct RecordedProgram {
  Program program;
  std::unordered_map<std::int64_t, LaneIndex> ofThread;   // by id
  std::unordered_map<std::int64_t, LaneIndex> ofStream;   // by id
  std::unordered_map<std::int64_t, LaneIndex> ofProcess;  // by id: of the thread that drives it
  // Events of which nobody knows what they cost; they count as free.
  std::map<CostClass, std::int64_t> unknown;
};

// Times are those of the tables, as their hosts have them; what waits for something on another host
// is not known here. Corrupt: times are none.
Result<RecordedProgram> readProgram(const store::Database& trace, const CostTable& costs);

}  // namespace sonde::engine::correction
