#include "rules/builtin/communication/communication_rules.h"
#include "rules/builtin/series.h"
#include "rules/facts/job_facts.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace sonde::rules {
namespace {

using engine::metrics::RankProcess;
using engine::metrics::RankTime;

double shareOf(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

Outcome timeOutcome(const RankProcess& rank, const RankTime& time) {
  Outcome outcome;
  outcome.samples = time.collectives;
  if (!rank.iterations.empty())
    outcome.window = windowOf(rank.iterations.front().number, rank.iterations.back().number);
  outcome.time = TimeRange{rank.window.begin, rank.window.end};
  outcome.evidence = {{"window_ns", time.windowNs},
                      {"compute_ns", time.computeNs},
                      {"communication_ns", time.commNs},
                      {"hidden_ns", time.hiddenNs},
                      {"exposed_ns", time.exposedNs}};
  return outcome;
}

using TimeJudge = std::function<void(const RankTime&, const Parameters&, Outcome&)>;

// A finding for each rank whose compute is known.
JobJudge judgeEachTime(TimeJudge judge) {
  return [judge = std::move(judge)](Facts& facts,
                                    const Parameters& parameters) -> Result<std::vector<Finding>> {
    SONDE_TRY_ASSIGN(const TimeFacts* const all, facts.of<TimeFacts>());
    std::vector<Finding> findings;
    for (std::size_t i = 0; i < all->times.size(); ++i) {
      const RankTime& time = all->times[i];
      Finding finding{all->list.ranks[i].name, timeOutcome(all->list.ranks[i], time)};
      if (time.collectives == 0 && time.commNs == 0) {
        finding.outcome.verdict = Verdict::Skipped;
        finding.outcome.message = "the rank takes part in no collective";
      } else if (!time.computeKnown) {
        finding.outcome.message =
            "the rank's computing was not recorded: record it with --sources +torch or +cuda";
      } else {
        judge(time, parameters, finding.outcome);
      }
      findings.push_back(std::move(finding));
    }
    return findings;
  };
}

void judgeBound(const RankTime& time, const Parameters& parameters, Outcome& outcome) {
  const double share = shareOf(time.exposedNs, time.windowNs);
  outcome.value = share;
  outcome.threshold = parameters.real("max_share");
  outcome.verdict = share > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.message = fmt::format(
      "communicates for {:.0f} % of the time without computing meanwhile; computes for {:.0f} %",
      100 * share,
      100 * shareOf(time.computeNs, time.windowNs));
}

void judgeOverlap(const RankTime& time, const Parameters& parameters, Outcome& outcome) {
  const double communicates = shareOf(time.commNs, time.windowNs);
  // At best all of it could be hidden, or as much as there is to compute.
  const std::int64_t possible = std::min(time.commNs, time.computeNs);
  const double hidden = shareOf(time.hiddenNs, possible);
  outcome.value = hidden;
  outcome.threshold = parameters.real("min_hidden");
  const bool matters = communicates > parameters.real("min_communication");
  outcome.verdict = matters && hidden < *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.message = fmt::format(
      "{:.0f} % of the communication that could run beside computing does; it takes {:.0f} % of "
      "the "
      "time",
      100 * hidden,
      100 * communicates);
}

}  // namespace

RuleInfo communicationBound() {
  RuleInfo info;
  info.name = "communication-bound";
  info.profile = Profile::Performance;
  info.summary = "a rank communicates without computing for much of the time";
  info.details =
      "Fires if collectives run without computing beside them for more than `max_share` of the "
      "rank's window. That includes\n"
      "waiting for others: `straggler` says whether it is their fault.";
  info.needs = "gloo,nccl,mpi,torch,cuda";
  info.hint =
      "compress or bucket gradients, overlap them with the backward pass, accumulate over "
      "micro-batches, or use a faster network";
  info.next = {"sonde optimize TRACE", "sonde whatif TRACE --network bandwidth=x2"};
  info.parameters = {{"max_share", 0.3, "largest healthy share of exposed communication", 0, 1}};
  info.judge = judgeEachTime(judgeBound);
  return info;
}

RuleInfo overlapNotUsed() {
  RuleInfo info;
  info.name = "overlap-not-used";
  info.profile = Profile::Performance;
  info.summary = "communication could run beside computing, and does not";
  info.details =
      "At best all communication is hidden, or as much of it as there is computing. Fires if less "
      "than `min_hidden` of that\n"
      "is, and communication takes more than `min_communication` of the time.";
  info.needs = "gloo,nccl,mpi,torch,cuda";
  info.hint =
      "reduce gradients in buckets during the backward pass (DistributedDataParallel), on a "
      "stream of its own";
  info.next = {"sonde whatif TRACE --ask overlap"};
  info.parameters = {
      {"min_hidden", 0.1, "smallest healthy share that is hidden", 0, 1},
      {"min_communication", 0.1, "less communication is healthy in any case", 0, 1},
  };
  info.judge = judgeEachTime(judgeOverlap);
  return info;
}

}  // namespace sonde::rules
