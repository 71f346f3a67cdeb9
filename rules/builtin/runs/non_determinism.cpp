#include "rules/builtin/runs/runs_rules.h"
#include "rules/builtin/series.h"
#include "rules/builtin/training/tensor_difference.h"
#include "rules/builtin/training/tensor_selection.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace sonde::rules {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// The first difference: by iteration, then by time; scalars have no time, and come last.
struct FirstDifference {
  std::int64_t iteration = kNever;
  std::int64_t tsNs = kNever;
  std::string name;  // "fc1.weight (weights)", "scalar 'loss'"
  double share = 0;
  std::string run;

  bool isBefore(const FirstDifference& other) const {
    return std::tie(iteration, tsNs, name) < std::tie(other.iteration, other.tsNs, other.name);
  }
};

struct Comparison {
  std::optional<FirstDifference> first;
  std::set<std::string> compared;
  std::set<std::int64_t> iterations;

  void add(FirstDifference difference, double tolerance) {
    compared.insert(difference.name);
    iterations.insert(difference.iteration);
    if (difference.share > tolerance && (!first || difference.isBefore(*first)))
      first = std::move(difference);
  }
};

double shareOf(double left, double right) {
  if (left == right || (std::isnan(left) && std::isnan(right)))
    return 0;
  const double share = std::abs(left - right) / std::max(std::abs(left), std::abs(right));
  return std::isnan(share) ? std::numeric_limits<double>::infinity() : share;
}

void compareTensors(const std::vector<SelectedTensor>& selected,
                    const EarlierProcess& before,
                    double tolerance,
                    Comparison& result) {
  const ProcessView view(*before.process);
  for (const SelectedTensor& now : selected)
    for (const TensorSeries& series : before.process->tensors) {
      if (series.name != now.series->name || series.collection != now.series->collection)
        continue;
      std::set<std::int64_t> ended;
      for (const TensorFact& theirs : view.of(series))
        ended.insert(theirs.iteration);
      for (const TensorFact& ours : now.values)
        if (const TensorFact* const theirs = recordingIn(series, ours.iteration);
            theirs != nullptr && ended.contains(ours.iteration) &&
            &ours == recordingIn(*now.series, ours.iteration))
          result.add({ours.iteration,
                      ours.tsNs,
                      nameOf(series),
                      differenceOf(*theirs, ours).share,
                      before.run},
                     tolerance);
    }
}

void compareScalars(const ProcessView& now,
                    const EarlierProcess& before,
                    const Parameters& parameters,
                    Comparison& result) {
  const ProcessView view(*before.process);
  for (const auto& [name, series] : now.process().scalars) {
    if (fnmatch(parameters.text("scalars").c_str(), name.c_str(), 0) != 0)
      continue;
    std::map<std::int64_t, double> theirs;
    for (const SeriesValue& each : view.scalar(name))
      theirs[each.iteration] = each.value;
    for (const SeriesValue& ours : now.scalar(name))
      if (const auto found = theirs.find(ours.iteration); found != theirs.end())
        result.add({ours.iteration,
                    kNever,
                    fmt::format("scalar '{}'", name),
                    shareOf(found->second, ours.value),
                    before.run},
                   parameters.real("tolerance"));
  }
}

Result<std::vector<Finding>> judgeDeterminismOfRun(Facts& facts, const Parameters& parameters) {
  return judgeMatched(
      facts, [&](const MatchedProcess& each) { return judgeDeterminism(each, parameters); });
}

}  // namespace

Outcome judgeDeterminism(const MatchedProcess& processes, const Parameters& parameters) {
  const ProcessView view(*processes.now);
  const auto selected = selectedTensors(view, parameters);
  Comparison result;
  for (const EarlierProcess& before : processes.before) {
    compareTensors(selected, before, parameters.real("tolerance"), result);
    compareScalars(view, before, parameters, result);
  }
  Outcome outcome;
  outcome.threshold = parameters.real("tolerance");
  if (result.compared.empty()) {
    outcome.inputMissing = selected.empty() && processes.now->scalars.empty();
    outcome.message =
        "no scalar or tensor was recorded in the same iteration of both runs: record scalars with "
        "sonde.scalar(), or tensors with sonde run --sources +tensor";
    return outcome;
  }
  outcome.window = windowOf(*result.iterations.begin(), *result.iterations.rbegin());
  outcome.samples = static_cast<std::int64_t>(result.iterations.size());
  if (!result.first) {
    outcome.verdict = Verdict::Pass;
    outcome.value = 0;
    outcome.message = fmt::format("{} tensors and scalars are the same in {} iterations",
                                  result.compared.size(),
                                  result.iterations.size());
    return outcome;
  }
  const FirstDifference& first = *result.first;
  outcome.verdict = Verdict::Fired;
  outcome.value = first.share;
  outcome.evidence = {{"iteration", first.iteration}, {"first", first.name}, {"run", first.run}};
  outcome.message = fmt::format("{} is the first to differ, in iteration {}, by {:.3g} from {}",
                                first.name,
                                first.iteration,
                                first.share,
                                first.run);
  return outcome;
}

RuleInfo nonDeterminism() {
  RuleInfo info;
  info.name = "non-determinism";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.runsByItself = RunsByItself::Never;
  info.summary = "runs with the same seed give different values";
  info.details =
      "Compares scalars and tensors of each rank with those of the runs of --baseline, in all\n"
      "iterations that both recorded. Fires if any differs by more than the share `tolerance`,\n"
      "and names the first iteration, and in it the tensor that was recorded first, else the\n"
      "scalar. A baseline file has neither tensors nor scalars.";
  info.needs = "annotation,torch,tensor";
  info.hint =
      "set all seeds, fix the order of the data, and call torch.use_deterministic_algorithms(True)";
  info.parameters = tensorParameters("*");
  info.parameters.push_back(
      {"scalars", std::string("*"), "names of scalars to compare, a shell pattern"});
  info.parameters.push_back(
      {"tolerance", 0.0, "share by which a value may differ, 0: not at all", 0, 1e6});
  info.judge = JobJudge(judgeDeterminismOfRun);
  return info;
}

}  // namespace sonde::rules
