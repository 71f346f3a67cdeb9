// The results of a run with `--calibrate`: the cost of recording per iteration. Plain values and
// functions; reading uses the caller's thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sonde::recorder {

struct CalibrationFound {
  struct Probe {
    std::string name;
    double ns = 0;  // per iteration
    double errorNs = 0;
    bool found = true;  // false: an earlier estimate, because the run was too noisy to improve it
  };

  std::string whyNot;      // why there is no result; empty: there is one
  double iterationNs = 0;  // mean, with all probes
  double overheadNs = 0;   // the part of it that the maskable probes took
  double errorNs = 0;      // standard error
  double noiseNs = 0;      // the part of errorNs that more iterations would reduce
  std::int64_t iterations = 0;
  std::int64_t blocks = 0;
  std::vector<Probe> probes;  // the most expensive first
};

// Reads them from a finished trace. Corrupt, Io: it cannot be read.
Result<CalibrationFound> readCalibration(const std::filesystem::path& trace);

// "recording takes 3.1 % ± 0.2 % of an iteration (torch 2.2, net 0.6)". ± covers 95 % of the
// errors. Also names the probes whose cost is an earlier estimate.
std::string calibrationLine(const CalibrationFound& found);

// `{iteration_ns, overhead_ns, error_ns, noise_ns, iterations, blocks, probes[] {probe, ns,
// error_ns, found}, reason}`. Without a result the numbers are null and `reason` explains it;
// otherwise `reason` is null.
nlohmann::json calibrationJson(const CalibrationFound& found);

}  // namespace sonde::recorder
