#include "rules/builtin/system/gpu_use.h"
#include "rules/builtin/system/system_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace sonde::rules {
namespace {

struct Subject {
  const char* counter;
  const char* name;
};
constexpr Subject kOfMachine[] = {{"cpu busy", "processors busy"},
                                  {"cpu io wait", "I/O wait"},
                                  {"memory available", "memory available"}};
constexpr Subject kOfDevice[] = {{"GPU busy", "GPU busy"}, {"GPU memory used", "GPU memory used"}};

void add(const CounterSeries* series, const char* name, Outcome& outcome) {
  if (series == nullptr)
    return;
  const std::vector<double> seconds = series->seconds();
  if (seconds.empty())
    return;
  outcome.samples = std::max(outcome.samples, static_cast<std::int64_t>(seconds.size()));
  const double mean =
      std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  outcome.evidence[fmt::format("{}: mean", name)] = mean;
  outcome.evidence[fmt::format("{}: max", name)] = percentileOf(seconds, 1);
  outcome.evidence[fmt::format("{}: p99", name)] = percentileOf(seconds, 0.99);
  outcome.evidence[fmt::format("{}: p95", name)] = percentileOf(seconds, 0.95);
  outcome.evidence[fmt::format("{}: p50", name)] = percentileOf(seconds, 0.5);
  outcome.evidence[fmt::format("{}: min", name)] = percentileOf(seconds, 0.001);
  outcome.message +=
      fmt::format("{}{} {:.4g}", outcome.message.empty() ? "means: " : ", ", name, mean);
}

Result<std::vector<Finding>> describeUsage(Facts& facts, const Parameters&) {
  SONDE_TRY_ASSIGN(const CounterFacts* const counters, facts.of<CounterFacts>());
  std::vector<Finding> findings;
  for (const auto& [hostId, processors] : counters->processorsOfHost) {
    Finding finding{"", {}};
    for (const Subject& subject : kOfMachine)
      if (const auto* series = counters->ofHost(hostId, subject.counter)) {
        finding.entity = "host " + series->place;
        add(series, subject.name, finding.outcome);
      }
    if (!finding.entity.empty())
      findings.push_back(std::move(finding));
  }
  for (const auto& [id, device] : counters->devices) {
    Finding finding{device.place, {}};
    for (const Subject& subject : kOfDevice)
      add(counters->ofDevice(id, subject.counter), subject.name, finding.outcome);
    findings.push_back(std::move(finding));
  }
  for (Finding& finding : findings)
    finding.outcome.verdict = finding.outcome.samples > 0 ? Verdict::Pass : Verdict::Insufficient;
  if (findings.empty()) {
    findings.push_back({"job", {}});
    findings.back().outcome.inputMissing = true;
    findings.back().outcome.message =
        "the machine was not sampled: record it with --sources +system";
  }
  return findings;
}

}  // namespace

RuleInfo overallSystemUsage() {
  RuleInfo info;
  info.name = "overall-system-usage";
  info.alias = "OverallSystemUsage";
  info.profile = Profile::Performance;
  info.isOptional = true;
  info.summary = "never: describes how machines and GPUs were used";
  info.details =
      "Mean, largest, 99th, 95th and 50th percentile and smallest value of the seconds, as "
      "evidence. It never fires.";
  info.needs = "system";
  info.judge = JobJudge(describeUsage);
  return info;
}

}  // namespace sonde::rules
