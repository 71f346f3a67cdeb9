// The outcome of a calibration: what it costs to record each kind of event. Plain values.
#pragma once

#include "analysis/engine/calibration/regression.h"
#include "analysis/engine/correction/cost_table.h"
#include "analysis/store/database.h"
#include "base/result.h"

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
  double noiseNs = 0;          // of that, what more iterations would make smaller
  std::int64_t iterations = 0;
  std::int64_t blocks = 0;
  struct Share {
    std::string probe;
    double ns = 0;
    double errorNs = 0;
    bool found = true;  // else it is what was known before, since the calibration knew it no better
  };
  std::vector<Share> shares;  // of overheadNs
};

// What a probe's recording takes of a mean iteration with all probes, as far as is known now: what
// goes with it when it is switched off, and what its calls cost all the same.
struct ProbeCost {
  std::string probe;
  double recordedNs = 0;
  double unrecordedNs = 0;
};

// Of what a row costs, the share that it costs while its probe is off. At most 0.95.
double unrecordedShare(const correction::MeasuredCost& row) noexcept;

// What `probes` cost is what `known` says, times what the regression found of what can be switched
// off; of those that it knows no better than `known` there are no rows, their share is as known,
// and the others are what they are given that.
CalibratedCosts applyFactors(const correction::CostTable& known,
                             const std::vector<ProbeCost>& probes,
                             const Factors& factors,
                             std::string_view method);

// How well the factors of `probes` are known before: the errors of their costs, many times over,
// since what loops say, or other machines, is of the right order at best.
PriorErrors priorsOf(const correction::CostTable& known, const std::vector<std::string>& probes);

// The trace's meta.calibrated, but for `costs`: `{iteration_ns, overhead_ns, error_ns, noise_ns,
// iterations, blocks, probes[] {probe, ns, error_ns, found}}`.
std::string textOf(const CalibratedCosts& costs);

// Appends them to the trace's tables `overhead` and `overhead_covariance`.
Result<void> storeCosts(store::Database& trace, const CalibratedCosts& costs);

}  // namespace sonde::engine::calibration
