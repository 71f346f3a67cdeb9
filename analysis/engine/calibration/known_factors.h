// Factors of which some are not to be learnt. Pure functions; any thread.
#pragma once

#include "analysis/engine/calibration/regression.h"

#include <optional>
#include <vector>

namespace sonde::engine::calibration {

// What the others are if some are taken to be 1, with the standard errors that `known` has for
// them: what probes cost together is often known far better than how it is shared, so that what one
// of them is not found to cost is found of the others. `known`: by probe; nullopt: to be learnt.
Factors given(const Factors& factors, const std::vector<std::optional<double>>& known);

}  // namespace sonde::engine::calibration
