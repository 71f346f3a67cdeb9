// The result of a calibration: what it costs to record each kind of event. Plain values.
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
  double overheadNs = 0;       // part of it that recording took
  double overheadErrorNs = 0;  // standard error
  double noiseNs = 0;          // part of the error that more iterations would reduce
  std::int64_t iterations = 0;
  std::int64_t blocks = 0;
  struct Share {
    std::string probe;
    double ns = 0;
    double errorNs = 0;
    bool found = true;  // false: what was known before, since the calibration is no better
  };
  std::vector<Share> shares;  // of overheadNs
};

// The time that a probe's recording takes of a mean iteration with all probes, as known so far:
// `recordedNs` disappears when it is switched off, `unrecordedNs` remains.
struct ProbeCost {
  std::string probe;
  double recordedNs = 0;
  double unrecordedNs = 0;
};

// The share of a row's cost that remains while its probe is off. At most 0.95.
double unrecordedShare(const correction::MeasuredCost& row) noexcept;

// Multiplies the costs in `known` of `probes` by the factors of the regression, as far as they can
// be switched off. If the regression is no better than `known` for a probe, it gets no rows, its
// share stays as known, and the factors of the others are conditioned on that.
CalibratedCosts applyFactors(const correction::CostTable& known,
                             const std::vector<ProbeCost>& probes,
                             const Factors& factors,
                             std::string_view method);

// How well the factors of `probes` are known in advance: the errors of their costs, enlarged, since
// results of loops or of other machines have the right order of magnitude at best.
PriorErrors priorsOf(const correction::CostTable& known, const std::vector<std::string>& probes);

// The trace's meta.calibrated, without `costs`: `{iteration_ns, overhead_ns, error_ns, noise_ns,
// iterations, blocks, probes[] {probe, ns, error_ns, found}}`.
std::string textOf(const CalibratedCosts& costs);

// Appends the costs to the trace's tables `overhead` and `overhead_covariance`.
Result<void> storeCosts(store::Database& trace, const CalibratedCosts& costs);

}  // namespace sonde::engine::calibration
