#include "rules/builtin/runs/runs_rules.h"
#include "rules/builtin/series.h"
#include "rules/builtin/training/tensor_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::rules {
namespace {

constexpr int kBins = 10;
// Stands in for the share of an empty bin, whose logarithm has no value.
constexpr double kLeastShare = 1e-4;

// All finite elements of the recordings of a tensor.
struct Distribution {
  std::map<double, double> counts;  // elements from each end to the next one, by end
  double elements = 0;
  double zeros = 0;
  double sum = 0;
  double squares = 0;

  double mean() const { return sum / elements; }
  double variance() const { return std::max(0.0, squares / elements - mean() * mean()); }
  double zeroShare() const { return zeros / elements; }
  // The end of the bucket with the middle element.
  double median() const {
    double below = 0;
    for (const auto& [end, count] : counts)
      if ((below += count) >= elements / 2)
        return end;
    return 0;
  }
};

// False: the recording has no histogram, or not one of the documented form.
bool add(const TensorFact& fact, Distribution& into) {
  const auto buckets = nlohmann::json::parse(fact.histogram, nullptr, false);
  if (!buckets.is_array() || buckets.empty() || !fact.mean || !fact.variance)
    return false;
  for (const auto& bucket : buckets)
    if (!bucket.is_array() || bucket.size() != 2 || !bucket[0].is_number() ||
        !bucket[1].is_number())
      return false;
  for (const auto& bucket : buckets)
    into.counts[bucket[0].get<double>()] += bucket[1].get<double>();
  const auto finite = static_cast<double>(fact.finite());
  into.elements += finite;
  into.zeros += static_cast<double>(fact.zeros);
  into.sum += finite * *fact.mean;
  into.squares += finite * (*fact.variance + *fact.mean * *fact.mean);
  return true;
}

// The lower ends of bins that each hold about a tenth of the reference, the first from −∞. Buckets
// are not divided, so that both sides count the same elements in a bin.
std::vector<double> binsOf(const Distribution& reference) {
  std::vector<double> ends;
  double below = 0;
  for (const auto& [end, count] : reference.counts) {
    if (below >= reference.elements * static_cast<double>(ends.size() + 1) / kBins)
      ends.push_back(end);
    below += count;
  }
  return ends;
}

std::vector<double> sharesOf(const Distribution& distribution, const std::vector<double>& bins) {
  std::vector<double> shares(bins.size() + 1, 0);
  double all = 0;
  for (const auto& [end, count] : distribution.counts) {
    const auto bin = std::upper_bound(bins.begin(), bins.end(), end) - bins.begin();
    shares[static_cast<std::size_t>(bin)] += count;
    all += count;
  }
  for (double& each : shares)
    each = std::max(kLeastShare, all > 0 ? each / all : 0);
  return shares;
}

double stabilityIndex(const Distribution& reference, const Distribution& now) {
  const std::vector<double> bins = binsOf(reference);
  const std::vector<double> before = sharesOf(reference, bins);
  const std::vector<double> after = sharesOf(now, bins);
  double index = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    index += (after[i] - before[i]) * std::log(after[i] / before[i]);
  return index;
}

struct Drift {
  std::string tensor;
  Distribution before;
  Distribution now;
  double index = -1;
};

std::optional<Drift> driftOf(const SelectedTensor& tensor,
                             const MatchedProcess& processes,
                             double leastElements) {
  Drift drift;
  drift.tensor = nameOf(*tensor.series);
  for (const TensorFact& fact : tensor.values)
    add(fact, drift.now);
  for (const EarlierProcess& earlier : processes.before) {
    const ProcessView view(*earlier.process);
    for (const TensorSeries& series : earlier.process->tensors)
      if (series.name == tensor.series->name && series.collection == tensor.series->collection)
        for (const TensorFact& fact : view.of(series))
          add(fact, drift.before);
  }
  if (std::min(drift.now.elements, drift.before.elements) < std::max(leastElements, 1.0))
    return std::nullopt;
  drift.index = stabilityIndex(drift.before, drift.now);
  return drift;
}

Result<std::vector<Finding>> judgeDriftOfRun(Facts& facts, const Parameters& parameters) {
  return judgeMatched(
      facts, [&](const MatchedProcess& each) { return judgeInputDrift(each, parameters); });
}

}  // namespace

Outcome judgeInputDrift(const MatchedProcess& processes, const Parameters& parameters) {
  const ProcessView view(*processes.now);
  const auto selected = selectedTensors(view, parameters);
  if (selected.empty())
    return tensorsMissing(view, parameters);
  const std::int64_t least = parameters.integer("min_elements");
  Drift worst;
  std::int64_t compared = 0;
  for (const SelectedTensor& each : selected)
    if (auto drift = driftOf(each, processes, static_cast<double>(least))) {
      ++compared;
      if (drift->index > worst.index)
        worst = *std::move(drift);
    }
  Outcome outcome = outcomeOf(selected);
  outcome.threshold = parameters.real("threshold");
  if (compared == 0) {
    outcome.message = fmt::format(
        "none of {} tensors has histograms of {} elements in both runs: record the same inputs in "
        "both, in more iterations",
        selected.size(),
        least);
    return outcome;
  }
  outcome.verdict = worst.index > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.value = worst.index;
  outcome.evidence = {{"tensor", worst.tensor},
                      {"compared", compared},
                      {"mean_before", worst.before.mean()},
                      {"mean", worst.now.mean()},
                      {"variance_before", worst.before.variance()},
                      {"variance", worst.now.variance()},
                      {"median_before", worst.before.median()},
                      {"median", worst.now.median()},
                      {"zeros_before", worst.before.zeroShare()},
                      {"zeros", worst.now.zeroShare()}};
  outcome.message = fmt::format(
      "{} {} a population stability index of {:.3g}: mean {:.3g} instead of {:.3g}, variance "
      "{:.3g} instead of {:.3g}, {:.3g} % zeros instead of {:.3g} %",
      worst.tensor,
      worst.index > *outcome.threshold ? "drifted, with" : "has",
      worst.index,
      worst.now.mean(),
      worst.before.mean(),
      worst.now.variance(),
      worst.before.variance(),
      100 * worst.now.zeroShare(),
      100 * worst.before.zeroShare());
  return outcome;
}

RuleInfo inputDrift() {
  RuleInfo info;
  info.name = "input-drift";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.runsByItself = RunsByItself::WithBaseline;
  info.summary = "inputs have another distribution than in the reference run";
  info.details =
      "Adds up the histograms of each input over all iterations of this run (p), and over those "
      "of\n"
      "the runs of --baseline (q), in bins that each hold about a tenth of q. Fires if the\n"
      "population stability index, the sum of (p - q) ln(p / q) over the bins, is above\n"
      "`threshold` (N. Siddiqi, Credit Risk Scorecards, 2006). A baseline file has no tensors.";
  info.needs = "tensor";
  info.hint = "compare preprocessing, normalisation, order and source of the data of both runs";
  info.parameters = tensorParameters("inputs");
  info.parameters.push_back(
      {"threshold", 0.2, "largest healthy population stability index", 0, 100});
  info.parameters.push_back({"min_elements",
                             std::int64_t{1000},
                             "with fewer elements in either run the verdict is insufficient",
                             1,
                             1e15});
  info.judge = JobJudge(judgeDriftOfRun);
  return info;
}

}  // namespace sonde::rules
