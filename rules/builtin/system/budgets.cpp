#include "analysis/engine/energy/energy_use.h"
#include "analysis/engine/metrics/moved_bytes.h"
#include "analysis/engine/statistics/statistics.h"
#include "rules/builtin/series.h"
#include "rules/builtin/system/system_rules.h"
#include "rules/facts/job_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace sonde::rules {
namespace {

using engine::energy::EnergyUse;
using engine::metrics::MovedBytes;
using engine::metrics::RankProcess;

Finding withoutBudget(const char* names) {
  Finding finding{"job", {}};
  finding.outcome.message = fmt::format("no budget is set: set {} in a rules file", names);
  return finding;
}

// The bytes of an iteration against one budget.
struct BytesSubject {
  const char* words;   // "over networks"
  const char* source;  // that records them
  const std::vector<std::int64_t>& bytes;
  std::int64_t pieces;
  std::int64_t budget;
};

Outcome judgeBytes(const RankProcess& rank,
                   const BytesSubject& subject,
                   const Parameters& parameters) {
  Outcome outcome;
  outcome.samples = static_cast<std::int64_t>(subject.bytes.size());
  outcome.threshold = static_cast<double>(subject.budget);
  if (outcome.samples < parameters.integer("min_samples")) {
    outcome.message = fmt::format(
        "{} iterations, but {} are needed", outcome.samples, parameters.integer("min_samples"));
    return outcome;
  }
  if (subject.pieces == 0) {
    outcome.inputMissing = true;
    outcome.message =
        fmt::format("no bytes {} were recorded in its iterations: record them with --sources +{}",
                    subject.words,
                    subject.source);
    return outcome;
  }
  outcome.window = windowOf(rank.iterations.front().number, rank.iterations.back().number);
  outcome.value =
      engine::metrics::median(std::vector<double>(subject.bytes.begin(), subject.bytes.end()));
  outcome.verdict = *outcome.value > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.evidence = {
      {"median_bytes", *outcome.value},
      {"largest_bytes", *std::max_element(subject.bytes.begin(), subject.bytes.end())},
      {"pieces", subject.pieces}};
  outcome.message = fmt::format(
      "half of the iterations move {:.3f} MB or more {}; the budget is "
      "{:.3f} MB",
      *outcome.value / 1e6,
      subject.words,
      *outcome.threshold / 1e6);
  return outcome;
}

Result<std::vector<Finding>> judgeByteBudget(Facts& facts, const Parameters& parameters) {
  const std::int64_t network = parameters.integer("max_network_bytes");
  const std::int64_t copies = parameters.integer("max_copied_bytes");
  if (network == 0 && copies == 0)
    return std::vector{withoutBudget("max_network_bytes or max_copied_bytes")};
  SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
  std::vector<Finding> findings;
  for (const RankProcess& rank : list->ranks) {
    SONDE_TRY_ASSIGN(const MovedBytes moved, movedBytes(facts.trace(), rank));
    if (network > 0)
      findings.push_back({fmt::format("{}, network", rank.name),
                          judgeBytes(rank,
                                     {moved.fromCollectives ? "in collectives" : "over networks",
                                      "net,mpi,nccl,gloo",
                                      moved.network,
                                      moved.transfers,
                                      network},
                                     parameters)});
    if (copies > 0)
      findings.push_back(
          {fmt::format("{}, copies", rank.name),
           judgeBytes(rank,
                      {"between host and device", "cuda", moved.copies, moved.copied, copies},
                      parameters)});
  }
  if (findings.empty()) {
    findings.push_back({"job", {}});
    findings.back().outcome.message = "the trace has no process";
  }
  return findings;
}

Outcome judgeEnergy(const EnergyUse& use, double budget) {
  Outcome outcome;
  outcome.samples = use.iterations;
  outcome.threshold = budget;
  if (!use.joulesPerIteration) {
    outcome.message =
        "no iteration was recorded: mark iterations with sonde.iteration(), or record the torch "
        "source with an optimiser";
    return outcome;
  }
  outcome.value = *use.joulesPerIteration;
  outcome.verdict = *outcome.value > budget ? Verdict::Fired : Verdict::Pass;
  outcome.evidence = {{"meter", use.meter},
                      {"joules", use.energy.joules},
                      {"joules_per_iteration", *use.joulesPerIteration}};
  if (!use.operations.empty())
    outcome.evidence["operation"] = use.operations.front().name;
  outcome.message = fmt::format(
      "an iteration takes {:.4g} J by {}{}; the budget is {:.4g} J",
      *outcome.value,
      use.meter,
      use.operations.empty() ? "" : fmt::format(", most of it in {}", use.operations.front().name),
      budget);
  return outcome;
}

Result<std::vector<Finding>> judgeEnergyBudget(Facts& facts, const Parameters& parameters) {
  const double ofDevice = parameters.real("max_device_joules");
  const double ofHost = parameters.real("max_host_joules");
  if (ofDevice <= 0 && ofHost <= 0)
    return std::vector{withoutBudget("max_device_joules or max_host_joules")};
  SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
  SONDE_TRY_ASSIGN(
      const auto uses,
      engine::energy::energyUses(facts.trace(),
                                 list->ranks,
                                 std::vector<engine::metrics::Throughput>(list->ranks.size())));
  std::vector<Finding> findings;
  for (const EnergyUse& use : uses)
    if (const double budget = use.isDevice ? ofDevice : ofHost; budget > 0)
      findings.push_back({fmt::format("{}, {}", use.place, use.meter), judgeEnergy(use, budget)});
  if (findings.empty()) {
    findings.push_back({"job", {}});
    findings.back().outcome.inputMissing = true;
    findings.back().outcome.message =
        "no meter of energy was read while the ranks worked: record it with --sources +system on a "
        "machine that has one";
  }
  return findings;
}

}  // namespace

RuleInfo bytesOverBudget() {
  RuleInfo info;
  info.name = "bytes-over-budget";
  info.profile = Profile::Ci;
  info.runsByItself = RunsByItself::Never;
  info.summary = "an iteration moves more bytes than you allow";
  info.details =
      "Takes each rank's median iteration. Fires if it sends and receives more than "
      "`max_network_bytes`, or if copies between\n"
      "its host and its devices have more than `max_copied_bytes`. A budget of 0 is none. Where no "
      "transfer was recorded,\n"
      "the sizes of collectives count as the network's bytes. It needs `min_samples` iterations.";
  info.needs = "net,mpi,nccl,gloo,cuda";
  info.hint = "look for messages and copies that are new or larger: compare with an earlier run";
  info.next = {"sonde report TRACE", "sonde diff EARLIER TRACE"};
  info.parameters = {
      {"max_network_bytes",
       std::int64_t{0},
       "budget of an iteration on networks; 0: none",
       0,
       1e18},
      {"max_copied_bytes", std::int64_t{0}, "budget of host and device copies; 0: none", 0, 1e18},
      {"min_samples", std::int64_t{3}, "with fewer iterations the verdict is insufficient", 1, 1e9},
  };
  info.judge = JobJudge(judgeByteBudget);
  return info;
}

RuleInfo energyOverBudget() {
  RuleInfo info;
  info.name = "energy-over-budget";
  info.profile = Profile::Performance;
  info.runsByItself = RunsByItself::Never;
  info.summary = "an iteration takes more energy than you allow";
  info.details =
      "Takes the energy that each meter of a machine or device recorded in the ranks' windows, "
      "divided by the iterations.\n"
      "Fires for a device above `max_device_joules`, and for a machine's meter above "
      "`max_host_joules`. A budget of 0 is\n"
      "none. Meters may include each other, so each is judged by itself.";
  info.needs = "system";
  info.hint = "see which operation takes the energy, and lower its precision or its clocks";
  info.next = {"sonde report TRACE --full"};
  info.parameters = {
      {"max_device_joules", 0.0, "budget of a device for an iteration; 0: none", 0, 1e18},
      {"max_host_joules", 0.0, "budget of each meter of a machine; 0: none", 0, 1e18},
  };
  info.judge = JobJudge(judgeEnergyBudget);
  return info;
}

}  // namespace sonde::rules
