#include "analysis/engine/statistics/statistics.h"
#include "rules/builtin/job/job_rules.h"
#include "rules/builtin/series.h"
#include "rules/facts/job_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde::rules {
namespace {

using engine::device::IterationLags;

constexpr std::size_t kNoiseIterations = 30;
constexpr double kNoises = 4;

// Iterations in which all ranks met: the newest may not have ended.
std::vector<const IterationLags*> wholeOnes(const std::vector<IterationLags>& all) {
  std::size_t ranks = 0;
  for (const IterationLags& each : all)
    ranks = std::max(ranks, each.ns.size());
  std::vector<const IterationLags*> whole;
  for (const IterationLags& each : all)
    if (each.ns.size() == ranks)
      whole.push_back(&each);
  return whole;
}

std::int64_t latestIn(const IterationLags& lags) {
  return std::max_element(lags.ns.begin(),
                          lags.ns.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// How much the lags of all ranks but one vary.
double noiseOf(const std::vector<const IterationLags*>& all, std::int64_t but) {
  std::vector<double> lags;
  const std::size_t begin = all.size() > kNoiseIterations ? all.size() - kNoiseIterations : 0;
  for (std::size_t i = begin; i < all.size(); ++i)
    for (const auto& [process, ns] : all[i]->ns)
      if (process != but)
        lags.push_back(static_cast<double>(ns));
  return lags.empty() ? 0 : engine::metrics::robustDeviation(lags);
}

Finding jobFindingOf(const LagFacts& facts, Verdict verdict, std::string message) {
  Finding finding{"job", {}};
  finding.outcome.verdict = verdict;
  finding.outcome.samples = static_cast<std::int64_t>(facts.lags.size());
  finding.outcome.message = std::move(message);
  return finding;
}

std::string nameOfProcess(const LagFacts& facts, std::int64_t process) {
  for (const engine::metrics::RankProcess& rank : facts.list.ranks)
    if (rank.processId == process)
      return rank.name;
  return fmt::format("process row {}", process);
}

Result<std::vector<Finding>> judgeLateRank(Facts& all, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const LagFacts* const facts, all.of<LagFacts>());
  if (facts->list.ranks.size() < 2)
    return std::vector{
        jobFindingOf(*facts,
                     Verdict::Skipped,
                     "the trace has one rank: give the traces of all ranks of the job")};
  const auto iterations = static_cast<std::size_t>(parameters.integer("iterations"));
  const auto whole = wholeOnes(facts->lags);
  if (whole.size() < iterations || facts->iterationNs <= 0) {
    Finding finding = jobFindingOf(
        *facts,
        Verdict::Insufficient,
        fmt::format("{} iterations in which all ranks met in collectives, but {} are needed",
                    whole.size(),
                    iterations));
    finding.outcome.inputMissing = whole.empty();
    return std::vector{std::move(finding)};
  }
  if (!facts->clocks.agree)
    return std::vector{jobFindingOf(*facts,
                                    Verdict::Insufficient,
                                    "the clocks of the ranks differ: align them with sonde align "
                                    "--store")};
  const std::int64_t late = latestIn(*whole.back());
  double least = INFINITY;
  for (std::size_t i = whole.size() - iterations; i < whole.size(); ++i) {
    const bool isLatest = latestIn(*whole[i]) == late;
    least = std::min(least, isLatest ? static_cast<double>(whole[i]->ns.at(late)) : 0.0);
  }
  const double noise = noiseOf(whole, late);
  Finding finding = jobFindingOf(*facts, Verdict::Pass, "no rank is late again and again");
  Outcome& outcome = finding.outcome;
  outcome.value = least / facts->iterationNs;
  outcome.threshold = parameters.real("max_share");
  outcome.window = windowOf(whole[whole.size() - iterations]->number, whole.back()->number);
  outcome.evidence = {{"noise_ns", noise}};
  if (*outcome.value <= *outcome.threshold || least <= kNoises * noise)
    return std::vector{std::move(finding)};
  finding.entity = nameOfProcess(*facts, late);
  outcome.verdict = Verdict::Fired;
  outcome.evidence["lag_ns"] = least;
  outcome.message = fmt::format(
      "in each of the last {} iterations it came to the collectives later than the others, by "
      "{:.3g} "
      "ms or more, {:.0f} % of an iteration",
      iterations,
      least / 1e6,
      100 * *outcome.value);
  return std::vector{std::move(finding)};
}

}  // namespace

RuleInfo lateRank() {
  RuleInfo info;
  info.name = "late-rank";
  info.profile = Profile::Performance;
  info.isForProduction = false;
  info.isOptional = true;
  info.comparesRanks = true;
  info.summary = "the others wait for the same rank, iteration after iteration";
  info.details =
      "A rank's lag in an iteration is how much later than the median rank it came to the "
      "collectives, "
      "summed. Fires if the\n"
      "same rank had the greatest lag in each of the last `iterations` iterations, each time above "
      "`max_share` of the median\n"
      "iteration and above four times the noise of the other ranks' lags. It sees a straggler "
      "within "
      "a few iterations; the\n"
      "rule straggler needs more and says why.";
  info.needs = "gloo,nccl,mpi";
  info.hint = "see what the rule straggler says; look at that rank's machine, data and clocks";
  info.next = {"sonde check TRACE --profile performance", "sonde graph TRACE --critical-path"};
  info.parameters = {
      {"iterations", std::int64_t{3}, "iterations in a row in which it must be the latest", 1, 1e6},
      {"max_share", 0.05, "largest healthy lag, as a share of an iteration", 0, 1e6}};
  info.judge = JobJudge(judgeLateRank);
  return info;
}

}  // namespace sonde::rules
