#include "analysis/store/read_rows.h"
#include "rules/builtin/series.h"
#include "rules/builtin/system/gpu_use.h"
#include "rules/builtin/system/system_rules.h"
#include "rules/builtin/trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace sonde::rules {
namespace {

// Bytes at the end of each iteration.
using Levels = std::vector<SeriesValue>;

std::vector<const StepFact*> outerSteps(const ProcessFacts& process) {
  std::vector<const StepFact*> steps;
  for (const StepFact& step : process.steps)
    if (!step.isInner)
      steps.push_back(&step);
  return steps;
}

Levels levelsOf(const CounterSeries& series, const ProcessFacts& process) {
  Levels levels;
  for (const StepFact* step : outerSteps(process)) {
    // A gauge that does not change is only stored at both ends: none is newer than the last.
    if (const auto bytes = series.at(step->endNs());
        bytes && step->endNs() <= series.points.back().ns)
      levels.push_back({step->number, *bytes, 1});
  }
  return levels;
}

struct BlockRow {
  std::int64_t processId = 0;
  std::int64_t deviceId = 0;
  std::int64_t allocNs = 0;
  std::optional<std::int64_t> freeNs;
  std::int64_t bytes = 0;

  SONDE_COLUMNS(processId, deviceId, allocNs, freeNs, bytes)
};

// By process and device: how the bytes in use change, by time.
using Changes = std::map<std::pair<std::int64_t, std::int64_t>,
                         std::vector<std::pair<std::int64_t, std::int64_t>>>;

Result<Changes> readDeviceBlocks(const store::Database& trace) {
  Changes changes;
  SONDE_TRY(store::forEach<BlockRow>(trace,
                                     "SELECT process_id, device_id, alloc_ns, free_ns, bytes FROM "
                                     "allocation WHERE device_id IS NOT "
                                     "NULL",
                                     [&](const BlockRow& row) {
                                       auto& ofDevice = changes[{row.processId, row.deviceId}];
                                       ofDevice.emplace_back(row.allocNs, row.bytes);
                                       if (row.freeNs)
                                         ofDevice.emplace_back(*row.freeNs, -row.bytes);
                                     }));
  for (auto& [key, ofDevice] : changes)
    std::sort(ofDevice.begin(), ofDevice.end());
  return changes;
}

Levels levelsOf(const std::vector<std::pair<std::int64_t, std::int64_t>>& changes,
                const ProcessFacts& process) {
  Levels levels;
  std::int64_t bytes = 0;
  auto next = changes.begin();
  for (const StepFact* step : outerSteps(process)) {
    for (; next != changes.end() && next->first <= step->endNs(); ++next)
      bytes += next->second;
    levels.push_back({step->number, static_cast<double>(bytes), 1});
  }
  return levels;
}

Outcome judgeLevels(const Levels& all, const std::string& what, const Parameters& parameters) {
  const auto warmup = std::min(all.size(), static_cast<std::size_t>(parameters.integer("warmup")));
  const auto levels = newest(std::span(all).subspan(warmup), parameters.integer("window"));
  Outcome outcome = outcomeOf(levels);
  if (outcome.samples < parameters.integer("min_samples")) {
    outcome.message = fmt::format("{} iterations after a warm-up of {}, but {} are needed",
                                  outcome.samples,
                                  parameters.integer("warmup"),
                                  parameters.integer("min_samples"));
    return outcome;
  }
  const Growth growth = growthOf(valuesOf(levels));
  const double bytes = growth.last - growth.first;
  outcome.value = growth.share();
  outcome.threshold = parameters.real("max_growth");
  const bool isTrend = growth.rising >= parameters.real("min_rising");
  const bool isMuch = *outcome.value > *outcome.threshold &&
                      bytes >= static_cast<double>(parameters.integer("min_bytes"));
  outcome.verdict = isTrend && isMuch ? Verdict::Fired : Verdict::Pass;
  const double each = bytes / static_cast<double>(outcome.samples);
  outcome.evidence = {{"first_bytes", growth.first},
                      {"last_bytes", growth.last},
                      {"bytes_per_iteration", each},
                      {"rising", growth.rising}};
  outcome.message =
      outcome.verdict == Verdict::Fired
          ? fmt::format("{} grew from {:.1f} to {:.1f} MB in {} iterations, {:.1f} kB each",
                        what,
                        growth.first / 1e6,
                        growth.last / 1e6,
                        outcome.samples,
                        each / 1e3)
          : fmt::format("{} does not grow steadily: {:.1f} MB, then {:.1f} MB",
                        what,
                        growth.first / 1e6,
                        growth.last / 1e6);
  return outcome;
}

Finding noIterations() {
  Finding finding{"job", {}};
  finding.outcome.message =
      "no iteration was recorded: mark iterations with sonde.iteration(), or record the torch "
      "source with an optimiser";
  return finding;
}

Result<std::vector<Finding>> judgeLeak(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const RunFacts* const run, facts.of<RunFacts>());
  SONDE_TRY_ASSIGN(const CounterFacts* const counters, facts.of<CounterFacts>());
  if (run->processes().empty())
    return std::vector{noIterations()};
  std::vector<Finding> findings;
  for (const ProcessFacts* process : run->processes()) {
    Finding finding{process->name, {}};
    if (const auto* resident = counters->ofProcess(process->id, "resident memory")) {
      finding.outcome = judgeLevels(levelsOf(*resident, *process), "resident memory", parameters);
    } else {
      finding.outcome.inputMissing = true;
      finding.outcome.message =
          "the process's memory was not sampled: record it with --sources +system";
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

// From the allocations of the process; without any, from the sampled use of the whole device.
Result<std::vector<Finding>> judgeDeviceMemory(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const RunFacts* const run, facts.of<RunFacts>());
  SONDE_TRY_ASSIGN(const CounterFacts* const counters, facts.of<CounterFacts>());
  SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
  if (run->processes().empty())
    return std::vector{noIterations()};
  SONDE_TRY_ASSIGN(const Changes blocks, readDeviceBlocks(facts.trace()));
  std::vector<Finding> findings;
  for (const ProcessFacts* process : run->processes())
    for (const auto& [key, changes] : blocks)
      if (key.first == process->id)
        findings.push_back(
            {process->name, judgeLevels(levelsOf(changes, *process), "device memory", parameters)});
  if (findings.empty())
    for (const auto& [id, device] : counters->devices)
      if (const auto* used = counters->ofDevice(id, "GPU memory used"))
        findings.push_back(
            {device.place,
             judgeLevels(levelsOf(*used, *run->processes().front()), "device memory", parameters)});
  if (findings.empty())
    findings.push_back({"job", gpuNotSampled(*list)});
  return findings;
}

std::vector<ParameterSpec> growthParameters() {
  return {{"warmup", std::int64_t{5}, "number of first iterations to ignore", 0, 1e9},
          {"window", std::int64_t{1000}, "number of latest iterations to judge", 10, 1e9},
          {"min_samples", std::int64_t{20}, "with fewer the verdict is insufficient", 10, 1e9},
          {"max_growth", 0.02, "largest healthy growth over the window, as a share", 0, 1e6},
          {"min_bytes", std::int64_t{1'000'000}, "less growth is healthy in any case", 0, 1e18},
          {"min_rising", 0.73, "how steadily it must grow: 1 is always", 0, 1}};
}

constexpr const char* kGrowthDetails =
    "Takes the memory in use at the end of each iteration, and the lowest value of each tenth of "
    "the "
    "window. Fires if these\n"
    "lows rise steadily (Kendall's tau of at least `min_rising`) by more than `max_growth` and by "
    "`min_bytes`. Memory that\n"
    "goes up and down, or grows once and stays, is healthy.";

}  // namespace

RuleInfo memoryLeak() {
  RuleInfo info;
  info.name = "memory-leak";
  info.profile = Profile::Ci;
  info.isForProduction = true;
  info.isOptional = true;
  info.summary = "a rank's memory on the host grows from iteration to iteration";
  info.details = kGrowthDetails;
  info.needs = "system";
  info.hint =
      "look for lists that keep tensors or losses (append(loss) without .item()), caches, and "
      "workers that copy data sets";
  info.next = {"sonde report TRACE", "sonde run --sources +memory,+stack --stacks-at alloc -- …"};
  info.parameters = growthParameters();
  info.judge = JobJudge(judgeLeak);
  return info;
}

RuleInfo gpuMemoryIncrease() {
  RuleInfo info;
  info.name = "gpu-memory-increase";
  info.alias = "GPUMemoryIncrease";
  info.profile = Profile::Ci;
  info.isForProduction = true;
  info.isOptional = true;
  info.summary = "memory in use on a device grows from iteration to iteration";
  info.details = kGrowthDetails;
  info.needs = "cuda,system";
  info.hint =
      "look for tensors that keep their graph (total_loss += loss without .detach()), and for "
      "growing shapes";
  info.next = {"sonde report TRACE"};
  info.parameters = growthParameters();
  info.judge = JobJudge(judgeDeviceMemory);
  return info;
}

}  // namespace sonde::rules
