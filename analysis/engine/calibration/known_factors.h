// Conditions factors on some that cannot be learnt. Pure functions; any thread.
#pragma once

#include "analysis/engine/calibration/regression.h"

#include <optional>
#include <vector>

namespace sonde::engine::calibration {

// Takes some factors to be 1, with the standard errors in `known`, and returns the others given
// that. The probes' joint cost is often known far better than each one's share, so a cost that one
// probe does not get moves to the others. `known`: by probe; nullopt: to be learnt.
Factors given(const Factors& factors, const std::vector<std::optional<double>>& known);

}  // namespace sonde::engine::calibration
