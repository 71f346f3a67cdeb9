// What `sonde calibrate -o FILE` writes, and other verbs take with --overhead: what recording
// costs, and what that holds for. Plain functions; any thread.
#pragma once

#include "analysis/engine/correction/cost_table.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "recorder/calibrate/calibration_runs.h"

#include <string>
#include <vector>

namespace sonde::cli {

std::string costFileOf(const recorder::CalibrationOutcome& outcome);

// Io, Corrupt: the file cannot be read, or is none of these, with its name and what was expected.
// InvalidArgument: it was measured with other probes, another build or another processor than
// `trace`.
Result<engine::correction::CostSet> readCostFile(const std::string& path,
                                                 const store::Database& trace);

}  // namespace sonde::cli
