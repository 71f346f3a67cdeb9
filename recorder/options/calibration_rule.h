// How the probes of a run with `--calibrate` alternate. Plain functions; any thread.
#pragma once

#include "base/result.h"
#include "collector/wire/calibration.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::recorder {

// The value of --calibrate.
struct Calibrate {
  std::uint32_t blockIterations = 0;     // 0: not given
  std::optional<std::uint32_t> without;  // these probes are off in all iterations
};

// "N", 5 or more, or "without:LIST" with names of sources.
Result<Calibrate> parseCalibrate(const std::string& text);

// `probeMask`: the probes that the run records. `job`: from JobIdentity, so that the recorders of
// all ranks get the same rule. All runs whose job is unknown have the same seed.
wire::CalibrationRule calibrationRule(const Calibrate& calibrate,
                                      std::uint32_t probeMask,
                                      std::string_view job);

}  // namespace sonde::recorder
