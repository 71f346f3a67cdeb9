#include "rules/builtin/training/tensor_judgement.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::rules {
namespace {

struct Tolerance {
  double relative;
  double absolute;
};

// As numpy.allclose(left, right): |left - right| <= absolute + relative |right|.
bool areClose(const std::vector<double>& left,
              const std::vector<double>& right,
              const Tolerance& tolerance) {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(), [&](double a, double b) {
           return std::abs(a - b) <= tolerance.absolute + tolerance.relative * std::abs(b);
         });
}

// False: some element differs by more than the tolerance. For if all were close, each of these
// statistics would be close, too.
bool mayBeClose(const TensorFact& left, const TensorFact& right, const Tolerance& tolerance) {
  const auto count = static_cast<double>(right.elements);
  const double greatest = std::max(std::abs(*right.minimum), std::abs(*right.maximum));
  const auto close = [&](double a, double b, double elements, double scale) {
    // The last factor covers the rounding of the sums.
    return std::abs(a - b) <=
           (tolerance.absolute * elements + tolerance.relative * scale) * (1 + 1e-9) +
               1e-12 * std::abs(b);
  };
  return left.elements == right.elements && left.shape == right.shape &&
         close(*left.minimum, *right.minimum, 1, greatest) &&
         close(*left.maximum, *right.maximum, 1, greatest) &&
         close(*left.mean, *right.mean, 1, right.l1 / count) &&
         close(left.l1, right.l1, count, right.l1) &&
         close(left.l2, right.l2, std::sqrt(count), right.l2);
}

struct Comparison {
  bool isSame = true;
  bool isExact = true;     // from the elements
  std::string unreadable;  // why it failed; empty: it did not
};

Comparison compareAll(const ProcessView& view,
                      const SelectedTensor& tensor,
                      const Tolerance& tolerance) {
  Comparison comparison;
  for (const TensorFact& each : tensor.values.subspan(1))
    comparison.isSame = comparison.isSame && mayBeClose(each, tensor.values.front(), tolerance);
  if (!comparison.isSame)
    return comparison;
  comparison.isExact = std::none_of(tensor.values.begin(),
                                    tensor.values.end(),
                                    [](const TensorFact& each) { return each.file.empty(); });
  if (!comparison.isExact)
    return comparison;
  std::vector<double> first;
  for (const TensorFact& each : tensor.values) {
    auto saved = readSavedTensor(view.process().folder, each);
    if (!saved) {
      comparison.unreadable = saved.error().message;
      return comparison;
    }
    if (first.empty())
      first = std::move(saved->values);
    else if (!areClose(saved->values, first, tolerance))
      comparison.isSame = false;
  }
  return comparison;
}

TensorJudgement judgeChange(const ProcessView& view,
                            const SelectedTensor& tensor,
                            const Parameters& parameters) {
  const std::int64_t steps = parameters.integer("num_steps");
  const TensorFact& now = tensor.values.back();
  const auto have = static_cast<std::int64_t>(tensor.values.size());
  if (have < steps)
    return tooRare(*tensor.series,
                   now,
                   fmt::format("has {} of the {} recordings that are needed", have, steps));
  for (const TensorFact& each : tensor.values)
    if (auto unclear = unjudgeable(*tensor.series, each))
      return *std::move(unclear);
  const Comparison comparison =
      compareAll(view, tensor, {parameters.real("rtol"), parameters.real("atol")});
  if (!comparison.unreadable.empty())
    return unknown(*tensor.series, now, "cannot be read: " + comparison.unreadable);
  TensorJudgement judgement;
  judgement.series = tensor.series;
  judgement.at = &now;
  judgement.value = comparison.isSame ? 0 : 1;
  judgement.threshold = 0;
  judgement.rank = comparison.isSame && comparison.isExact ? 1 : 0;
  judgement.state = comparison.isSame ? TensorState::Bad : TensorState::Healthy;
  judgement.text = fmt::format("{} {} in its last {} recordings, iterations {}-{}",
                               nameOf(*tensor.series),
                               !comparison.isSame   ? "changed"
                               : comparison.isExact ? "did not change"
                                                    : "kept all its statistics",
                               steps,
                               tensor.values.front().iteration,
                               now.iteration);
  return judgement;
}

Outcome judgeUnchanged(const ProcessView& view, const Parameters& parameters) {
  const auto tensors =
      newestValues(selectedTensors(view, parameters), parameters.integer("num_steps"));
  if (tensors.empty())
    return tensorsMissing(view, parameters);
  std::vector<TensorJudgement> found;
  for (const SelectedTensor& each : tensors)
    if (each.values.back().elements > 0)
      found.push_back(judgeChange(view, each, parameters));
  return conclude(tensors, std::move(found));
}

}  // namespace

RuleInfo unchangedTensor() {
  RuleInfo info;
  info.name = "unchanged-tensor";
  info.alias = "UnchangedTensor";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "a tensor stays the same";
  info.details =
      "Fires if the last `num_steps` recordings of any tensor are equal, as numpy.allclose with "
      "`rtol` and `atol` compares\n"
      "them. Saved tensors are compared by element. Otherwise minimum, maximum, mean, l1 and l2 "
      "are "
      "compared: a tensor that\n"
      "differs there has surely changed, but one whose elements only changed places looks the "
      "same.";
  info.needs = "tensor";
  info.hint =
      "check that the optimiser has the parameter, that it is not frozen, and that the "
      "learning rate is not 0";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.l2, t.mean FROM tensor t JOIN "
      "string n ON n.id = t.name_id WHERE t.collection = 'weights' ORDER BY 2, 1\""};
  info.parameters = tensorParameters("weights");
  info.parameters.push_back({"num_steps", std::int64_t{3}, "latest recordings to compare", 2, 1e6});
  info.parameters.push_back({"rtol", 1e-5, "relative tolerance", 0, 1e6});
  info.parameters.push_back({"atol", 1e-8, "absolute tolerance", 0, 1e300});
  info.judge = ProcessJudge(judgeUnchanged);
  return info;
}

}  // namespace sonde::rules
