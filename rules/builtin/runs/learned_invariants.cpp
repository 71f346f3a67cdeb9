#include "rules/baseline/baselines.h"
#include "rules/builtin/runs/runs_rules.h"
#include "rules/builtin/series.h"
#include "rules/facts/call_facts.h"
#include "rules/learned/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace sonde::rules {
namespace {

constexpr std::size_t kMostListed = 20;  // broken invariants in the evidence of a finding

std::string sentenceOf(const BrokenInvariant& broken) {
  const ObservationKey& key = broken.invariant->key;
  const bool isCall = key.measure == "calls";
  const bool isNamed = !isCall && key.measure != key.kind;
  std::string sentence = fmt::format("iteration {}: {}{}: {}{}",
                                     broken.tick.iteration,
                                     key.subject,
                                     isNamed ? ", " + key.measure : "",
                                     broken.observed,
                                     isCall ? " calls" : "");
  if (key.measure != "names")  // these say how they differ
    sentence += " instead of " + broken.expected;
  return sentence;
}

// The broken invariants of one kind, of a process or the job; the first is the most telling.
using BrokenGroup = std::vector<const BrokenInvariant*>;

Outcome outcomeOf(const BrokenGroup& group, const RunObservations& run) {
  Outcome outcome;
  outcome.verdict = Verdict::Fired;
  outcome.value = static_cast<double>(group.size());
  outcome.threshold = 0;
  std::vector<std::string> listed;
  std::int64_t times = 0;
  for (const BrokenInvariant* each : group) {
    times += each->times;
    if (listed.size() < kMostListed)
      listed.push_back(sentenceOf(*each));
  }
  outcome.samples = times;
  const BrokenInvariant& first = *group.front();
  outcome.message = sentenceOf(first);
  if (group.size() > 1)
    outcome.message += fmt::format("; {} more {} broken",
                                   group.size() - 1,
                                   group.size() == 2 ? "invariant is" : "invariants are");
  outcome.window = windowOf(run.first, first.tick.iteration);
  outcome.evidence = {{"iteration", first.tick.iteration},
                      {"subject", first.invariant->key.subject},
                      {"measure", first.invariant->key.measure},
                      {"observed", first.observed},
                      {"expected", first.expected},
                      {"learned_from_samples", first.invariant->samples},
                      {"invariants", static_cast<std::int64_t>(group.size())},
                      {"broken", std::move(listed)}};
  return outcome;
}

std::optional<TimeRange> timeOf(const std::vector<const ProcessFacts*>& processes,
                                const std::string& name,
                                std::int64_t iteration) {
  for (const ProcessFacts* process : processes)
    if (process->name == name || name == "job")
      for (const StepFact& step : process->steps)
        if (!step.isInner && step.number == iteration)
          return TimeRange{step.startNs, step.endNs()};
  return std::nullopt;
}

std::vector<Finding> firedOf(const InvariantJudgement& judgement,
                             const RunObservations& run,
                             const std::vector<const ProcessFacts*>& processes,
                             const std::vector<std::string>& kinds) {
  std::map<std::pair<int, std::string>, BrokenGroup> groups;
  for (const BrokenInvariant& each : judgement.broken)
    if (std::find(kinds.begin(), kinds.end(), each.invariant->key.kind) != kinds.end())
      groups[{each.tick.process, each.invariant->key.kind}].push_back(&each);
  std::vector<Finding> findings;
  for (const auto& [of, group] : groups) {
    const std::string name =
        of.first == kWholeJob ? "job" : run.processes[static_cast<std::size_t>(of.first)];
    Finding finding{fmt::format("{}: {}", name, of.second), outcomeOf(group, run)};
    finding.outcome.time = timeOf(processes, name, group.front()->tick.iteration);
    findings.push_back(std::move(finding));
  }
  return findings;
}

Finding heldFinding(const InvariantJudgement& judgement, const RunObservations& run) {
  Finding finding{"job", {}};
  Outcome& outcome = finding.outcome;
  outcome.verdict = judgement.held > 0 ? Verdict::Pass : Verdict::Insufficient;
  outcome.inputMissing = judgement.held == 0;
  outcome.samples = judgement.samples;
  outcome.value = 0;
  outcome.threshold = 0;
  outcome.evidence = {{"held", judgement.held}, {"unseen", judgement.unseen}};
  outcome.message =
      judgement.held > 0
          ? fmt::format("{} learned invariants hold in {} iterations{}",
                        judgement.held,
                        run.iterations,
                        judgement.unseen == 0
                            ? std::string()
                            : fmt::format("; nothing was recorded of {} others", judgement.unseen))
          : std::string(
                "nothing was recorded that an invariant was learned of: record with the "
                "options of the learned runs");
  return finding;
}

std::vector<Finding> unrecordedOf(const InvariantJudgement& judgement) {
  std::vector<Finding> findings;
  for (const auto& [source, count] : judgement.unrecorded) {
    Finding finding{source, {}};
    finding.outcome.message = fmt::format(
        "{} learned invariants need {}, which this run did not "
        "record: add {}",
        count,
        source,
        recorderOf(source));
    findings.push_back(std::move(finding));
  }
  return findings;
}

Finding withoutLearned() {
  Finding finding{"job", {}};
  finding.outcome.inputMissing = true;
  finding.outcome.message =
      "there are no learned invariants: give --baseline a file of sonde baseline learn";
  return finding;
}

Finding withoutSteps() {
  Finding finding{"job", {}};
  finding.outcome.message =
      "no iteration was recorded: mark iterations with sonde.iteration(), or record the torch "
      "source with an optimiser";
  return finding;
}

Result<std::vector<Finding>> judgeLearned(Facts& facts, const Parameters& parameters) {
  if (facts.baselines() == nullptr || facts.baselines()->learned().empty())
    return std::vector{withoutLearned()};
  SONDE_TRY_ASSIGN(const RunFacts* const run, facts.of<RunFacts>());
  if (run->processes().empty())
    return std::vector{withoutSteps()};
  SONDE_TRY_ASSIGN(const CallFacts* const calls, facts.of<CallFacts>());
  const RunObservations observed = observe("", withCalls(run->processes(), *calls));
  const JudgeSettings settings{parameters.real("widen"), parameters.text("ignore")};
  std::vector<Finding> findings;
  for (const auto& [path, learned] : facts.baselines()->learned()) {
    const InvariantJudgement judgement = judgeInvariants(learned, observed, settings);
    std::vector<Finding> fired =
        firedOf(judgement, observed, run->processes(), wordsOf(parameters.text("kinds")));
    if (fired.empty())
      fired.push_back(heldFinding(judgement, observed));
    std::move(fired.begin(), fired.end(), std::back_inserter(findings));
    std::vector<Finding> unrecorded = unrecordedOf(judgement);
    std::move(unrecorded.begin(), unrecorded.end(), std::back_inserter(findings));
  }
  return findings;
}

}  // namespace

RuleInfo learnedInvariants() {
  RuleInfo info;
  info.name = "learned-invariants";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.runsByItself = RunsByItself::WithBaseline;
  info.summary = "something that held in all good runs does not hold";
  info.details =
      "`sonde baseline learn` finds out from five good runs or more what held in each iteration:\n"
      "order and number of calls, arguments, tensors and their layout, values that change or do\n"
      "not, equality between ranks, schedules, and ranges of statistics. Fires if the run breaks "
      "any\n"
      "of it: a finding for each rank and kind, with the first iteration. Insufficient for each\n"
      "source of records that the learned runs had and this run lacks.";
  info.needs = "torch,tensor,annotation,gloo";
  info.hint =
      "look at the first broken iteration and at what changed in the program before it; if the "
      "change is right, learn anew from runs with it";
  info.next = {"sonde check TRACE --baseline BASELINE --explain", "sonde baseline show BASELINE"};
  info.parameters = {
      {"kinds",
       fmt::format("{}", fmt::join(observationKinds(), ",")),
       "kinds of invariants that may fire",
       -std::numeric_limits<double>::infinity(),
       std::numeric_limits<double>::infinity(),
       observationKinds()},
      {"ignore", std::string(), "subjects of invariants that are not judged, a shell pattern"},
      {"widen", 1.0, "ranges become this many times as wide", 1, 1e6}};
  info.judge = JobJudge(judgeLearned);
  return info;
}

}  // namespace sonde::rules
