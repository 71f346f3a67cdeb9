// How much later the last of more ranks comes to a collective, since their work varies by chance.
// Free functions.
#pragma once

#include "analysis/engine/whatif/scenario.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

// Draws from normal distributions with this mean.
struct Draws {
  double mean = 0;
  std::int64_t count = 1;
};
// The expected largest of all draws, whose standard deviation is `deviation`. Requires: a draw.
double expectedMaximum(const std::vector<Draws>& draws, double deviation);

// Delays the arrivals at each meeting of all `ranks`, so that it waits for the expected last of
// `count` ranks in place of that of `ranks`. A rank's arrivals at the n-th meetings of iterations
// count as normal, around a mean of its own; all ranks have the standard deviation that remains.
void addArrivalSpread(Scenario& scenario,
                      const std::vector<std::int64_t>& ranks,
                      std::int64_t count,
                      std::vector<std::string>& notes);

}  // namespace sonde::engine::whatif
