#include "rules/builtin/series.h"
#include "rules/builtin/training/tensor_judgement.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace sonde::rules {
namespace {

struct SignOfInit {
  TensorState state = TensorState::Healthy;
  std::string text;
  double value = 0;
  double threshold = 0;
};

// The number of the last of the first `steps` iterations.
std::int64_t lastOfFirst(const ProcessView& view, std::int64_t steps) {
  std::int64_t last = -1;
  for (const StepFact& step : view.steps()) {
    if (step.isInner)
      continue;
    if (steps-- == 0)
      break;
    last = step.number;
  }
  return last;
}

std::vector<SelectedTensor> ofCollection(const ProcessView& view, const std::string& pattern) {
  std::vector<SelectedTensor> all;
  for (const TensorSeries& series : view.process().tensors)
    if (fnmatch(pattern.c_str(), series.collection.c_str(), 0) == 0)
      if (const auto values = view.of(series); !values.empty())
        all.push_back({&series, values});
  return all;
}

std::vector<SelectedTensor> upTo(std::vector<SelectedTensor> tensors, std::int64_t last) {
  for (SelectedTensor& each : tensors)
    while (!each.values.empty() && each.values.back().iteration > last)
      each.values = each.values.first(each.values.size() - 1);
  std::erase_if(tensors, [](const SelectedTensor& each) { return each.values.empty(); });
  return tensors;
}

std::optional<SignOfInit> unclearSign(const std::vector<SelectedTensor>& tensors) {
  for (const SelectedTensor& tensor : tensors)
    for (const TensorFact& value : tensor.values)
      if (value.elements > 0)
        if (const auto unclear = unjudgeable(*tensor.series, value))
          return SignOfInit{TensorState::Unknown, unclear->text};
  return std::nullopt;
}

struct VarianceRange {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;

  // Infinite if a layer's inputs are all the same.
  double ratio() const {
    return least > 0 ? most / least : std::numeric_limits<double>::infinity();
  }
};

std::optional<SignOfInit> varianceSign(const std::vector<SelectedTensor>& layers,
                                       double threshold) {
  if (auto unclear = unclearSign(layers))
    return unclear;
  std::map<std::int64_t, VarianceRange> ranges;  // by iteration
  for (const SelectedTensor& layer : layers)
    for (const TensorFact& value : layer.values)
      if (value.elements > 1) {
        VarianceRange& range = ranges[value.iteration];
        range.least = std::min(range.least, *value.variance);
        range.most = std::max(range.most, *value.variance);
      }
  if (ranges.empty())
    return std::nullopt;
  const auto worst =
      std::max_element(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
        return a.second.ratio() < b.second.ratio();
      });
  SignOfInit sign;
  sign.value = worst->second.ratio();
  sign.threshold = threshold;
  sign.state = sign.value > threshold ? TensorState::Bad : TensorState::Healthy;
  sign.text = fmt::format(
      "the variances of the inputs of activations are {:.3g} to {:.3g} in "
      "iteration {}, a ratio of {:.3g}",
      worst->second.least,
      worst->second.most,
      worst->first,
      sign.value);
  return sign;
}

// A layer whose results are all the same.
std::optional<SignOfInit> constantSign(const std::vector<SelectedTensor>& activations) {
  if (auto unclear = unclearSign(activations))
    return unclear;
  std::optional<SignOfInit> sign;
  for (const SelectedTensor& layer : activations)
    for (const TensorFact& value : layer.values)
      if (value.elements > 1 && (!sign || *value.variance < sign->value)) {
        const bool isConstant = *value.variance == 0;
        sign = SignOfInit{isConstant ? TensorState::Bad : TensorState::Healthy,
                          fmt::format("{} has the variance {:.3g} in iteration {}",
                                      nameOf(*layer.series),
                                      *value.variance,
                                      value.iteration),
                          *value.variance,
                          0};
      }
  return sign;
}

std::optional<SignOfInit> gradientSign(const std::vector<SelectedTensor>& gradients, double least) {
  if (auto unclear = unclearSign(gradients))
    return unclear;
  SignOfInit sign;
  const TensorSeries* widest = nullptr;
  for (const SelectedTensor& gradient : gradients)
    for (const TensorFact& value : gradient.values)
      if (value.elements > 1 && value.p05 && value.p95 &&
          (widest == nullptr || *value.p95 - *value.p05 > sign.value)) {
        sign.value = *value.p95 - *value.p05;
        widest = gradient.series;
      }
  if (widest == nullptr)
    return std::nullopt;
  sign.threshold = least;
  sign.state = sign.value < least ? TensorState::Bad : TensorState::Healthy;
  sign.text = fmt::format("the widest gradient, {}, has {:.3g} between its percentiles 5 and 95",
                          nameOf(*widest),
                          sign.value);
  return sign;
}

std::optional<SignOfInit> lossSign(std::span<const SeriesValue> losses,
                                   std::int64_t last,
                                   const Parameters& parameters) {
  while (!losses.empty() && losses.back().iteration > last)
    losses = losses.first(losses.size() - 1);
  for (const SeriesValue& each : losses)
    if (!std::isfinite(each.value))
      return SignOfInit{
          TensorState::Unknown,
          fmt::format(
              "'{}' is {} at iteration {}", parameters.text("scalar"), each.value, each.iteration)};
  const auto flat = static_cast<std::size_t>(parameters.integer("flat_iterations"));
  if (losses.size() <= flat)
    return std::nullopt;
  SignOfInit sign;
  sign.threshold = parameters.real("flat_tolerance");
  sign.value = std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at + flat < losses.size(); ++at) {
    const auto [least, most] =
        std::minmax_element(losses.begin() + static_cast<std::ptrdiff_t>(at),
                            losses.begin() + static_cast<std::ptrdiff_t>(at + flat + 1),
                            [](const auto& a, const auto& b) { return a.value < b.value; });
    const double level = std::max(std::abs(losses[at].value), 1e-300);
    sign.value = std::min(sign.value, (most->value - least->value) / level);
  }
  sign.state = sign.value <= sign.threshold ? TensorState::Bad : TensorState::Healthy;
  sign.text = fmt::format("'{}' changes by {:.3g} of its value within {} iterations",
                          parameters.text("scalar"),
                          sign.value,
                          flat + 1);
  return sign;
}

Outcome concludeSigns(Outcome outcome, const std::vector<SignOfInit>& signs) {
  for (const TensorState state : {TensorState::Bad, TensorState::Unknown, TensorState::Healthy})
    for (const SignOfInit& sign : signs)
      if (sign.state == state) {
        outcome.verdict = state == TensorState::Bad       ? Verdict::Fired
                          : state == TensorState::Unknown ? Verdict::Insufficient
                                                          : Verdict::Pass;
        if (!outcome.message.empty())
          outcome.message += "; ";
        outcome.message += sign.text;
        if (state == TensorState::Unknown)
          return outcome;
        outcome.value = sign.value;
        outcome.threshold = sign.threshold;
        if (state == TensorState::Bad)
          return outcome;
      }
  return outcome;
}

Outcome judgeInitialization(const ProcessView& view, const Parameters& parameters) {
  const std::int64_t last = lastOfFirst(view, parameters.integer("steps"));
  const auto inputs = upTo(tensorsCalled(view, parameters.text("inputs")), last);
  const auto activations = upTo(selectedTensors(view, parameters), last);
  const auto gradients = upTo(ofCollection(view, parameters.text("gradients")), last);
  std::vector<SignOfInit> signs;
  for (auto& sign : {varianceSign(inputs, parameters.real("threshold")),
                     constantSign(activations),
                     gradientSign(gradients, parameters.real("distribution_range")),
                     lossSign(view.scalar(parameters.text("scalar")), last, parameters)})
    if (sign)
      signs.push_back(*sign);
  Outcome outcome;
  if (signs.empty()) {
    outcome.inputMissing = true;
    outcome.message = fmt::format(
        "neither activations, nor gradients, nor enough values of '{}' in the first {} iterations: "
        "record them with sonde run --sources +tensor and every = 1",
        parameters.text("scalar"),
        parameters.integer("steps"));
    return outcome;
  }
  outcome.window = windowOf(view.steps().front().number, last);
  outcome.samples =
      static_cast<std::int64_t>(inputs.size() + activations.size() + gradients.size());
  return concludeSigns(std::move(outcome), signs);
}

}  // namespace

RuleInfo poorWeightInitialization() {
  RuleInfo info;
  info.name = "poor-weight-initialization";
  info.alias = "PoorWeightInitialization";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "the first iterations show that weights are initialised badly";
  info.details =
      "Judges the first `steps` iterations. Fires if one of these holds:\n"
      "- In an iteration, the greatest variance of the tensors `inputs` is more than `threshold` "
      "times "
      "the least.\n"
      "- All elements of a result of a layer are the same: its variance is 0.\n"
      "- The percentiles 5 and 95 of each gradient are less than `distribution_range` apart, in "
      "all "
      "these iterations.\n"
      "- `flat_iterations` + 1 values of the loss in a row lie within the share `flat_tolerance` "
      "of "
      "the first of them.\n"
      "Parts without records are left out. Name the inputs of activation functions in a collection "
      "such as relu_input.";
  info.needs = "tensor";
  info.hint =
      "initialise by the number of inputs (Xavier for tanh, He for ReLU), never by a constant";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.variance FROM tensor t JOIN string n "
      "ON n.id = t.name_id WHERE t.collection = 'activations' ORDER BY 1, 3 LIMIT 40\""};
  info.parameters = tensorParameters("activations");
  info.parameters.push_back(
      {"gradients", std::string("gradients"), "collection of the gradients, a shell pattern"});
  info.parameters.push_back({"inputs",
                             std::string("*_input*"),
                             "names or collections of inputs of activations, a shell pattern"});
  info.parameters.push_back({"steps", std::int64_t{10}, "first iterations to judge", 1, 1e6});
  info.parameters.push_back(
      {"threshold", 10.0, "greatest healthy ratio of the variances", 1, 1e300});
  info.parameters.push_back(
      {"distribution_range", 1e-3, "gradients with a smaller range are narrow", 0, 1e300});
  info.parameters.push_back({"scalar", std::string("loss"), "name of the recorded loss"});
  info.parameters.push_back(
      {"flat_iterations", std::int64_t{5}, "the loss is flat if it stays for so many", 1, 1e6});
  info.parameters.push_back(
      {"flat_tolerance", 1e-6, "share of the loss by which a flat one may change", 0, 1});
  info.judge = ProcessJudge(judgeInitialization);
  return info;
}

}  // namespace sonde::rules
