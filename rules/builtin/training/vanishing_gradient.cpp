#include "rules/builtin/training/tensor_judgement.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::rules {
namespace {

TensorJudgement gradientOf(const TensorSeries& series, const TensorFact& at, double threshold) {
  if (auto unclear = unjudgeable(series, at))
    return *std::move(unclear);
  TensorJudgement judgement;
  judgement.series = &series;
  judgement.at = &at;
  judgement.value = at.l1 / static_cast<double>(at.finite());
  judgement.threshold = threshold;
  judgement.rank = -judgement.value;
  if (judgement.value < threshold)
    judgement.state = TensorState::Bad;
  judgement.text = fmt::format("{} has a mean magnitude of {:.3g} in iteration {}",
                               nameOf(series),
                               judgement.value,
                               at.iteration);
  return judgement;
}

Outcome judgeVanishing(const ProcessView& view, const Parameters& parameters) {
  const auto tensors = newestValues(selectedTensors(view, parameters), 1);
  if (tensors.empty())
    return tensorsMissing(view, parameters);
  std::vector<TensorJudgement> found;
  for (const SelectedTensor& each : tensors)
    if (each.values.back().elements > 0)
      found.push_back(gradientOf(*each.series, each.values.back(), parameters.real("threshold")));
  return conclude(tensors, std::move(found));
}

}  // namespace

RuleInfo vanishingGradient() {
  RuleInfo info;
  info.name = "vanishing-gradient";
  info.alias = "VanishingGradient";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "gradients are so small that weights do not learn";
  info.details =
      "Fires if the mean magnitude of any gradient, l1 / elements, is below `threshold` in its "
      "newest recording.\n"
      "A gradient with NaN or infinite elements is never healthy: it makes the verdict "
      "insufficient.";
  info.needs = "tensor";
  info.hint =
      "use ReLU-like activations, normalisation or residual connections, and check the "
      "initialisation; with half precision, scale the loss";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.l1 / t.elements FROM tensor t JOIN "
      "string n ON n.id = t.name_id WHERE t.collection = 'gradients' ORDER BY 3 LIMIT 20\""};
  info.parameters = tensorParameters("gradients");
  info.parameters.push_back({"threshold", 1e-7, "a smaller mean magnitude has vanished", 0, 1e300});
  info.judge = ProcessJudge(judgeVanishing);
  return info;
}

}  // namespace sonde::rules
