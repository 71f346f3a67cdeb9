// Series of measurements that need not be independent: a slow machine is slow for a while. Blocks
// of neighbours are nearly independent. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sonde::engine::statistics {

// Computes one number for many: a mean, a median. Gets at least one value.
using Centre = std::function<double(const std::vector<double>&)>;

double mean(const std::vector<double>& values);
// The middle value, or the mean of the two in the middle. Requires: all are finite.
double median(std::vector<double> values);
// The index of the median value, of the upper one if there are two; unset: there are no values.
std::optional<std::size_t> indexOfMedian(const std::vector<std::int64_t>& values);
// The sum of squared distances from the mean, divided by the count minus one. Requires: two values.
double variance(const std::vector<double>& values);

// The number of blocks for `count` values: at least three values each; at most 20 blocks, and at
// least 2 if there are two values. More blocks would be shorter, so less independent, for little
// gain.
//
// Source: B. W. Schmeiser, "Batch size effects in the analysis of simulation output", Oper. Res. 30
// (1982): ten to thirty.
std::size_t blocksFor(std::size_t count);

// The centre of each block of neighbours; blocks differ in length by one at most.
// Requires: 0 < blocks <= values.size().
std::vector<double> blockCentres(const std::vector<double>& values,
                                 std::size_t blocks,
                                 const Centre& centre);

// The standard error of centre(values), for any centre: how much it changes when a block is left
// out. Also works for a median, where leaving out single values fails. 0 (unknown) with fewer than
// two blocks.
//
// Source: H. R. Künsch, "The jackknife and the bootstrap for general stationary observations", Ann.
// Statist. 17 (1989), with blocks that do not overlap.
double blockedError(const std::vector<double>& values, std::size_t blocks, const Centre& centre);

}  // namespace sonde::engine::statistics
