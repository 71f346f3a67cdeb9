// The rules overfit and overtraining: the validation loss, compared with the training loss and with
// its own past.
#include "rules/builtin/series.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace sonde::rules {
namespace {

// A value of the validation loss, and the mean of the training losses since the one before.
struct Evaluation {
  std::int64_t iteration;
  double validation;
  double training;

  double excess() const { return (validation - training) / training; }
};

std::vector<Evaluation> evaluationsOf(std::span<const SeriesValue> validation,
                                      std::span<const SeriesValue> training) {
  std::vector<Evaluation> all;
  auto next = training.begin();
  for (const SeriesValue& each : validation) {
    double sum = 0;
    std::int64_t count = 0;
    for (; next != training.end() && next->iteration <= each.iteration; ++next) {
      sum += next->value * static_cast<double>(next->count);
      count += next->count;
    }
    if (count > 0)
      all.push_back({each.iteration, each.value, sum / static_cast<double>(count)});
  }
  return all;
}

Outcome insufficientBecause(Outcome outcome, std::string message) {
  outcome.verdict = Verdict::Insufficient;
  outcome.message = std::move(message);
  return outcome;
}

// Requires: not empty.
Outcome judgeEvaluations(Outcome outcome,
                         std::span<const Evaluation> last,
                         const Parameters& parameters) {
  const Evaluation* least = &last.front();
  for (const Evaluation& each : last) {
    if (!std::isfinite(each.validation) || !std::isfinite(each.training) || each.training <= 0)
      return insufficientBecause(
          std::move(outcome),
          fmt::format("'{}' is {:g} and '{}' is {:g} at iteration {}: the rule compares positive "
                      "numbers",
                      parameters.text("validation"),
                      each.validation,
                      parameters.text("training"),
                      each.training,
                      each.iteration));
    if (each.excess() < least->excess())
      least = &each;
  }
  outcome.value = least->excess();
  outcome.threshold = parameters.real("ratio_threshold");
  outcome.verdict = *outcome.value > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.window = windowOf(last.front().iteration, last.back().iteration);
  outcome.samples = static_cast<std::int64_t>(last.size());
  outcome.evidence = {{"validation", least->validation}, {"training", least->training}};
  outcome.message = fmt::format("'{}' is {:.4g}, {:.3g} % {} the {:.4g} of '{}' at iteration {}",
                                parameters.text("validation"),
                                least->validation,
                                100 * std::abs(least->excess()),
                                least->excess() >= 0 ? "above" : "below",
                                least->training,
                                parameters.text("training"),
                                least->iteration);
  return outcome;
}

Outcome judgeOverfit(const ProcessView& view, const Parameters& parameters) {
  for (const char* parameter : {"training", "validation"})
    if (view.scalar(parameters.text(parameter)).empty())
      return scalarMissing(view, parameters.text(parameter), parameter);
  const auto all = evaluationsOf(view.scalar(parameters.text("validation")),
                                 view.scalar(parameters.text("training")));
  const auto needed = static_cast<std::size_t>(parameters.integer("evaluations"));
  if (all.size() < needed)
    return insufficientBecause(
        {},
        fmt::format("{} values of '{}' with '{}' before them, but {} are needed",
                    all.size(),
                    parameters.text("validation"),
                    parameters.text("training"),
                    needed));
  return judgeEvaluations({}, std::span(all).last(needed), parameters);
}

// Values of a loss, of which the newest `patience` must bring a new optimum.
struct LossHistory {
  std::string what;  // "values of 'val_loss'"
  std::vector<double> values;
  std::size_t patience;
};

struct LossProgress {
  double gain;  // by which the newest values are below the best before
  double best;
};

std::optional<LossProgress> progressOf(const LossHistory& history) {
  if (history.values.size() <= history.patience)
    return std::nullopt;
  const auto newer = history.values.end() - static_cast<std::ptrdiff_t>(history.patience);
  const double best = *std::min_element(history.values.begin(), newer);
  return LossProgress{best - *std::min_element(newer, history.values.end()), best};
}

// The means of `size` values in a row; an incomplete last block is left out.
std::vector<double> blocksOf(std::span<const SeriesValue> series, std::size_t size) {
  std::vector<double> blocks;
  for (; series.size() >= size; series = series.subspan(size)) {
    double sum = 0;
    for (const SeriesValue& each : series.first(size))
      sum += each.value;
    blocks.push_back(sum / static_cast<double>(size));
  }
  return blocks;
}

Outcome judgeHistories(Outcome outcome, const std::vector<LossHistory>& histories, double delta) {
  std::string passed;
  for (const LossHistory& history : histories) {
    const auto progress = progressOf(history);
    if (!progress)
      continue;
    const std::string text = fmt::format("the last {} {} are {:.4g} below the best before, {:.4g}",
                                         history.patience,
                                         history.what,
                                         progress->gain,
                                         progress->best);
    if (progress->gain < delta) {
      outcome.verdict = Verdict::Fired;
      outcome.value = progress->gain;
      outcome.threshold = delta;
      outcome.message = text;
      return outcome;
    }
    outcome.verdict = Verdict::Pass;
    if (!outcome.value || progress->gain < *outcome.value)
      outcome.value = progress->gain;
    outcome.threshold = delta;
    passed += passed.empty() ? text : "; " + text;
  }
  if (!passed.empty()) {
    outcome.message = passed;
    return outcome;
  }
  std::vector<std::string> counts;
  counts.reserve(histories.size());
  for (const LossHistory& history : histories)
    counts.push_back(fmt::format(
        "{} {}, but {} are needed", history.values.size(), history.what, history.patience + 1));
  outcome.message = fmt::format("{}", fmt::join(counts, "; "));
  return outcome;
}

Outcome judgeOvertraining(const ProcessView& view, const Parameters& parameters) {
  const auto training = view.scalar(parameters.text("training"));
  const auto validation = view.scalar(parameters.text("validation"));
  if (training.empty() && validation.empty())
    return scalarMissing(view, parameters.text("training"), "training");
  Outcome outcome = outcomeOf(validation.empty() ? training : validation);
  for (const auto& series : {validation, training})
    for (const SeriesValue& each : series)
      if (!std::isfinite(each.value))
        return insufficientBecause(
            std::move(outcome),
            fmt::format("a loss is {} at iteration {}: see loss-not-decreasing",
                        each.value,
                        each.iteration));
  std::vector<LossHistory> histories;
  if (!validation.empty())
    histories.push_back({fmt::format("values of '{}'", parameters.text("validation")),
                         valuesOf(validation),
                         static_cast<std::size_t>(parameters.integer("patience_validation"))});
  if (!training.empty())
    histories.push_back({fmt::format("means of {} values of '{}'",
                                     parameters.integer("block"),
                                     parameters.text("training")),
                         blocksOf(training, static_cast<std::size_t>(parameters.integer("block"))),
                         static_cast<std::size_t>(parameters.integer("patience_train"))});
  outcome = judgeHistories(std::move(outcome), histories, parameters.real("delta"));
  // Short runs without a validation loss have nothing to stop early.
  outcome.inputMissing = outcome.verdict == Verdict::Insufficient && validation.empty();
  return outcome;
}

std::vector<ParameterSpec> lossParameters() {
  return {{"training", std::string("loss"), "name of the scalar with the training loss"},
          {"validation", std::string("val_loss"), "name of the scalar with the validation loss"}};
}

}  // namespace

RuleInfo overfit() {
  RuleInfo info;
  info.name = "overfit";
  info.alias = "Overfit";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "the validation loss is much higher than the training loss";
  info.details =
      "Each value of the validation loss is compared with the mean of the training losses since "
      "the "
      "one before:\n"
      "(validation - training) / training. Fires if this is above `ratio_threshold` at each of the "
      "last `evaluations`.";
  info.needs = "annotation";
  info.hint =
      "stop earlier, or use more data, augmentation, dropout or weight decay; check that both "
      "losses have the same terms";
  info.next = {
      "sonde sql TRACE \"SELECT s.iteration, n.text, s.value FROM scalar s JOIN string n ON "
      "n.id = s.name_id WHERE n.text IN ('loss', 'val_loss')\""};
  info.parameters = lossParameters();
  info.parameters.push_back(
      {"ratio_threshold",
       0.1,
       "share of the training loss by which the validation loss may be above it",
       0,
       1e6});
  info.parameters.push_back(
      {"evaluations", std::int64_t{1}, "latest validation losses that must be above it", 1, 1e6});
  info.judge = ProcessJudge(judgeOverfit);
  return info;
}

RuleInfo overtraining() {
  RuleInfo info;
  info.name = "overtraining";
  info.alias = "Overtraining";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "a loss has not reached a new optimum for long";
  info.details =
      "Fires if the last `patience_validation` values of the validation loss, or the last "
      "`patience_train` blocks of the\n"
      "training loss, are not at least `delta` below the best value before. A block is the mean of "
      "`block` iterations, because\n"
      "single training losses are noise. A loss that was not recorded, or not long enough, is left "
      "out.";
  info.needs = "annotation";
  info.hint = "stop the run, keep the best checkpoint, or lower the learning rate";
  info.next = {
      "sonde sql TRACE \"SELECT s.iteration, n.text, s.value FROM scalar s JOIN string n ON "
      "n.id = s.name_id WHERE n.text IN ('loss', 'val_loss')\""};
  info.parameters = lossParameters();
  info.parameters.push_back({"patience_train",
                             std::int64_t{5},
                             "latest blocks of the training loss without a new optimum",
                             1,
                             1e6});
  info.parameters.push_back({"patience_validation",
                             std::int64_t{10},
                             "latest validation losses without a new optimum",
                             1,
                             1e6});
  info.parameters.push_back(
      {"block", std::int64_t{100}, "training losses in a row that count as their mean", 1, 1e6});
  info.parameters.push_back({"delta", 0.01, "a new optimum is lower by at least this", 0, 1e300});
  info.judge = ProcessJudge(judgeOvertraining);
  return info;
}

}  // namespace sonde::rules
