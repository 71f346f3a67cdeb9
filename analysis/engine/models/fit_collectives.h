// Fits models of collectives to measured times. Plain values; any thread.
#pragma once

#include "analysis/engine/models/collective_model.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::models {

// Collectives of the same cost. Ones that overlap are one point, with the sum of their costs.
struct CollectivePoint {
  CollectiveCost cost;
  double ns = 0;      // their typical time; more than 0
  double weight = 1;  // of this point's relative error; more than 0
  std::int64_t ranks = 0;
};

// Least squares of relative errors, no parameter below 0: α and β. Where points have several rank
// counts, callNs and payloadNs are fitted too if that predicts points better that are left out.
//
// `error` and `logError` come from leaving each point out in turn. A point without which α and β
// could not be told apart cannot be left out. Where that is true of all, both are assumed: 10 %
// and 20 % if the points determine α and β; if not, α counts as 0, and they are one half and a
// factor of 2. Requires: `points` is not empty.
CollectiveModel fitCollectives(const std::vector<CollectivePoint>& points);

}  // namespace sonde::engine::models
