// The question how long an iteration would take on another GPU. Free functions.
#pragma once

#include "analysis/engine/models/kernels/device_peaks.h"
#include "analysis/engine/whatif/question.h"

#include <optional>

namespace sonde::engine::whatif {

struct OtherDevice {
  std::optional<double> bandwidth = {};       // how many times as fast its memory is
  std::optional<double> flops = {};           // and its arithmetic
  const models::DevicePeaks* from = nullptr;  // the present one; nullptr: by its name in the trace
  const models::DevicePeaks* to = nullptr;    // nullptr: only the factors change it
  bool isOfModels = false;  // Asking::models have its kernels, instead of all above
};

// Kernels take another time by wave scaling (wave_scaling.h): by the intensity of operators whose
// sizes were recorded, else by their class: products of matrices follow arithmetic, others memory.
// The time of the shortest kernels is a fixed part that stays. With models a kernel takes as many
// times as long as the models say of its operator, those of unknown sizes as others of their class.
// Models whose error is assumed are not used. Copies, collectives and the host stay.
//
// NotFound: the trace has no kernels, or its device is unknown and `to` needs its peaks, or its
// operators are none of those that the models know. InvalidArgument: a factor is not above 0, or
// there are no models.
Question device(OtherDevice of);

}  // namespace sonde::engine::whatif
