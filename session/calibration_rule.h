// How the probes of a run with `--calibrate` take turns. A plain function; any thread.
#pragma once

#include "collector/wire/calibration.h"

#include <cstdint>
#include <string_view>

namespace sonde::session {

// `blockIterations`: 0 where the run is not asked to; `probeMask`: what it records; `job`: as
// JobIdentity has it, so that the recorders of all ranks come to the same. All runs of which no job
// is known have one seed.
wire::CalibrationRule calibrationRule(std::uint32_t blockIterations,
                                      std::uint32_t probeMask,
                                      std::string_view job);

}  // namespace sonde::session
