// The lanes of a trace and their recorded events. Within engine/correction.
#pragma once

#include "analysis/engine/correction/recorded_program.h"

#include <cstdint>
#include <map>
#include <vector>

namespace sonde::engine::correction {

struct LanesOfTrace {
  waits::Lanes lanes;
  std::vector<Lane> points;                   // what each of them recorded
  std::map<CostClass, std::int64_t> unknown;  // as RecordedProgram::unknown
};

Result<LanesOfTrace> readLanes(const store::Database& trace, const CostTable& costs);

}  // namespace sonde::engine::correction
