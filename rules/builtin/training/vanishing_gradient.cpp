#include "rules/builtin/training/tensor_judgement.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace sonde::rules {
namespace {

double meanMagnitude(const TensorFact& at) {
  return at.l1 / static_cast<double>(at.finite());
}

TensorJudgement gradientOf(const TensorSeries& series, const TensorFact& at, double threshold) {
  if (auto unclear = unjudgeable(series, at))
    return *std::move(unclear);
  TensorJudgement judgement;
  judgement.series = &series;
  judgement.at = &at;
  judgement.value = meanMagnitude(at);
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

const SelectedTensor* tensorCalled(const std::vector<SelectedTensor>& tensors,
                                   const std::string& collection,
                                   const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& each) {
    return each.series->collection == collection && each.series->name == name;
  });
  return found == tensors.end() ? nullptr : &*found;
}

// A normalisation removes the mean that a bias before it adds, so the bias's gradient is a sum that
// is 0 but for rounding. A gradient that vanishes on its way back is small in the layer's weight,
// too.
bool isRounding(const SelectedTensor& bias, const std::vector<SelectedTensor>& all) {
  constexpr std::string_view kBias = ".bias";
  constexpr double kOfWeight = 2e-5;  // float32 has about 7 digits, and many elements are summed
  const std::string& name = bias.series->name;
  if (!name.ends_with(kBias))
    return false;
  const SelectedTensor* const weight = tensorCalled(
      all, bias.series->collection, name.substr(0, name.size() - kBias.size()) + ".weight");
  return weight != nullptr &&
         std::all_of(bias.values.begin(), bias.values.end(), [&](const TensorFact& at) {
           const auto same =
               std::find_if(weight->values.begin(), weight->values.end(), [&](const auto& each) {
                 return each.iteration == at.iteration;
               });
           const bool isExact = at.dtype == "float32" || at.dtype == "float64";
           return same != weight->values.end() && isExact && at.finite() == at.elements &&
                  meanMagnitude(at) <= kOfWeight * meanMagnitude(*same);
         });
}

Outcome judgeVanishing(const ProcessView& view, const Parameters& parameters) {
  const auto all = selectedTensors(view, parameters);
  const auto tensors = newestValues(all, 1);
  if (tensors.empty())
    return tensorsMissing(view, parameters);
  std::vector<TensorJudgement> found;
  for (std::size_t at = 0; at < tensors.size(); ++at)
    if (tensors[at].values.back().elements > 0 && !isRounding(all[at], all))
      found.push_back(
          gradientOf(*tensors[at].series, tensors[at].values.back(), parameters.real("threshold")));
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
      "A bias whose gradient is only rounding beside that of its layer's weight is left out: a "
      "normalisation behind\n"
      "the layer removes what the bias adds.\n"
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
