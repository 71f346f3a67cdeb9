// What recording costs, found out by the recorded run itself: in blocks of iterations probes were
// off (`sonde run --calibrate`), and how long iterations took with and without them tells. Uses the
// database's thread.
#pragma once

#include "analysis/engine/calibration/calibrated_costs.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <optional>

namespace sonde::engine::calibration {

// nullopt: no probe was ever off. NotFound: the run was too short, or too noisy, to say anything.
Result<std::optional<CalibratedCosts>> calibrateInRun(const store::Database& trace);

}  // namespace sonde::engine::calibration
