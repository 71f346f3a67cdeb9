#include "analysis/engine/metrics/rank_time.h"
#include "rules/builtin/timing/timing_rules.h"
#include "rules/engine/duration_text.h"
#include "rules/facts/job_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sonde::rules {
namespace {

using engine::metrics::IterationParts;

constexpr double kLeastShown = 0.02;

Outcome describeParts(const IterationParts& parts, std::int64_t iterations) {
  std::vector<std::pair<std::int64_t, const char*>> shares = {{parts.dataLoadNs, "data loading"},
                                                              {parts.forwardNs, "forward"},
                                                              {parts.backwardNs, "backward"},
                                                              {parts.optimizerNs, "optimizer"},
                                                              {parts.otherNs, "other"}};
  std::sort(shares.rbegin(), shares.rend());
  Outcome outcome;
  outcome.verdict = Verdict::Pass;
  outcome.samples = iterations;
  outcome.evidence = {{"iteration", parts.number}, {"iteration_ns", parts.durNs}};
  outcome.message =
      fmt::format("the median iteration takes {}:", durationText(static_cast<double>(parts.durNs)));
  const char* separator = " ";
  for (const auto& [ns, name] : shares) {
    const double share =
        parts.durNs > 0 ? static_cast<double>(ns) / static_cast<double>(parts.durNs) : 0;
    outcome.evidence[name] = share;
    if (share < kLeastShown)
      continue;
    outcome.message +=
        fmt::format("{}{} {:.0f} %", std::exchange(separator, ", "), name, 100 * share);
  }
  return outcome;
}

Result<std::vector<Finding>> describeFramework(Facts& facts, const Parameters&) {
  SONDE_TRY_ASSIGN(const TimeFacts* const times, facts.of<TimeFacts>());
  SONDE_TRY_ASSIGN(const store::Database* const recent, facts.recent());
  std::vector<Finding> findings;
  for (const engine::metrics::RankProcess& rank : times->list.ranks) {
    const auto median = engine::metrics::medianIteration(rank);
    if (!median)
      continue;
    SONDE_TRY_ASSIGN(const IterationParts parts, engine::metrics::partsOf(*recent, rank, *median));
    findings.push_back(
        {rank.name, describeParts(parts, static_cast<std::int64_t>(rank.iterations.size()))});
  }
  if (findings.empty()) {
    findings.push_back({"job", {}});
    findings.back().outcome.inputMissing = true;
    findings.back().outcome.message =
        "no iteration was recorded: mark iterations with sonde.iteration(), or record the torch "
        "source with an optimiser";
  }
  return findings;
}

}  // namespace

RuleInfo overallFrameworkMetrics() {
  RuleInfo info;
  info.name = "overall-framework-metrics";
  info.alias = "OverallFrameworkMetrics";
  info.profile = Profile::Performance;
  info.isOptional = true;
  info.summary = "never: describes the parts of an iteration";
  info.details =
      "The shares of data loading, forward, backward, optimizer and the rest in each rank's "
      "median iteration, as evidence.\nShares below 2 % are not in the message. It never "
      "fires.";
  info.needs = "annotation,torch";
  info.next = {"sonde report TRACE", "sonde breakdown TRACE"};
  info.judge = JobJudge(describeFramework);
  return info;
}

}  // namespace sonde::rules
