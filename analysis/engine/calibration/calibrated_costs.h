// The outcome of a calibration: what it costs to record each kind of event. Plain values.
#pragma once

#include "analysis/base/result.h"
#include "analysis/engine/calibration/regression.h"
#include "analysis/engine/correction/cost_table.h"
#include "analysis/store/database.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::calibration {

struct CalibratedCosts {
  correction::CostSet costs;
  double iterationNs = 0;      // with all probes, the mean
  double overheadNs = 0;       // of it, what recording took
  double overheadErrorNs = 0;  // standard error
  std::int64_t iterations = 0;
  std::int64_t blocks = 0;
  struct Share {
    std::string probe;
    double ns = 0;
    double errorNs = 0;
  };
  std::vector<Share> shares;  // of overheadNs
};

// What `probes` cost is what `known` says times what the regression found, and what a call costs
// that is not recorded. `recordedNs`: by probe,
// what they cost in an iteration with all probes, as `known` has it.
CalibratedCosts applyFactors(const correction::CostTable& known,
                             const std::vector<std::string>& probes,
                             const std::vector<double>& recordedNs,
                             const Factors& factors,
                             std::string_view method);

// How well the factors of `probes` are known before: the errors of their costs, many times over,
// since what loops say, or other machines, is of the right order at best.
PriorErrors priorsOf(const correction::CostTable& known, const std::vector<std::string>& probes);

// The trace's meta.calibrated, but for `costs`: `{iteration_ns, overhead_ns, error_ns, iterations,
// blocks, probes[] {probe, ns, error_ns}}`.
std::string textOf(const CalibratedCosts& costs);

// Appends them to the trace's tables `overhead` and `overhead_covariance`.
Result<void> storeCosts(store::Database& trace, const CalibratedCosts& costs);

}  // namespace sonde::engine::calibration
