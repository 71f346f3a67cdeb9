#include "rules/builtin/training/tensor_selection.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>

#include <tuple>

namespace sonde::rules {
namespace {

std::int64_t badElements(const TensorFact& value, bool onlyNan) {
  return value.nans + (onlyNan ? 0 : value.infs);
}

Outcome judgeExploding(const ProcessView& view, const Parameters& parameters) {
  const auto tensors = selectedTensors(view, parameters);
  if (tensors.empty())
    return tensorsMissing(view, parameters);
  const bool onlyNan = parameters.integer("only_nan") != 0;
  const SelectedTensor* first = nullptr;
  const TensorFact* at = nullptr;
  std::int64_t affected = 0;
  for (const SelectedTensor& tensor : tensors)
    for (const TensorFact& value : tensor.values)
      if (badElements(value, onlyNan) > 0) {
        ++affected;
        if (at == nullptr ||
            std::tie(value.iteration, value.tsNs) < std::tie(at->iteration, at->tsNs)) {
          first = &tensor;
          at = &value;
        }
        break;
      }
  Outcome outcome = outcomeOf(tensors);
  outcome.threshold = 0;
  outcome.value = at == nullptr ? 0 : static_cast<double>(badElements(*at, onlyNan));
  if (at == nullptr) {
    outcome.verdict = Verdict::Pass;
    outcome.message = fmt::format("{} tensors are finite", tensors.size());
    return outcome;
  }
  outcome.verdict = Verdict::Fired;
  outcome.message = fmt::format("{} has {} NaN and {} infinite of {} elements in iteration {}",
                                nameOf(*first->series),
                                at->nans,
                                at->infs,
                                at->elements,
                                at->iteration);
  if (affected > 1)
    outcome.message += fmt::format("; {} tensors are affected", affected);
  outcome.evidence = {{"tensor", first->series->name},
                      {"collection", first->series->collection},
                      {"iteration", at->iteration},
                      {"nans", at->nans},
                      {"infs", at->infs},
                      {"tensors", affected}};
  outcome.time = TimeRange{at->tsNs, at->tsNs};
  return outcome;
}

}  // namespace

RuleInfo explodingTensor() {
  RuleInfo info;
  info.name = "exploding-tensor";
  info.alias = "ExplodingTensor";
  info.profile = Profile::Ci;
  info.isForProduction = true;
  info.isOptional = true;
  info.summary = "a tensor has elements that are NaN or infinite";
  info.details =
      "Fires if any recorded tensor that `collection` and `tensors` match had such an element in "
      "any iteration.\n"
      "The message names the first one. With `only_nan` = 1 infinite elements are healthy.";
  info.needs = "tensor";
  info.hint =
      "lower the learning rate, clip gradients, and check inputs for NaN; `first-nan = true` "
      "in the --tensors file names the operator";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.nans, t.infs FROM tensor t JOIN "
      "string n ON n.id = t.name_id WHERE t.nans + t.infs > 0 ORDER BY t.ts_ns LIMIT 20\""};
  info.parameters = tensorParameters("*");
  info.parameters.push_back(
      {"only_nan", std::int64_t{0}, "1: infinite elements are healthy", 0, 1});
  info.judge = ProcessJudge(judgeExploding);
  return info;
}

}  // namespace sonde::rules
