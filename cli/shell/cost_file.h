// The file of `sonde calibrate -o FILE`, which other verbs read with --overhead: the cost of
// recording, and the setup for which it holds. Plain functions; any thread.
#pragma once

#include "analysis/engine/correction/cost_table.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "recorder/calibrate/calibration_runs.h"

#include <string>
#include <vector>

namespace sonde::cli {

std::string costFileOf(const recorder::CalibrationOutcome& outcome);

// Io, Corrupt: the file cannot be read or is not such a file; the message has its name and the
// expected content. InvalidArgument: it was measured with other probes, another build or another
// processor than `trace`.
Result<engine::correction::CostSet> readCostFile(const std::string& path,
                                                 const store::Database& trace);

}  // namespace sonde::cli
