#include "rules/builtin/runs/runs_rules.h"
#include "rules/builtin/series.h"
#include "rules/builtin/training/tensor_difference.h"
#include "rules/builtin/training/tensor_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace sonde::rules {
namespace {

// Over all tensors and iterations that both runs recorded.
struct Similarity {
  TensorDifference worst;
  std::string worstRun;
  std::int64_t worstIteration = 0;
  std::set<std::string> differing;  // tensors
  std::set<std::string> compared;
  std::int64_t recordings = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();  // iteration
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
};

void compare(const SelectedTensor& now,
             const EarlierProcess& before,
             double tolerance,
             Similarity& result) {
  const ProcessView view(*before.process);
  for (const TensorSeries& series : before.process->tensors) {
    if (series.name != now.series->name || series.collection != now.series->collection ||
        view.of(series).empty())
      continue;
    std::set<std::int64_t> iterations;
    for (const TensorFact& each : now.values)
      iterations.insert(each.iteration);
    for (const std::int64_t iteration : iterations) {
      const TensorFact* const ours = recordingIn(*now.series, iteration);
      const TensorFact* const theirs = recordingIn(series, iteration);
      if (ours == nullptr || theirs == nullptr || iteration > view.of(series).back().iteration)
        continue;
      TensorDifference difference = differenceOf(*theirs, *ours);
      difference.tensor = nameOf(series);
      ++result.recordings;
      result.compared.insert(difference.tensor);
      result.first = std::min(result.first, iteration);
      result.last = std::max(result.last, iteration);
      if (difference.share > tolerance)
        result.differing.insert(difference.tensor);
      if (result.recordings == 1 || difference.share > result.worst.share) {
        result.worst = std::move(difference);
        result.worstRun = before.run;
        result.worstIteration = iteration;
      }
    }
  }
}

Result<std::vector<Finding>> judgeSimilarityOfRun(Facts& facts, const Parameters& parameters) {
  return judgeMatched(
      facts, [&](const MatchedProcess& each) { return judgeSimilarity(each, parameters); });
}

}  // namespace

Outcome judgeSimilarity(const MatchedProcess& processes, const Parameters& parameters) {
  const ProcessView view(*processes.now);
  const auto selected = selectedTensors(view, parameters);
  if (selected.empty())
    return tensorsMissing(view, parameters);
  Similarity result;
  const double tolerance = parameters.real("tolerance");
  for (const SelectedTensor& now : selected)
    for (const EarlierProcess& before : processes.before)
      compare(now, before, tolerance, result);
  Outcome outcome;
  if (result.recordings == 0) {
    outcome.message = fmt::format(
        "none of {} tensors was recorded in the same iteration of an earlier run: record both "
        "runs with the same --tensors",
        selected.size());
    return outcome;
  }
  outcome.verdict = result.differing.empty() ? Verdict::Pass : Verdict::Fired;
  outcome.value = result.worst.share;
  outcome.threshold = tolerance;
  outcome.window = windowOf(result.first, result.last);
  outcome.samples = result.recordings;
  outcome.evidence = {{"tensor", result.worst.tensor},
                      {"statistic", result.worst.statistic},
                      {"iteration", result.worstIteration},
                      {"run", result.worstRun},
                      {"differing", static_cast<std::int64_t>(result.differing.size())},
                      {"compared", static_cast<std::int64_t>(result.compared.size())}};
  outcome.message =
      result.differing.empty()
          ? fmt::format("{} tensors agree within {:.3g} with {} earlier run{}",
                        result.compared.size(),
                        result.worst.share,
                        processes.before.size(),
                        processes.before.size() == 1 ? "" : "s")
          : fmt::format("{} of {} tensors differ; most {} in iteration {}, by {:.3g} ({}) from {}",
                        result.differing.size(),
                        result.compared.size(),
                        result.worst.tensor,
                        result.worstIteration,
                        result.worst.share,
                        result.worst.statistic,
                        result.worstRun);
  return outcome;
}

RuleInfo similarAcrossRuns() {
  RuleInfo info;
  info.name = "similar-across-runs";
  info.alias = "SimilarAcrossRuns";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.runsByItself = RunsByItself::Never;
  info.summary = "tensors differ from those of earlier runs";
  info.details =
      "Compares tensors of the same name, collection, rank and iteration with those of each run\n"
      "of --baseline. Fires for a rank if a statistic of any of them differs by more than the\n"
      "share `tolerance`, as in diverging-replicas. A baseline file has no tensors.";
  info.needs = "tensor";
  info.hint =
      "if the runs should be alike, check seeds, data order, versions of libraries and precision";
  info.parameters = tensorParameters("*");
  info.parameters.push_back(
      {"tolerance", 0.01, "share by which statistics of a tensor may differ", 0, 1e6});
  info.judge = JobJudge(judgeSimilarityOfRun);
  return info;
}

}  // namespace sonde::rules
