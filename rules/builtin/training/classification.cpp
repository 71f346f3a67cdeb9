// The rules class-imbalance and confusion.
#include "rules/builtin/training/class_samples.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace sonde::rules {
namespace {

struct ClassRate {
  std::int64_t label = 0;
  double rate = -1;
};

// The class of which the greatest share is predicted as another one.
ClassRate worstMisprediction(const ClassSamples& samples) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> counts;  // wrong, all
  for (const auto& [pair, count] : samples.predictions) {
    auto& [wrong, all] = counts[pair.first];
    wrong += pair.first == pair.second ? 0 : count;
    all += count;
  }
  ClassRate worst;
  for (const auto& [label, count] : counts) {
    const double rate = static_cast<double>(count.first) / static_cast<double>(count.second);
    if (rate > worst.rate)
      worst = {label, rate};
  }
  return worst;
}

Outcome judgeImbalance(const ProcessView& view, const Parameters& parameters) {
  ClassSamples samples;
  if (!readClasses(view, parameters, false, samples))
    return samples.outcome;
  Outcome outcome = std::move(samples.outcome);
  const auto byCount = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] =
      std::minmax_element(samples.labels.begin(), samples.labels.end(), byCount);
  outcome.value = samples.labels.size() == 1
                      ? std::numeric_limits<double>::infinity()
                      : static_cast<double>(most->second) / static_cast<double>(least->second);
  outcome.threshold = parameters.real("threshold_imbalance");
  outcome.verdict = *outcome.value > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.evidence["classes"] = static_cast<std::int64_t>(samples.labels.size());
  outcome.message = samples.labels.size() == 1
                        ? fmt::format("all {} labels are of class {}", most->second, most->first)
                        : fmt::format("class {} has {} labels, class {} has {}, a ratio of {:.3g}",
                                      most->first,
                                      most->second,
                                      least->first,
                                      least->second,
                                      *outcome.value);
  const ClassRate worst = worstMisprediction(samples);
  const double limit = parameters.real("threshold_misprediction");
  if (worst.rate >= 0)
    outcome.message += fmt::format(
        "; {:.3g} % of class {} are predicted as another one", 100 * worst.rate, worst.label);
  if (outcome.verdict == Verdict::Pass && worst.rate > limit) {
    outcome.verdict = Verdict::Fired;
    outcome.value = worst.rate;
    outcome.threshold = limit;
  }
  return outcome;
}

struct Cell {
  std::int64_t label = 0;
  std::int64_t prediction = 0;
  double share = 0;
};

struct Matrix {
  const ClassSamples& samples;
  std::map<std::int64_t, std::int64_t> sums;  // of rows, or of columns
  bool byRow;

  double share(std::int64_t label, std::int64_t prediction) const {
    const auto count = samples.predictions.find({label, prediction});
    if (count == samples.predictions.end())
      return 0;
    return static_cast<double>(count->second) /
           static_cast<double>(sums.at(byRow ? label : prediction));
  }
};

Matrix matrixOf(const ClassSamples& samples, bool byRow) {
  Matrix matrix{samples, {}, byRow};
  for (const auto& [pair, count] : samples.predictions)
    matrix.sums[byRow ? pair.first : pair.second] += count;
  return matrix;
}

Outcome judgeMatrix(Outcome outcome, const Matrix& matrix, const Parameters& parameters) {
  Cell diagonal{0, 0, 2};
  for (const auto& [each, sum] : matrix.sums)
    if (const double share = matrix.share(each, each); share < diagonal.share)
      diagonal = {each, each, share};
  Cell other{0, 0, 0};
  for (const auto& [pair, count] : matrix.samples.predictions)
    if (pair.first != pair.second)
      if (const double share = matrix.share(pair.first, pair.second); share > other.share)
        other = {pair.first, pair.second, share};
  const double least = parameters.real("min_diag");
  const double most = parameters.real("max_off_diag");
  const bool isLow = diagonal.share < least;
  outcome.verdict = isLow || other.share > most ? Verdict::Fired : Verdict::Pass;
  outcome.value = isLow || other.share <= most ? diagonal.share : other.share;
  outcome.threshold = isLow || other.share <= most ? least : most;
  outcome.message =
      fmt::format("{:.3g} % of class {} are right", 100 * diagonal.share, diagonal.label);
  if (other.share > 0)
    outcome.message += fmt::format("; class {} is predicted as {}: {:.3g} %",
                                   other.label,
                                   other.prediction,
                                   100 * other.share);
  return outcome;
}

Outcome judgeConfusion(const ProcessView& view, const Parameters& parameters) {
  const std::string& normalise = parameters.text("normalise");
  if (normalise != "row" && normalise != "column") {
    Outcome outcome;
    outcome.verdict = Verdict::Error;
    outcome.message =
        fmt::format("the parameter normalise is '{}': set it to 'row' or 'column'", normalise);
    return outcome;
  }
  ClassSamples samples;
  if (!readClasses(view, parameters, true, samples))
    return samples.outcome;
  return judgeMatrix(samples.outcome, matrixOf(samples, normalise == "row"), parameters);
}

}  // namespace

RuleInfo classImbalance() {
  RuleInfo info;
  info.name = "class-imbalance";
  info.alias = "ClassImbalance";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "a class is much rarer than another one, or mostly predicted wrongly";
  info.details =
      "Takes the newest recordings with `samples` labels together. Fires if the most frequent "
      "class "
      "has more than\n"
      "`threshold_imbalance` times the labels of the rarest one that occurs, or if there is one "
      "class "
      "only. Fires also if more\n"
      "than the share `threshold_misprediction` of a class is predicted as another one, if "
      "predictions are recorded.\n"
      "Record both with sonde.tensor() and `save = true` in [tensors] of the --tensors file. "
      "Predictions are classes, or\n"
      "scores of shape [labels, classes].";
  info.needs = "tensor";
  info.hint = "sample the rare classes more often, or weight the loss by class";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.file, t.file_offset FROM tensor t "
      "JOIN string n ON n.id = t.name_id WHERE n.text = 'labels' ORDER BY 1 DESC LIMIT 20\""};
  info.parameters = classParameters();
  info.parameters.push_back(
      {"threshold_imbalance", 10.0, "greatest healthy ratio of the classes' counts", 1, 1e300});
  info.parameters.push_back({"threshold_misprediction",
                             0.7,
                             "greatest healthy share of a class that is predicted wrongly",
                             0,
                             1});
  info.judge = ProcessJudge(judgeImbalance);
  return info;
}

RuleInfo confusion() {
  RuleInfo info;
  info.name = "confusion";
  info.alias = "Confusion";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "classes are mistaken for each other";
  info.details =
      "Takes the newest recordings with `samples` labels together. C[i][j] is the number of labels "
      "i "
      "that are predicted as j,\n"
      "divided by the sum of its row (or column), so that a perfect classifier has 1 on the "
      "diagonal. Fires if any C[i][i] is\n"
      "below `min_diag`, or any other C[i][j] above `max_off_diag`. Classes without labels (or "
      "predictions) are left out.\n"
      "Inputs are as those of class-imbalance.";
  info.needs = "tensor";
  info.hint = "look at samples of both classes: their labels may be wrong, or more data is needed";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.file, t.file_offset FROM tensor t "
      "JOIN string n ON n.id = t.name_id WHERE n.text IN ('labels', 'predictions') "
      "ORDER BY 1 DESC LIMIT 20\""};
  info.parameters = classParameters();
  info.parameters.push_back({"min_diag", 0.9, "least healthy share on the diagonal", 0, 1});
  info.parameters.push_back({"max_off_diag", 0.1, "greatest healthy share elsewhere", 0, 1});
  info.parameters.push_back({"normalise",
                             std::string("row"),
                             "row: by the number of labels; column: by that of predictions"});
  info.judge = ProcessJudge(judgeConfusion);
  return info;
}

}  // namespace sonde::rules
