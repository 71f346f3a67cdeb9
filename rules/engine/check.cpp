#include "rules/engine/check.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <utility>

namespace sonde::rules {
namespace {

Outcome failed(std::string message) {
  Outcome outcome;
  outcome.verdict = Verdict::Error;
  outcome.message = std::move(message);
  return outcome;
}

Outcome withoutIterations() {
  Outcome outcome;
  outcome.verdict = Verdict::Insufficient;
  outcome.message =
      "no iteration was recorded: mark iterations with sonde.iteration(), or record the torch "
      "source with an optimiser";
  return outcome;
}

// How long a rule has fired without a break, back from the newest iteration.
struct Lasting {
  std::int64_t iterations = 1;
  std::int64_t ns = 0;
};

bool suffices(const Lasting& lasting, const Parameters& parameters) {
  return lasting.iterations > parameters.integer("patience") &&
         static_cast<double>(lasting.ns) >= 1e9 * parameters.real("patience_s");
}

// A rule with patience fires if it would have fired at each of the last iterations, too.
Outcome judgeProcess(const ProcessJudge& judge,
                     const ProcessFacts& facts,
                     const Parameters& parameters) {
  const auto warmup = static_cast<std::size_t>(parameters.integer("warmup"));
  const auto at = [&](std::size_t steps) {
    return judge(ProcessView(facts, steps, warmup), parameters);
  };
  const std::size_t all = facts.steps.size();
  Outcome now = at(all);
  if (now.verdict != Verdict::Fired)
    return now;
  Lasting lasting;
  for (std::size_t before = all - 1; !suffices(lasting, parameters); --before) {
    if (before > 0 && facts.steps[before - 1].isInner)
      continue;
    if (before == 0 || at(before).verdict != Verdict::Fired) {
      now.verdict = Verdict::Pass;
      now.message +=
          fmt::format("; for {} iterations so far, which patience allows", lasting.iterations);
      return now;
    }
    ++lasting.iterations;
    lasting.ns = facts.steps[all - 1].endNs() - facts.steps[before - 1].endNs();
  }
  return now;
}

// Often only one rank records a scalar; the others then have nothing to judge.
void skipWhatOthersRecord(std::vector<Finding>& findings) {
  const auto recorder = std::find_if(findings.begin(), findings.end(), [](const auto& each) {
    return !each.outcome.inputMissing;
  });
  if (recorder == findings.end())
    return;
  for (Finding& each : findings)
    if (each.outcome.inputMissing) {
      each.outcome.verdict = Verdict::Skipped;
      each.outcome.message = "recorded by " + recorder->entity + " only";
    }
}

Result<std::vector<Finding>> judgeProcesses(const ProcessJudge& judge,
                                            Facts& facts,
                                            const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const RunFacts* const run, facts.of<RunFacts>());
  std::vector<Finding> findings;
  for (const ProcessFacts* each : run->processes())
    findings.push_back({each->name, judgeProcess(judge, *each, parameters)});
  if (findings.empty())
    findings.push_back({"job", withoutIterations()});
  skipWhatOthersRecord(findings);
  return findings;
}

Result<std::vector<Finding>> findingsOf(const ConfiguredRule& rule, Facts& facts) {
  if (const auto* judge = std::get_if<JobJudge>(&rule.info->judge))
    return (*judge)(facts, rule.parameters);
  return judgeProcesses(std::get<ProcessJudge>(rule.info->judge), facts, rule.parameters);
}

// Whatever goes wrong in a rule stays its own.
std::vector<Finding> runRule(const ConfiguredRule& rule, Facts& facts) {
  try {
    auto findings = findingsOf(rule, facts);
    if (!findings)
      return {{"job", failed(findings.error().message)}};
    if (findings->empty())
      return {{"job", failed("the rule gave no verdict")}};
    return *std::move(findings);
  } catch (const std::exception& thrown) {
    return {{"job", failed(fmt::format("the rule failed: {}", thrown.what()))}};
  } catch (...) {
    return {{"job", failed("the rule failed with an unknown exception")}};
  }
}

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

std::string suppressionOf(const CheckResult& result,
                          const std::vector<Suppression>& suppressions,
                          const std::string& today) {
  for (const Suppression& each : suppressions)
    if (matches(each.rule, result.rule) && matches(each.entity, result.entity) &&
        today <= each.until)
      return fmt::format("{} (until {})", each.reason, each.until);
  return "";
}

std::vector<std::string> expiredNotes(const std::vector<Suppression>& suppressions,
                                      const std::string& today) {
  std::vector<std::string> notes;
  for (const Suppression& each : suppressions)
    if (today > each.until)
      notes.push_back(fmt::format(
          "the suppression of {} for {} expired on {}: remove it, or extend it with a new reason",
          each.rule,
          each.entity,
          each.until));
  return notes;
}

void fillAdvice(Outcome& outcome, const RuleInfo& info) {
  if (outcome.hint.empty())
    outcome.hint = info.hint;
  if (outcome.next.empty())
    outcome.next = info.next;
}

}  // namespace

Verdict CheckReport::verdict() const {
  static constexpr std::array kGravest = {
      Verdict::Fired, Verdict::Error, Verdict::Insufficient, Verdict::Pass, Verdict::Skipped};
  for (const Verdict verdict : kGravest)
    if (std::any_of(results.begin(), results.end(), [&](const CheckResult& result) {
          return result.counts() && result.outcome.verdict == verdict;
        }))
      return verdict;
  return Verdict::Skipped;
}

int CheckReport::exitStatus(std::int64_t maxWarnings) const {
  const auto holds = [&](Verdict verdict, bool onlyErrors) {
    return std::any_of(results.begin(), results.end(), [&](const CheckResult& result) {
      return result.counts() && result.outcome.verdict == verdict &&
             (!onlyErrors || result.severity == Severity::Error);
    });
  };
  const auto warnings = std::count_if(results.begin(), results.end(), [](const auto& result) {
    return result.counts() && result.outcome.verdict == Verdict::Fired &&
           result.severity == Severity::Warning;
  });
  if (holds(Verdict::Fired, true) || (maxWarnings >= 0 && warnings > maxWarnings))
    return 1;
  if (holds(Verdict::Error, false))
    return 3;
  return holds(Verdict::Insufficient, true) ? 4 : 0;
}

std::vector<CheckResult> judgeRule(Facts& facts,
                                   const ConfiguredRule& rule,
                                   const std::vector<Suppression>& suppressions,
                                   const std::string& today) {
  std::vector<CheckResult> results;
  for (Finding& finding : runRule(rule, facts)) {
    CheckResult result{rule.info->name,
                       rule.severity,
                       std::move(finding.entity),
                       std::move(finding.outcome),
                       {},
                       false};
    fillAdvice(result.outcome, *rule.info);
    result.isUnasked = rule.info->isOptional && !rule.isNamed && result.outcome.inputMissing &&
                       result.outcome.verdict == Verdict::Insufficient;
    if (result.isUnasked)
      result.severity = Severity::Info;
    if (result.outcome.verdict != Verdict::Pass && result.outcome.verdict != Verdict::Skipped)
      result.suppressed = suppressionOf(result, suppressions, today);
    results.push_back(std::move(result));
  }
  return results;
}

CheckReport judge(Facts& facts,
                  const Configuration& configuration,
                  const std::string& today,
                  const Progress& progress) {
  CheckReport report;
  report.notes = expiredNotes(configuration.suppressions, today);
  double judged = 0;
  for (const ConfiguredRule& rule : configuration.rules) {
    progress(rule.info->name, judged++ / static_cast<double>(configuration.rules.size()));
    for (CheckResult& result : judgeRule(facts, rule, configuration.suppressions, today))
      report.results.push_back(std::move(result));
  }
  return report;
}

std::string todayInUtc() {
  return fmt::format(
      "{:%Y-%m-%d}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

Result<CheckReport> check(const store::Database& trace,
                          const Configuration& configuration,
                          const Progress& progress,
                          Baselines* baselines) {
  progress("reading iterations", 0);
  const auto rows = trace.remember();
  Facts facts(trace);
  facts.compareWith(baselines);
  SONDE_TRY(facts.of<RunFacts>());
  return judge(facts, configuration, todayInUtc(), progress);
}

}  // namespace sonde::rules
