// Runs a command again and again, each time with other probes off, to find out what recording
// costs (`sonde calibrate`). Blocks until it is done; one thread.
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
  std::optional<std::string> sources;  // as of `sonde run`
  int rounds = 5;
  // With it there are fewer rounds, once CalibrationPrecision::reached is no more than it.
  std::optional<double> precision;
  Progress progress;
};

// What a calibration holds for, besides its costs.
struct CalibratedMachine {
  std::string sources;
  std::string build;
  std::string cpuModel;
};

// How well it is known what recording takes, and how well it was to be: standard errors, as shares
// of an iteration.
struct CalibrationPrecision {
  double asked = 0;
  double reached = 0;  // how far more runs would change it; of runs that tell of no probe, the
                       // error of what was known before
  bool isEnough() const noexcept { return reached <= asked; }
};

struct CalibrationOutcome {
  engine::calibration::CalibratedCosts costs;
  std::optional<CalibrationPrecision> precision;  // nothing: none was asked for
  CalibratedMachine machine;
  int rounds = 0;
  int runs = 0;
};

// Each round has a run with all probes, one without those that can be switched off, and, where
// these are several, one with each of them alone, in an order of its own. What the command prints
// goes nowhere. Io: the command failed, or was interrupted. NotFound: it tells nothing.
Result<CalibrationOutcome> calibrateByRuns(const CalibrationOptions& options);

}  // namespace sonde::recorder
