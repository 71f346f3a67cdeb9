#include "rules/builtin/runs/matched_processes.h"

#include "rules/baseline/baselines.h"
#include "rules/builtin/runs/runs_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::rules {
namespace {

MatchedProcess matched(const ProcessFacts& now, const std::vector<BaselineRun>& runs) {
  MatchedProcess found{&now, {}};
  for (const BaselineRun& run : runs)
    for (const ProcessFacts* process : run.processes)
      if (process->name == now.name)
        found.before.push_back({run.name, process});
  return found;
}

// As for rules about one run: often only one rank records a scalar.
void skipUnrecorded(std::vector<Finding>& findings) {
  const auto isMissing = [](const Finding& each) { return each.outcome.inputMissing; };
  const auto recorder = std::find_if_not(findings.begin(), findings.end(), isMissing);
  if (recorder == findings.end())
    return;
  for (Finding& each : findings)
    if (isMissing(each)) {
      each.outcome.verdict = Verdict::Skipped;
      each.outcome.message = "recorded by " + recorder->entity + " only";
    }
}

}  // namespace

Result<std::vector<Finding>> judgeMatched(Facts& facts, const MatchedJudge& judge) {
  if (facts.baselines() == nullptr)
    return std::vector{withoutBaseline()};
  SONDE_TRY_ASSIGN(const std::vector<BaselineRun>* const runs, facts.baselines()->runs());
  if (runs->empty())
    return std::vector{onlyBaselineFiles()};
  SONDE_TRY_ASSIGN(const RunFacts* const run, facts.of<RunFacts>());
  std::vector<Finding> findings;
  for (const ProcessFacts* now : run->processes()) {
    Finding& finding = findings.emplace_back(Finding{now->name, {}});
    const MatchedProcess both = matched(*now, *runs);
    if (both.before.empty())
      finding.outcome.message = fmt::format(
          "no earlier run has {} with iterations: give --baseline the traces of all its ranks",
          now->name);
    else
      finding.outcome = judge(both);
  }
  if (findings.empty()) {
    findings.push_back({"job", {}});
    findings.back().outcome.message =
        "no iteration was recorded: mark iterations with sonde.iteration(), or record the torch "
        "source with an optimiser";
  }
  skipUnrecorded(findings);
  return findings;
}

}  // namespace sonde::rules
