// The rules all-zero and tensor-variance: a statistic of the newest recording has a bound.
#include "rules/builtin/training/tensor_judgement.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

namespace sonde::rules {
namespace {

TensorJudgement zerosOf(const TensorSeries& series, const TensorFact& at, double threshold) {
  TensorJudgement judgement;
  judgement.series = &series;
  judgement.at = &at;
  judgement.value = static_cast<double>(at.zeros) / static_cast<double>(at.elements);
  judgement.threshold = threshold;
  judgement.rank = judgement.value;
  if (judgement.value >= threshold)
    judgement.state = TensorState::Bad;
  else if (auto unclear = unjudgeable(series, at))
    return *std::move(unclear);
  judgement.text = fmt::format("{} has {} zeros of {} elements in iteration {}",
                               nameOf(series),
                               at.zeros,
                               at.elements,
                               at.iteration);
  return judgement;
}

Outcome judgeAllZero(const ProcessView& view, const Parameters& parameters) {
  const auto tensors = newestValues(selectedTensors(view, parameters), 1);
  if (tensors.empty())
    return tensorsMissing(view, parameters);
  std::vector<TensorJudgement> found;
  for (const SelectedTensor& each : tensors)
    if (each.values.back().elements > 0)
      found.push_back(zerosOf(*each.series, each.values.back(), parameters.real("threshold")));
  return conclude(tensors, std::move(found));
}

TensorJudgement varianceOf(const TensorSeries& series,
                           const TensorFact& at,
                           const Parameters& parameters) {
  if (auto unclear = unjudgeable(series, at))
    return *std::move(unclear);
  const double least = parameters.real("min_variance");
  const double most = parameters.real("max_variance");
  TensorJudgement judgement;
  judgement.series = &series;
  judgement.at = &at;
  judgement.value = *at.variance;
  const bool isSmall = judgement.value < least;
  judgement.threshold = isSmall || !std::isfinite(most) ? least : most;
  judgement.rank = isSmall ? least - judgement.value : judgement.value;
  if (isSmall || judgement.value > most)
    judgement.state = TensorState::Bad;
  judgement.text =
      fmt::format("{} has the variance {:.3g} in iteration {}; {:g} to {:g} is healthy",
                  nameOf(series),
                  judgement.value,
                  at.iteration,
                  least,
                  most);
  return judgement;
}

Outcome judgeVariance(const ProcessView& view, const Parameters& parameters) {
  if (parameters.real("min_variance") <= 0 && std::isinf(parameters.real("max_variance"))) {
    Outcome outcome;
    outcome.verdict = Verdict::Skipped;
    outcome.message = "no bound is set: set the parameters min_variance or max_variance";
    return outcome;
  }
  const auto tensors = newestValues(selectedTensors(view, parameters), 1);
  if (tensors.empty())
    return tensorsMissing(view, parameters);
  std::vector<TensorJudgement> found;
  for (const SelectedTensor& each : tensors)
    if (each.values.back().elements > 0)
      found.push_back(varianceOf(*each.series, each.values.back(), parameters));
  return conclude(tensors, std::move(found));
}

}  // namespace

RuleInfo allZero() {
  RuleInfo info;
  info.name = "all-zero";
  info.alias = "AllZero";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "all elements of a tensor are 0";
  info.details =
      "Fires if the share of zeros among all elements of a tensor is at least `threshold` in its "
      "newest recording.\n"
      "The default selects gradients: new biases and inputs may well be 0.";
  info.needs = "tensor";
  info.hint =
      "check the initialisation, dead activations, and parameters that the loss does not "
      "depend on";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.zeros, t.elements FROM tensor t "
      "JOIN string n ON n.id = t.name_id WHERE t.zeros = t.elements LIMIT 20\""};
  info.parameters = tensorParameters("gradients");
  info.parameters.push_back({"threshold", 1.0, "share of zeros at which the rule fires", 1e-9, 1});
  info.judge = ProcessJudge(judgeAllZero);
  return info;
}

RuleInfo tensorVariance() {
  RuleInfo info;
  info.name = "tensor-variance";
  info.alias = "TensorVariance";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "the variance of a tensor is out of the bounds that you set";
  info.details =
      "Fires if the population variance of a tensor is below `min_variance` or above "
      "`max_variance` in its newest\n"
      "recording. Without a bound the rule is skipped.";
  info.needs = "tensor";
  info.hint =
      "check the initialisation and normalisation of the layer, and the scale of the inputs";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.collection, t.variance FROM tensor "
      "t JOIN string n ON n.id = t.name_id ORDER BY 4 DESC LIMIT 20\""};
  info.parameters = tensorParameters("*");
  info.parameters.push_back({"min_variance", 0.0, "a smaller variance fires", 0, 1e300});
  info.parameters.push_back(
      {"max_variance", std::numeric_limits<double>::infinity(), "a greater variance fires", 0});
  info.judge = ProcessJudge(judgeVariance);
  return info;
}

}  // namespace sonde::rules
