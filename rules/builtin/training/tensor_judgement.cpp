#include "rules/builtin/training/tensor_judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::rules {
namespace {

bool isMissing(const std::optional<double>& statistic) {
  return !statistic || !std::isfinite(*statistic);
}

// Requires: not empty.
const TensorJudgement& worstOf(const std::vector<TensorJudgement>& found, TensorState state) {
  const TensorJudgement* worst = nullptr;
  for (const TensorJudgement& each : found)
    if (each.state == state && (worst == nullptr || each.rank > worst->rank))
      worst = &each;
  return *worst;
}

std::int64_t countOf(const std::vector<TensorJudgement>& found, TensorState state) {
  return std::count_if(
      found.begin(), found.end(), [&](const auto& each) { return each.state == state; });
}

void describe(Outcome& outcome, const TensorJudgement& worst, std::int64_t affected) {
  outcome.message = worst.text;
  outcome.value = worst.value;
  outcome.threshold = worst.threshold;
  outcome.evidence = {{"tensor", worst.series->name},
                      {"collection", worst.series->collection},
                      {"iteration", worst.at->iteration},
                      {"tensors", affected}};
  outcome.time = TimeRange{worst.at->tsNs, worst.at->tsNs};
}

}  // namespace

TensorJudgement unknown(const TensorSeries& series, const TensorFact& at, const std::string& why) {
  TensorJudgement judgement;
  judgement.state = TensorState::Unknown;
  judgement.series = &series;
  judgement.at = &at;
  judgement.text = fmt::format("{} {}", nameOf(series), why);
  return judgement;
}

TensorJudgement tooRare(const TensorSeries& series, const TensorFact& at, const std::string& why) {
  TensorJudgement judgement =
      unknown(series, at, why + ": record it more often (every = N in the --tensors file)");
  judgement.lacksInput = true;
  return judgement;
}

TensorJudgement notSaved(const TensorSeries& series, const TensorFact& at) {
  TensorJudgement judgement = unknown(
      series, at, "cannot be judged by its statistics: set save = true in the --tensors file");
  judgement.lacksInput = true;
  return judgement;
}

std::optional<TensorJudgement> unjudgeable(const TensorSeries& series, const TensorFact& at) {
  if (at.nans + at.infs > 0)
    return unknown(series,
                   at,
                   fmt::format("has {} NaN and {} infinite of {} elements in iteration {}, so the "
                               "others do not count: see exploding-tensor",
                               at.nans,
                               at.infs,
                               at.elements,
                               at.iteration));
  if (isMissing(at.minimum) || isMissing(at.maximum) || isMissing(at.mean) ||
      isMissing(at.variance) || !std::isfinite(at.l1) || !std::isfinite(at.l2))
    return unknown(series,
                   at,
                   fmt::format("has statistics that are not finite in iteration {}: its elements "
                               "are too large",
                               at.iteration));
  return std::nullopt;
}

Outcome conclude(const std::vector<SelectedTensor>& tensors, std::vector<TensorJudgement> found) {
  Outcome outcome = outcomeOf(tensors);
  if (found.empty()) {
    outcome.message = fmt::format("none of {} tensors has elements", tensors.size());
    return outcome;
  }
  if (const std::int64_t bad = countOf(found, TensorState::Bad); bad > 0) {
    outcome.verdict = Verdict::Fired;
    describe(outcome, worstOf(found, TensorState::Bad), bad);
    if (bad > 1)
      outcome.message += fmt::format("; {} tensors are affected", bad);
    return outcome;
  }
  if (const std::int64_t unclear = countOf(found, TensorState::Unknown); unclear > 0) {
    const TensorJudgement& worst = worstOf(found, TensorState::Unknown);
    describe(outcome, worst, unclear);
    outcome.value.reset();
    outcome.threshold.reset();
    outcome.inputMissing = std::all_of(found.begin(), found.end(), [](const auto& each) {
      return each.state != TensorState::Unknown || each.lacksInput;
    });
    if (unclear > 1)
      outcome.message += fmt::format("; so it is with {} tensors", unclear);
    return outcome;
  }
  outcome.verdict = Verdict::Pass;
  describe(outcome, worstOf(found, TensorState::Healthy), 0);
  outcome.time.reset();
  if (found.size() > 1)
    outcome.message += fmt::format(", the worst of {} tensors", found.size());
  return outcome;
}

}  // namespace sonde::rules
