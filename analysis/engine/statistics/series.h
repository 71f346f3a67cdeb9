// Values that were measured one after the other and need not be independent: a slow machine is slow
// for a while. Cut into blocks of neighbours, the blocks are nearly so. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace sonde::engine::statistics {

// What one number stands for many: a mean, a median. Given at least one value.
using Centre = std::function<double(const std::vector<double>&)>;

double mean(const std::vector<double>& values);
// The middle value, or the mean of the two in the middle. Requires: all are finite.
double median(std::vector<double> values);
// The sum of squared distances from the mean, over one less than the count. Requires: two values.
double variance(const std::vector<double>& values);

// How many blocks `count` values are worth: three or more values each, at most 20, at least 2 where
// there are two values. More blocks would be shorter, and so less independent, for little gain.
//
// Source: B. W. Schmeiser, "Batch size effects in the analysis of simulation output", Oper. Res. 30
// (1982): ten to thirty.
std::size_t blocksFor(std::size_t count);

// The centre of each block of neighbours; blocks differ in length by one at most.
// Requires: 0 < blocks <= values.size().
std::vector<double> blockCentres(const std::vector<double>& values,
                                 std::size_t blocks,
                                 const Centre& centre);

// The standard error of centre(values), whatever centre it is: by how much it moves when a block is
// left out. Also of a median, where leaving out single values would not do. 0 with fewer than two
// blocks: it is not known.
//
// Source: H. R. Künsch, "The jackknife and the bootstrap for general stationary observations", Ann.
// Statist. 17 (1989), with blocks that do not overlap.
double blockedError(const std::vector<double>& values, std::size_t blocks, const Centre& centre);

}  // namespace sonde::engine::statistics
