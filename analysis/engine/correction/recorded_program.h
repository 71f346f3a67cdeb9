// A trace as a program to correct: its lanes, what each recorded, and what it waited for. Owns its
// memory; one thread. 16 bytes per end of a recorded event, and about 70 per wait.
#pragma once

#include "analysis/engine/correction/cost_table.h"
#include "analysis/engine/correction/program.h"
#include "analysis/engine/correction/schedule.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sonde::engine::correction {

struct RecordedProgram {
  std::vector<Lane> lanes;
  Schedule schedule;                                      // of the lanes' waits
  std::unordered_map<std::int64_t, LaneIndex> ofThread;   // by id
  std::unordered_map<std::int64_t, LaneIndex> ofStream;   // by id
  std::unordered_map<std::int64_t, LaneIndex> ofProcess;  // by id: the thread that drives it
  // Events of unknown cost; they count as free.
  std::map<CostClass, std::int64_t> unknown;

  // The number of events for each cost of the table, by index. Requires: `costs` is the table's
  // size.
  std::vector<std::int64_t> eventsByCost(std::size_t costs) const;
};

// Times are those of the tables, by the clock of each host. Waits for another host are not found.
// Corrupt: a time is invalid.
Result<RecordedProgram> readProgram(const store::Database& trace, const CostTable& costs);

}  // namespace sonde::engine::correction
