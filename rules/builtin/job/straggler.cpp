#include "rules/builtin/job/job_rules.h"
#include "rules/engine/duration_text.h"
#include "rules/facts/graph_facts.h"
#include "rules/facts/job_facts.h"

#include <fmt/format.h>

namespace sonde::rules {
namespace {

using engine::stragglers::Straggler;

Finding stragglerFinding(const GraphFacts& facts, const Straggler& straggler, double threshold) {
  Finding finding{fmt::format("rank {}", straggler.rank), {}};
  Outcome& outcome = finding.outcome;
  const std::string cause(engine::critical::nameOf(straggler.cause));
  outcome.verdict = straggler.share > threshold ? Verdict::Fired : Verdict::Pass;
  outcome.value = straggler.share;
  outcome.threshold = threshold;
  outcome.samples = static_cast<std::int64_t>(facts.steps);
  outcome.evidence = {{"operation", straggler.operation},
                      {"cause", cause},
                      {"ns", straggler.ns},
                      {"confidence", straggler.confidence}};
  outcome.message = fmt::format(
      "the job loses {:.1f} % of an iteration by it, {}: it is slower than its peers, most in {} "
      "({})",
      100 * straggler.share,
      durationText(static_cast<double>(straggler.ns)),
      straggler.operation.empty() ? "unrecorded work" : straggler.operation,
      cause);
  outcome.next = {fmt::format("sonde whatif TRACE --ask no-stragglers,only={}", straggler.rank),
                  "sonde graph TRACE --critical-path"};
  return finding;
}

Result<std::vector<Finding>> judgeStraggler(Facts& facts, const Parameters& parameters) {
  Finding whole{"job", {}};
  SONDE_TRY_ASSIGN(const GraphFacts* const graph, facts.of<GraphFacts>());
  whole.outcome.samples = static_cast<std::int64_t>(graph->steps);
  whole.outcome.threshold = parameters.real("max_share");
  SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
  if (graph->ranks == 1 || list->ranks.size() < 2) {
    whole.outcome.verdict = Verdict::Skipped;
    whole.outcome.message = "the trace has one rank: give the traces of all ranks of the job";
    return std::vector{std::move(whole)};
  }
  if (!graph->whyNone.empty()) {
    whole.outcome.message = "no rank can be compared: " + graph->whyNone;
    return std::vector{std::move(whole)};
  }
  std::vector<Finding> findings;
  for (const Straggler& each : graph->stragglers)
    findings.push_back(stragglerFinding(*graph, each, parameters.real("max_share")));
  if (findings.empty()) {
    whole.outcome.verdict = Verdict::Pass;
    whole.outcome.value = 0;
    whole.outcome.message = fmt::format(
        "none of {} ranks holds the others up in {} iterations", graph->ranks, graph->steps);
    findings.push_back(std::move(whole));
  }
  return findings;
}

}  // namespace

RuleInfo straggler() {
  RuleInfo info;
  info.name = "straggler";
  info.profile = Profile::Performance;
  info.isForProduction = false;
  info.comparesRanks = true;
  info.summary = "the job is slower because one rank is";
  info.details =
      "Replays the job's graph as if each rank did the same work as fast as its peers. Fires for a "
      "rank by which the job loses\n"
      "more than `max_share` of an iteration, if it is slower beyond chance. Who only waits for "
      "others is none. It needs\n"
      "eight iterations of the same structure.";
  info.needs = "annotation,torch,gloo,nccl,mpi,cuda";
  info.hint =
      "host or device: look at that machine's clocks, neighbours and temperature; loader: its "
      "data; messages: its network";
  info.next = {"sonde whatif TRACE --no-stragglers", "sonde graph TRACE --critical-path"};
  info.parameters = {
      {"max_share", 0.05, "largest healthy loss by one rank, as a share of an iteration", 0.02, 1}};
  info.judge = JobJudge(judgeStraggler);
  return info;
}

}  // namespace sonde::rules
