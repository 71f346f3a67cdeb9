// Finds the cost of recording from the recorded run itself. With `sonde run --calibrate` probes are
// off in blocks of iterations; the times with and without them differ by the cost. Uses the
// database's thread.
#pragma once

#include "analysis/engine/calibration/calibrated_costs.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <optional>

namespace sonde::engine::calibration {

// nullopt: no probe was ever off. NotFound: the run was too short or too noisy for a result.
Result<std::optional<CalibratedCosts>> calibrateInRun(const store::Database& trace);

}  // namespace sonde::engine::calibration
