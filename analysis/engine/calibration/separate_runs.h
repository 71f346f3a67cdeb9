// Finds the cost of recording from several runs of one command, with different probes off in each
// (`sonde calibrate`). Plain values; reading a run uses the database's thread.
//
// Source: RL-Scope's delta calibration (Gleeson et al., MLSys 2021, appendix C), but with
// iterations instead of whole runs, and with errors.
#pragma once

#include "analysis/engine/calibration/calibrated_costs.h"
#include "analysis/engine/correction/cost_table.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::engine::calibration {

// One run: its mean iteration after trimming a tenth of its stretches at either end, and the cost
// of recording in it.
struct CalibrationRun {
  std::size_t round = 0;
  std::int64_t mask = 0;  // those that were on
  double iterationNs = 0;
  std::map<std::string, double> costNs;  // of an iteration, by probe, as far as is known now
  std::int64_t iterations = 0;
  // By probe, relative to costNs of an iteration: the cost of its calls while it is off.
  std::map<std::string, double> unrecordedNs;
};

// NotFound: the run made fewer than 20 iterations, or none of them counts (CostedProcess).
Result<CalibrationRun> readCalibrationRun(const store::Database& trace,
                                          const correction::CostTable& known);

// NotFound: no run of a command recorded anything that can be switched off.
Error nothingToCalibrate();

// `runs`: several rounds, each with the same masks. NotFound: too few of them.
Result<CalibratedCosts> calibrateRuns(const std::vector<CalibrationRun>& runs,
                                      const correction::CostTable& known);

}  // namespace sonde::engine::calibration
