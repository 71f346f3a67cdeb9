// The errors of what recording costs, as few independent causes. Pure functions.
#pragma once

#include "analysis/engine/correction/cost_table.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::correction {

// A relative change of each cost, by its index in CostTable::costs(): one standard error of one
// cause.
using ErrorMode = std::vector<double>;

inline constexpr std::size_t kMostModes = 3;

// `events`: by index, how many there are. The largest causes of what the errors do to the sum of
// all costs are by themselves, the rest is taken together: so that the error of each probe's costs,
// and that of the sum, are what they are; kMostModes at most.
//
// What was measured in a run has the errors of its processes; what loops have shown, or is assumed,
// is as wrong in one as in the other.
std::vector<ErrorMode> errorModes(const CostTable& costs, const std::vector<std::int64_t>& events);

// costs.costs() when `size` times `mode` has happened.
std::vector<EventCost> costsWith(const CostTable& costs, const ErrorMode& mode, double size);

}  // namespace sonde::engine::correction
