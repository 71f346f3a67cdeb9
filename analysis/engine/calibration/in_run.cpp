#include "analysis/engine/calibration/in_run.h"

#include "analysis/engine/calibration/iteration_costs.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::calibration {
namespace {

using correction::CostTable;

// This many blocks share a level and a slope: few enough that a machine's drift in them is linear,
// enough that each kind of block occurs.
constexpr std::size_t kBlocksOfStretch = 8;
constexpr std::size_t kFewestOfBlock = 3;  // iterations after the first; else the run ended in it

// The probes that were off in some iteration and on in others: places in `costs.probes`.
std::vector<std::size_t> switchedProbes(const IterationCosts& costs) {
  std::vector<std::size_t> switched;
  for (std::size_t at = 0; at < costs.probes.size(); ++at) {
    bool wasOn = false;
    bool wasOff = false;
    for (const CostedProcess& process : costs.processes)
      for (const CostedIteration& each : process.iterations)
        (isOn(costs.probes[at], each) ? wasOn : wasOff) = true;
    if (wasOn && wasOff)
      switched.push_back(at);
  }
  return switched;
}

class Observer {
 public:
  Observer(const IterationCosts& costs, std::vector<std::size_t> switched)
      : costs_(costs), switched_(std::move(switched)), sums_(switched_.size(), 0) {
    for (const CostedProcess& process : costs.processes)
      observe(process);
  }

  const std::vector<Observation>& observations() const { return observations_; }
  std::size_t iterations() const { return iterations_; }
  bool sawAll() const { return full_ > 0; }
  // Means over iterations with all probes.
  double meanDuration() const { return duration_ / static_cast<double>(full_); }
  std::vector<ProbeCost> meanCosts() const {
    std::vector<ProbeCost> means;
    for (std::size_t at = 0; at < switched_.size(); ++at) {
      const double ns = sums_[at] / static_cast<double>(full_);
      means.push_back({costs_.probes[switched_[at]], ns, ns * costs_.unrecorded[switched_[at]]});
    }
    return means;
  }

 private:
  using Stretch = std::span<const CostedIteration>;

  void observe(const CostedProcess& process) {
    const std::vector<CostedIteration>& all = process.iterations;
    if (all.empty())
      return;
    // A last stretch of a few blocks would fit anything: they join the one before.
    const std::size_t blocks = all.back().block - all.front().block + 1;
    const std::size_t most =
        std::max<std::size_t>((blocks + kBlocksOfStretch / 2) / kBlocksOfStretch, 1);
    const auto stretchOf = [&](const CostedIteration& each) {
      return std::min((each.block - all.front().block) / kBlocksOfStretch, most - 1);
    };
    for (std::size_t first = 0; first < all.size(); ++stretches_) {
      std::size_t last = first;
      while (last < all.size() && stretchOf(all[last]) == stretchOf(all[first]))
        ++last;
      observe(Stretch(all).subspan(first, last - first), process.fullMask);
      first = last;
    }
  }

  // All iterations of a stretch get the mean recorded cost of its iterations with all probes. An
  // iteration with more work records more, and would count as if recording made it longer.
  void observe(Stretch stretch, std::int64_t fullMask) {
    std::vector<double> mean(switched_.size(), 0);
    std::size_t count = 0;
    for (const CostedIteration& each : stretch) {
      if (each.mask != fullMask)
        continue;
      ++count;
      duration_ += each.durationNs();
      for (std::size_t at = 0; at < switched_.size(); ++at)
        mean[at] += each.costNs[switched_[at]];
    }
    if (count == 0)
      return;
    full_ += count;
    for (std::size_t at = 0; at < switched_.size(); ++at) {
      sums_[at] += mean[at];
      mean[at] /= static_cast<double>(count);
    }
    for (std::size_t first = 0; first < stretch.size();) {
      std::size_t last = first;
      while (last < stretch.size() && stretch[last].block == stretch[first].block)
        ++last;
      if (last - first >= kFewestOfBlock)
        observeBlock(stretch.subspan(first, last - first), mean);
      first = last;
    }
  }

  // Observes the block's mean: some iterations take far longer than most, and recording's part of
  // that belongs to its cost. The regression would discard single long iterations as disturbances.
  void observeBlock(Stretch block, const std::vector<double>& costNs) {
    Observation observation{0, costNs, stretches_, block.front().block};
    for (const CostedIteration& each : block)
      observation.durationNs += each.durationNs() / static_cast<double>(block.size());
    for (std::size_t at = 0; at < switched_.size(); ++at)
      if (!isOn(costs_.probes[switched_[at]], block.front()))
        observation.costNs[at] = 0;
    observations_.push_back(std::move(observation));
    iterations_ += block.size();
  }

  const IterationCosts& costs_;
  std::vector<std::size_t> switched_;
  std::vector<Observation> observations_;
  std::size_t stretches_ = 0;
  std::size_t iterations_ = 0;
  std::size_t full_ = 0;  // iterations with all probes, and sums over them
  double duration_ = 0;
  std::vector<double> sums_;
};

bool wereProbesOff(const IterationCosts& costs) {
  return std::any_of(costs.processes.begin(), costs.processes.end(), [](const auto& process) {
    return std::any_of(process.iterations.begin(),
                       process.iterations.end(),
                       [&](const CostedIteration& each) { return each.mask != process.fullMask; });
  });
}

}  // namespace

Result<std::optional<CalibratedCosts>> calibrateInRun(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t masks,
                   trace.queryInteger("SELECT count(DISTINCT probe_mask) FROM iteration "
                                      "WHERE probe_mask <> 0"));
  if (masks < 2)
    return std::optional<CalibratedCosts>();
  SONDE_TRY_ASSIGN(const CostTable known, CostTable::read(trace));
  SONDE_TRY_ASSIGN(const IterationCosts costs, readIterationCosts(trace, known));
  if (!wereProbesOff(costs))
    return std::optional<CalibratedCosts>();
  const std::vector<std::size_t> switched = switchedProbes(costs);
  const Observer observer(costs, switched);
  if (switched.empty())
    return Error{ErrorCode::NotFound, "none of the switched probes recorded anything"};
  if (!observer.sawAll())
    return Error{ErrorCode::NotFound,
                 "no iteration had all probes on: record more iterations, or use smaller blocks "
                 "(--calibrate=N)"};
  std::vector<std::string> probes;
  for (const std::size_t at : switched)
    probes.push_back(costs.probes[at]);
  SONDE_TRY_ASSIGN(const Factors factors,
                   fitFactors(observer.observations(), Trend::Slope, priorsOf(known, probes)));
  CalibratedCosts result =
      applyFactors(known, observer.meanCosts(), factors, correction::method::kInRun);
  result.iterations = static_cast<std::int64_t>(observer.iterations());
  result.iterationNs = observer.meanDuration();
  return std::optional(std::move(result));
}

}  // namespace sonde::engine::calibration
