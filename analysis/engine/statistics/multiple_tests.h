// Corrects for many tests at once: the more tests, the more false findings. Pure functions; any
// thread.
#pragma once

#include <vector>

namespace sonde::engine::statistics {

// Raises each p-value so that, if all at or below α are called significant, the probability of any
// false finding is at most α, however the tests depend on each other. Keeps the order.
//
// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6
// (1979).
std::vector<double> holm(const std::vector<double>& p);

}  // namespace sonde::engine::statistics
