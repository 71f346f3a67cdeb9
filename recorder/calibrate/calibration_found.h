// What a run with `--calibrate` found out about itself: what recording takes of an iteration.
// Plain values and functions; reading uses the caller's thread.
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
    double ns = 0;  // of an iteration
    double errorNs = 0;
    bool found = true;  // else what was known before: the run was too noisy to know it better
  };

  std::string whyNot;      // nothing could be said; empty: it could
  double iterationNs = 0;  // with all probes, the mean
  double overheadNs = 0;   // of it, what the probes took that can be switched off
  double errorNs = 0;      // standard error
  double noiseNs = 0;      // of that, what more iterations would make smaller
  std::int64_t iterations = 0;
  std::int64_t blocks = 0;
  std::vector<Probe> probes;  // the dearest first
};

// Of a finished trace. Corrupt, Io: it cannot be read.
Result<CalibrationFound> readCalibration(const std::filesystem::path& trace);

// "recording takes 3.1 % ± 0.2 % of an iteration (torch 2.2, net 0.6)": ± what 95 % of its errors
// stay within; and of which probes it is what was known before.
std::string calibrationLine(const CalibrationFound& found);

// `{iteration_ns, overhead_ns, error_ns, noise_ns, iterations, blocks, probes[] {probe, ns,
// error_ns, found}, reason}`; numbers are null and `reason` says why where nothing could be said,
// and null elsewhere.
nlohmann::json calibrationJson(const CalibrationFound& found);

}  // namespace sonde::recorder
