#include "rules/builtin/training/tensor_judgement.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::rules {
namespace {

// Sums of doubles in another order differ by less than this share.
constexpr double kRounding = 1e-12;

struct Recordings {
  const TensorSeries* series;
  const TensorFact* before;
  const TensorFact* now;
};

TensorJudgement judgementOf(const Recordings& recordings,
                            double ratio,
                            const Parameters& parameters) {
  const double small = parameters.real("small_threshold");
  const double large = parameters.real("large_threshold");
  TensorJudgement judgement;
  judgement.series = recordings.series;
  judgement.at = recordings.now;
  judgement.value = ratio;
  judgement.threshold = ratio < small ? small : large;
  // How far it is from the middle of the healthy range, in orders of magnitude.
  judgement.rank =
      std::abs(std::log(std::max(ratio, 1e-300)) - std::log(std::max(small, 1e-300)) / 2 -
               std::log(std::max(large, 1e-300)) / 2);
  if (!(ratio >= small && ratio <= large))
    judgement.state = TensorState::Bad;
  return judgement;
}

std::string changeText(const Recordings& recordings, const std::string& ratio) {
  return fmt::format("{} changed by {} of its norm from iteration {} to {}",
                     nameOf(*recordings.series),
                     ratio,
                     recordings.before->iteration,
                     recordings.now->iteration);
}

TensorJudgement judgeSaved(const std::filesystem::path& folder,
                           const Recordings& recordings,
                           const Parameters& parameters) {
  const auto before = readSavedTensor(folder, *recordings.before);
  const auto now = before ? readSavedTensor(folder, *recordings.now) : before;
  if (!now)
    return unknown(*recordings.series, *recordings.now, "cannot be read: " + now.error().message);
  double change = 0;
  double norm = 0;
  for (std::size_t at = 0; at < now->values.size(); ++at) {
    const double difference = now->values[at] - before->values[at];
    change += difference * difference;
    norm += before->values[at] * before->values[at];
  }
  const double ratio = std::sqrt(change) / (std::sqrt(norm) + parameters.real("epsilon"));
  TensorJudgement judgement = judgementOf(recordings, ratio, parameters);
  judgement.text = changeText(recordings, fmt::format("{:.3g}", ratio));
  return judgement;
}

// Bounds of the change's norm. The lower ones follow from the triangle inequality for l2 and l1,
// and from the largest change of an element, which is at least that of minimum and maximum.
TensorJudgement judgeStatistics(const Recordings& recordings, const Parameters& parameters) {
  const TensorFact& before = *recordings.before;
  const TensorFact& now = *recordings.now;
  const double root = std::sqrt(static_cast<double>(now.elements));
  const double scale = before.l2 + parameters.real("epsilon");
  const double least = std::max({std::abs(now.l2 - before.l2),
                                 std::abs(now.l1 - before.l1) / root,
                                 std::abs(*now.mean - *before.mean) * root,
                                 std::abs(*now.minimum - *before.minimum),
                                 std::abs(*now.maximum - *before.maximum)}) /
                       scale;
  const double most = (now.l2 + before.l2) / scale;
  const double small = parameters.real("small_threshold");
  const double large = parameters.real("large_threshold");
  const bool isLarge = least > large;
  if (!isLarge && !(least >= std::max(small, kRounding) && most <= large))
    return notSaved(*recordings.series, now);
  TensorJudgement judgement = judgementOf(recordings, least, parameters);
  judgement.text = changeText(recordings, fmt::format("at least {:.3g}", least));
  return judgement;
}

TensorJudgement judgeUpdate(const ProcessView& view,
                            const SelectedTensor& tensor,
                            const Parameters& parameters) {
  const TensorFact& now = tensor.values.back();
  if (tensor.values.size() < 2)
    return tooRare(*tensor.series,
                   now,
                   fmt::format("was recorded once, in iteration {}, but two recordings are needed",
                               now.iteration));
  const TensorFact& before = tensor.values.front();
  for (const TensorFact* each : {&before, &now})
    if (auto unclear = unjudgeable(*tensor.series, *each))
      return *std::move(unclear);
  if (before.elements != now.elements)
    return unknown(*tensor.series, now, "changed its number of elements");
  const Recordings recordings{tensor.series, &before, &now};
  if (before.file.empty() || now.file.empty())
    return judgeStatistics(recordings, parameters);
  TensorJudgement exact = judgeSaved(view.process().folder, recordings, parameters);
  if (exact.state != TensorState::Unknown)
    return exact;
  // Unreadable. Bounds from statistics hold all the same.
  TensorJudgement bounds = judgeStatistics(recordings, parameters);
  return bounds.state == TensorState::Unknown ? exact : bounds;
}

Outcome judgeUpdates(const ProcessView& view, const Parameters& parameters) {
  const auto tensors = newestValues(selectedTensors(view, parameters), 2);
  if (tensors.empty())
    return tensorsMissing(view, parameters);
  std::vector<TensorJudgement> found;
  for (const SelectedTensor& each : tensors)
    if (each.values.back().elements > 0)
      found.push_back(judgeUpdate(view, each, parameters));
  return conclude(tensors, std::move(found));
}

}  // namespace

RuleInfo weightUpdateRatio() {
  RuleInfo info;
  info.name = "weight-update-ratio";
  info.alias = "WeightUpdateRatio";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "weights change much too little or too much";
  info.details =
      "r = |w - w'| / (|w'| + `epsilon`) with the elementwise l2 norm, where w and w' are the two "
      "newest recordings of a\n"
      "weight. The rule fires if r of any weight is below `small_threshold` or above "
      "`large_threshold`. Saved tensors give r\n"
      "exactly. Statistics give bounds of r: from the changes of l2, l1, mean, minimum and "
      "maximum, "
      "and from the sum of both\n"
      "norms. If these do not decide, the verdict is insufficient and asks for `save = true` in "
      "the "
      "--tensors file.";
  info.needs = "tensor";
  info.hint =
      "raise or lower the learning rate; check that the optimiser has these parameters and "
      "that they are not frozen";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.l2, t.mean FROM tensor t JOIN "
      "string n ON n.id = t.name_id WHERE t.collection = 'weights' ORDER BY 2, 1\""};
  info.parameters = tensorParameters("weights");
  info.parameters.push_back({"small_threshold", 1e-8, "a smaller ratio fires", 0, 1e300});
  info.parameters.push_back({"large_threshold", 10.0, "a greater ratio fires", 0, 1e300});
  info.parameters.push_back(
      {"epsilon", 1e-9, "is added to the norm of the older weight", 0, 1e300});
  info.judge = ProcessJudge(judgeUpdates);
  return info;
}

}  // namespace sonde::rules
