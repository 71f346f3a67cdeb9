#include "rules/check.h"

#include "rules/iteration_feed.h"

#include <algorithm>
#include <array>

namespace sonde::rules {
namespace {

Outcome judgeEntity(const ConfiguredRule& configured,
                    const IterationFeed& feed,
                    const Entity& entity) {
  const auto rule = configured.info->make(configured.parameters);
  for (const Step& step : feed.steps(entity))
    rule->observe(step);
  rule->observeStray(feed.strayScalars(entity));
  return rule->judge();
}

Outcome withoutIterations() {
  Outcome outcome;
  outcome.verdict = Verdict::Insufficient;
  outcome.message =
      "no iteration was recorded: mark iterations with sonde.iteration(), or record the torch "
      "source with an optimiser";
  return outcome;
}

// Often only one rank records a scalar; the others then have nothing to judge.
void skipWhatOthersRecord(std::vector<CheckResult>& results) {
  const auto recorder = std::find_if(
      results.begin(), results.end(), [](const auto& each) { return !each.outcome.inputMissing; });
  if (recorder == results.end())
    return;
  for (CheckResult& result : results)
    if (result.outcome.inputMissing) {
      result.outcome.verdict = Verdict::Skipped;
      result.outcome.message = "recorded by " + recorder->entity + " only";
    }
}

std::vector<CheckResult> runRule(const ConfiguredRule& configured, const IterationFeed& feed) {
  std::vector<CheckResult> results;
  for (const Entity& entity : feed.entities(configured.info->scope))
    results.push_back({configured.info->name,
                       configured.severity,
                       entity.name,
                       judgeEntity(configured, feed, entity)});
  if (results.empty())
    results.push_back({configured.info->name, configured.severity, "job", withoutIterations()});
  skipWhatOthersRecord(results);
  return results;
}

}  // namespace

Verdict CheckReport::verdict() const {
  static constexpr std::array kGravest = {
      Verdict::Fired, Verdict::Error, Verdict::Insufficient, Verdict::Pass, Verdict::Skipped};
  for (const Verdict verdict : kGravest)
    if (std::any_of(results.begin(), results.end(), [&](const CheckResult& result) {
          return result.outcome.verdict == verdict;
        }))
      return verdict;
  return Verdict::Skipped;
}

int CheckReport::exitStatus() const {
  const auto holds = [&](Verdict verdict, bool onlyErrors) {
    return std::any_of(results.begin(), results.end(), [&](const CheckResult& result) {
      return result.outcome.verdict == verdict &&
             (!onlyErrors || result.severity == Severity::Error);
    });
  };
  if (holds(Verdict::Fired, true))
    return 1;
  if (holds(Verdict::Error, false))
    return 3;
  return holds(Verdict::Insufficient, true) ? 4 : 0;
}

Result<CheckReport> check(const store::Database& trace,
                          const Configuration& configuration,
                          const Progress& progress) {
  progress("reading iterations", 0);
  SONDE_TRY_ASSIGN(const IterationFeed feed, IterationFeed::read(trace));
  CheckReport report;
  double judged = 0;
  for (const ConfiguredRule& rule : configuration) {
    progress(rule.info->name, 0.5 + 0.5 * judged++ / static_cast<double>(configuration.size()));
    for (CheckResult& result : runRule(rule, feed))
      report.results.push_back(std::move(result));
  }
  return report;
}

}  // namespace sonde::rules
