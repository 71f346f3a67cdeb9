// Runs a command repeatedly, each time with other probes off, to measure the cost of recording
// (`sonde calibrate`). Blocks until it is done; one thread.
#pragma once

#include "analysis/engine/calibration/calibrated_costs.h"
#include "base/progress.h"
#include "base/result.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

struct CalibrationOptions {
  std::vector<std::string> command;
  std::optional<std::string> sources;  // as for `sonde run`
  int rounds = 5;
  // If set, stops before all rounds are done once CalibrationPrecision::reached is at most this.
  std::optional<double> precision;
  Progress progress;
};

// The conditions for which a calibration is valid, besides its costs.
struct CalibratedMachine {
  std::string sources;
  std::string build;
  std::string cpuModel;
};

// The precision of the cost, reached and requested: standard errors, as shares of an iteration.
struct CalibrationPrecision {
  double asked = 0;
  double reached = 0;  // how much more runs could change it; if they measured no probe, the
                       // error of the earlier estimate
  bool isEnough() const noexcept { return reached <= asked; }
};

struct CalibrationOutcome {
  engine::calibration::CalibratedCosts costs;
  std::optional<CalibrationPrecision> precision;  // unset: none was requested
  CalibratedMachine machine;
  int rounds = 0;
  int runs = 0;
};

// Each round has one run with all probes, one with all maskable probes off and, if there are
// several, one run per maskable probe with only that one on, in a random order. The command's
// output is discarded. Io: the command failed, or was interrupted. NotFound: the runs give no
// result.
Result<CalibrationOutcome> calibrateByRuns(const CalibrationOptions& options);

}  // namespace sonde::recorder
