#include "rules/builtin/timing/timing_rules.h"
#include "rules/engine/duration_text.h"
#include "rules/facts/job_facts.h"

#include <fmt/format.h>

namespace sonde::rules {
namespace {

using engine::changes::IterationChange;
using engine::changes::RankChanges;

void judgeChanges(const RankChanges& rank, const Parameters& parameters, Outcome& outcome) {
  outcome.samples = rank.iterations;
  outcome.threshold = parameters.real("max_increase");
  if (!rank.isEnough) {
    outcome.message =
        fmt::format("{} iterations are too few to tell a change from noise", rank.iterations);
    return;
  }
  // From the fastest level before to the present one: a fault that is over is none now.
  const IterationChange* worst = nullptr;
  double increase = 0;
  if (!rank.changes.empty()) {
    const std::int64_t now = rank.changes.back().afterNs;
    for (const IterationChange& change : rank.changes) {
      const double by = static_cast<double>(now - change.beforeNs) /
                        static_cast<double>(std::max<std::int64_t>(change.beforeNs, 1));
      if (by > increase) {
        increase = by;
        worst = &change;
      }
    }
  }
  outcome.value = increase;
  outcome.verdict = increase > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  if (worst == nullptr) {
    outcome.message = rank.changes.empty() ? "iterations always took the same time"
                                           : "iterations are not slower than before";
    return;
  }
  outcome.evidence = {
      {"iteration", worst->number}, {"before_ns", worst->beforeNs}, {"after_ns", worst->afterNs}};
  outcome.time = TimeRange{worst->atNs, worst->atNs};
  outcome.message =
      fmt::format("iterations take {:.1f} % longer than before iteration {}: {}, then {}",
                  100 * increase,
                  worst->number,
                  durationText(static_cast<double>(worst->beforeNs)),
                  durationText(static_cast<double>(rank.changes.back().afterNs)));
  if (!worst->operations.empty()) {
    const auto& moved = worst->operations.front();
    outcome.evidence["moved"] = moved.name;
    outcome.message += fmt::format("; most of it in {}", moved.name);
  }
}

Result<std::vector<Finding>> judgeIterationChange(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const ChangeFacts* const all, facts.of<ChangeFacts>());
  std::vector<Finding> findings;
  for (const RankChanges& rank : all->ranks) {
    Finding finding{rank.process, {}};
    judgeChanges(rank, parameters, finding.outcome);
    findings.push_back(std::move(finding));
  }
  if (findings.empty()) {
    findings.push_back({"job", {}});
    findings.back().outcome.message =
        "no iteration was recorded: mark iterations with sonde.iteration(), or record the torch "
        "source with an optimiser";
  }
  return findings;
}

}  // namespace

RuleInfo iterationTimeChange() {
  RuleInfo info;
  info.name = "iteration-time-change";
  info.profile = Profile::Performance;
  info.summary = "iterations take longer than they did before";
  info.details =
      "Looks for changes of the level of iteration times, and compares the present level with each "
      "earlier one. Fires if\n"
      "iterations take longer than then by more than the share `max_increase`. The message names "
      "the "
      "first iteration of the\n"
      "slower level and the operation that grew most.";
  info.needs = "annotation,torch";
  info.hint =
      "look at what moved: clocks that fell, a neighbour on the machine, data that grew, a "
      "fuller disk";
  info.next = {"sonde report TRACE", "sonde breakdown TRACE --by iteration,category"};
  info.parameters = {
      {"max_increase", 0.1, "largest healthy increase, as a share of the earlier level", 0, 1e6}};
  info.judge = JobJudge(judgeIterationChange);
  return info;
}

}  // namespace sonde::rules
