// A trace as a program to be corrected: what of it is a lane, what each of these recorded, and what
// it waited for. Owns its memory; one thread. 16 bytes for each end of a recorded event, and some
// 70 for each wait.
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
  Schedule schedule;                                      // of what they waited for
  std::unordered_map<std::int64_t, LaneIndex> ofThread;   // by id
  std::unordered_map<std::int64_t, LaneIndex> ofStream;   // by id
  std::unordered_map<std::int64_t, LaneIndex> ofProcess;  // by id: of the thread that drives it
  // Events of which nobody knows what they cost; they count as free.
  std::map<CostClass, std::int64_t> unknown;

  // How many events there are of each cost of the table, by its index. Requires: `costs` is how
  // many these are.
  std::vector<std::int64_t> eventsByCost(std::size_t costs) const;
};

// Times are those of the tables, as their hosts have them; what waits for something on another host
// is not known here. Corrupt: times are none.
Result<RecordedProgram> readProgram(const store::Database& trace, const CostTable& costs);

}  // namespace sonde::engine::correction
