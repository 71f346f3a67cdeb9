// How long collectives take by their size and number of ranks: a model that is linear in their
// costs, how wrong it was on collectives that it was not fitted to, and an interval. Plain values;
// any thread.
#pragma once

#include "analysis/engine/models/collective_cost.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sonde::engine::models {

// How wrong the model was at a size of a rank count that was left out of the fit.
struct SizeError {
  double payload = 0;
  double logError = 0;  // |ln(modelled / measured)|
};

// The α–β model of a ring has stepNs and byteNs alone. Models of several rank counts may have the
// other two as well.
struct CollectiveModel {
  double stepNs = 0;     // α, of a step
  double byteNs = 0;     // β, of a byte that a rank sends
  double callNs = 0;     // of a call, however many ranks it has
  double payloadNs = 0;  // of a byte of the buffer, however many ranks there are

  double error = 0;              // mean relative error at points that were held out
  double logError = 0;           // nine in ten such points have a smaller |ln(modelled / measured)|
  bool isErrorMeasured = false;  // or `error` and `logError` are assumed: too few points
  std::int64_t sizes = 0;        // points with different costs

  // Where the model was fitted.
  double leastPayload = 0;
  double mostPayload = 0;
  std::set<std::int64_t> ranks;
  std::vector<SizeError> otherRanks;  // by payload; empty: all points have the same rank count

  double ns(const CollectiveCost& cost) const noexcept {
    return stepNs * cost.steps + byteNs * cost.bytes + callNs * cost.calls +
           payloadNs * cost.payload;
  }
  double ns(const std::string& op, std::int64_t bytes, std::int64_t ofRanks) const {
    return ns(costOf(op, bytes, ofRanks));
  }
  // r, where the time is expected between ns / (1 + r) and ns * (1 + r) in nine of ten cases. Wider
  // outside of the fitted sizes unless the error is assumed, and for rank counts that the model was
  // not fitted to.
  double interval(std::int64_t bytes, std::int64_t ofRanks) const;
};

}  // namespace sonde::engine::models
