// Expresses the errors of recording costs as a few independent causes. Pure functions.
#pragma once

#include "analysis/engine/correction/cost_table.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::correction {

// One standard error of one cause: the relative change of each cost, by index in
// CostTable::costs().
using ErrorMode = std::vector<double>;

inline constexpr std::size_t kMostModes = 3;

// `events`: the number of events by cost index. Ranks causes by their effect on the sum of all
// costs. The largest stand alone and the rest is joined, kMostModes in total. So the error of each
// probe's costs and that of the sum are preserved.
//
// Costs measured in a run have errors of their own per process. Costs from loops and assumed costs
// are equally wrong in all processes.
std::vector<ErrorMode> errorModes(const CostTable& costs, const std::vector<std::int64_t>& events);

// costs.costs() after a change by `size` times `mode`.
std::vector<EventCost> costsWith(const CostTable& costs, const ErrorMode& mode, double size);

}  // namespace sonde::engine::correction
