// What recording costs, found out by runs of one command in each of which other probes are off
// (`sonde calibrate`). Plain values; reading a run uses the database's thread.
//
// Source: RL-Scope's delta calibration (Gleeson et al., MLSys 2021, appendix C), by iterations
// instead of whole runs, and with errors.
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

// One run: its mean iteration, without the tenth of its stretches at either end, and what recording
// it took.
struct CalibrationRun {
  std::size_t round = 0;
  std::int64_t mask = 0;  // probes that were on
  double iterationNs = 0;
  std::map<std::string, double> costNs;  // of an iteration, by probe, as far as is known now
  std::int64_t iterations = 0;
  // Of an iteration, by probe, over costNs: what its calls cost while it is off.
  std::map<std::string, double> unrecordedNs;
};

// NotFound: it made fewer than 20 iterations, or none of those counts (CostedProcess).
Result<CalibrationRun> readCalibrationRun(const store::Database& trace,
                                          const correction::CostTable& known);

// That no run of a command recorded anything that can be switched off. NotFound.
Error nothingToCalibrate();

// `runs`: of several rounds, each with the same masks. NotFound: too few of them.
Result<CalibratedCosts> calibrateRuns(const std::vector<CalibrationRun>& runs,
                                      const correction::CostTable& known);

}  // namespace sonde::engine::calibration
