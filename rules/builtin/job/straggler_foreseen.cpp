#include "analysis/engine/standstill/foreseen_end.h"
#include "analysis/engine/statistics/statistics.h"
#include "rules/builtin/job/job_rules.h"
#include "rules/builtin/series.h"
#include "rules/engine/duration_text.h"
#include "rules/facts/job_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace sonde::rules {
namespace {

using engine::standstill::ForeseenEnd;
using engine::standstill::RankProgress;

constexpr double kForeseenNoises = 4;
// A rank this far behind its peers, as a share of an iteration, does not just wait for them.
constexpr double kBehindPeers = 0.005;

// Where the other ranks are, the median; the rank's own place if it is alone.
double placeOfPeers(const std::vector<ForeseenEnd>& all, const ForeseenEnd& rank) {
  std::vector<double> places;
  for (const ForeseenEnd& each : all)
    if (&each != &rank)
      places.push_back(each.position);
  return places.empty() ? rank.position : engine::metrics::median(places);
}

bool isLate(const ForeseenEnd& end, double maxShare) {
  return end.usualNs > 0 && end.lateNs > maxShare * end.usualNs &&
         end.lateNs > kForeseenNoises * end.noiseNs;
}

double lateShare(const ForeseenEnd& end) {
  return end.usualNs > 0 ? std::max(end.lateNs, 0.0) / end.usualNs : 0;
}

Outcome outcomeOfEnd(const ForeseenEnd& end, double maxShare, Verdict verdict) {
  Outcome outcome;
  outcome.verdict = verdict;
  outcome.value = lateShare(end);
  outcome.threshold = maxShare;
  outcome.samples = end.references;
  outcome.window = windowOf(end.number, end.number);
  outcome.time = TimeRange{end.startNs, end.startNs + end.elapsedNs};
  outcome.evidence = {{"elapsed_ns", end.elapsedNs},
                      {"ended_events", end.ended},
                      {"due_ns", end.dueNs},
                      {"usual_ns", end.usualNs},
                      {"noise_ns", end.noiseNs},
                      {"predicted_low_ns", end.lowNs},
                      {"predicted_high_ns", end.highNs},
                      {"compared_with", std::string(end.byPeers ? "other ranks" : "itself")}};
  return outcome;
}

Finding foreseenFinding(const ForeseenEnd& end, double maxShare) {
  Finding finding{end.name, outcomeOfEnd(end, maxShare, Verdict::Fired)};
  const std::string low = durationText(end.lowNs);
  const std::string high = durationText(end.highNs);
  finding.outcome.message = fmt::format(
      "iteration {} will take {} in place of {}: {} after its begin the rank has ended {} "
      "operations, and the next one was due after {}",
      end.number,
      low == high ? low : fmt::format("{} to {}", low, high),
      durationText(end.usualNs),
      durationText(static_cast<double>(end.elapsedNs)),
      end.ended,
      durationText(end.dueNs));
  return finding;
}

Finding jobFinding(Verdict verdict, std::string message) {
  Finding finding{"job", {}};
  finding.outcome.verdict = verdict;
  finding.outcome.message = std::move(message);
  return finding;
}

// No rank fires: the one that is latest, as a value for the job.
Finding healthyFinding(const std::vector<ForeseenEnd>& ends, double maxShare) {
  const ForeseenEnd& latest =
      *std::max_element(ends.begin(), ends.end(), [](const auto& a, const auto& b) {
        return lateShare(a) < lateShare(b);
      });
  Finding finding{"job", outcomeOfEnd(latest, maxShare, Verdict::Pass)};
  finding.outcome.message =
      isLate(latest, maxShare)
          ? fmt::format("no rank is behind the others; all are later in iteration {} than usual",
                        latest.number)
          : fmt::format("{} ranks are in an iteration, and none is late", ends.size());
  return finding;
}

Result<std::vector<Finding>> judgeForeseen(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
  SONDE_TRY_ASSIGN(const std::vector<RankProgress> progress,
                   engine::standstill::readProgress(facts.trace(), list->ranks));
  const auto open = std::count_if(
      progress.begin(), progress.end(), [](const RankProgress& each) { return each.open; });
  const bool iterates = std::any_of(
      list->ranks.begin(), list->ranks.end(), [](const auto& rank) { return rank.iterates(); });
  if (open == 0)
    return std::vector{
        iterates ? jobFinding(Verdict::Skipped, "no iteration was open at the end of the trace")
                 : jobFinding(Verdict::Insufficient,
                              "no iteration was recorded: mark iterations with sonde.iteration(), "
                              "or record the torch source with an optimiser")};
  const auto few = parameters.integer("min_samples");
  const auto ends = engine::standstill::foreseenEnds(progress, static_cast<std::size_t>(few));
  if (ends.empty())
    return std::vector{jobFinding(
        Verdict::Insufficient,
        fmt::format("{} ranks are in an iteration, but none has {} earlier ones to compare it with "
                    "after its first, nor as many ranks that ended it",
                    open,
                    few))};
  const double maxShare = parameters.real("max_share");
  std::vector<Finding> findings;
  for (const ForeseenEnd& end : ends)
    if (isLate(end, maxShare) &&
        (ends.size() == 1 || end.position < placeOfPeers(ends, end) - kBehindPeers))
      findings.push_back(foreseenFinding(end, maxShare));
  if (findings.empty())
    findings.push_back(healthyFinding(ends, maxShare));
  return findings;
}

}  // namespace

RuleInfo stragglerForeseen() {
  RuleInfo info;
  info.name = "straggler-foreseen";
  info.profile = Profile::Performance;
  info.comparesRanks = true;
  info.summary = "a rank is late in an iteration that has not ended yet";
  info.details =
      "Counts what a rank has ended in the iteration that is open at the end of the trace: scopes, "
      "collectives, kernels and\n"
      "copies. Compares when the next one was due in the rank's earlier iterations without its "
      "first; with fewer than\n"
      "`min_samples` of them, in the same iteration of other ranks. Fires for a rank that is later "
      "than that by more than\n"
      "`max_share` of an iteration and by four times the noise, if it is also behind the other "
      "ranks: those only wait. A\n"
      "single rank is compared with itself. The message says when the iteration will end.";
  info.needs = "annotation,torch,gloo,nccl,mpi,cuda";
  info.hint =
      "look at what that rank is doing now, with py-spy dump or the open calls of the trace; then "
      "at its machine";
  info.next = {"sonde sql TRACE \"SELECT * FROM v_open_call\"",
               "sonde check TRACE --profile performance"};
  info.parameters = {
      {"max_share", 0.2, "largest healthy lateness, as a share of an iteration", 0, 1e6},
      {"min_samples", std::int64_t{3}, "with fewer to compare with it is insufficient", 1, 20},
  };
  info.judge = JobJudge(judgeForeseen);
  return info;
}

}  // namespace sonde::rules
