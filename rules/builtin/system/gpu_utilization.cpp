#include "rules/builtin/system/gpu_use.h"
#include "rules/builtin/system/system_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde::rules {
namespace {

constexpr std::string_view kBusy = "GPU busy";

Outcome secondsOutcome(std::size_t seconds, const Parameters& parameters) {
  Outcome outcome;
  outcome.samples = static_cast<std::int64_t>(seconds);
  outcome.window = windowOfSeconds(seconds);
  if (outcome.samples < parameters.integer("min_seconds"))
    outcome.message = fmt::format(
        "{} s were sampled after a warm-up of {} s, but {} are needed: record {} s more",
        seconds,
        parameters.integer("warmup_s"),
        parameters.integer("min_seconds"),
        parameters.integer("min_seconds") - outcome.samples);
  return outcome;
}

bool isEnough(const Outcome& outcome, const Parameters& parameters) {
  return outcome.samples >= parameters.integer("min_seconds");
}

// The devices with samples of their use.
std::vector<const CounterSeries*> busySeries(const CounterFacts& facts) {
  std::vector<const CounterSeries*> found;
  for (const auto& [id, device] : facts.devices)
    if (const CounterSeries* const busy = facts.ofDevice(id, kBusy))
      found.push_back(busy);
  return found;
}

Outcome judgeBusy(const CounterSeries& busy, const Parameters& parameters) {
  const std::vector<double> seconds = newestSeconds(busy, parameters);
  Outcome outcome = secondsOutcome(seconds.size(), parameters);
  if (!isEnough(outcome, parameters))
    return outcome;
  const double high = percentileOf(seconds, 0.95);
  const double low = percentileOf(seconds, 0.05);
  const double least = parameters.real("min_p95");
  outcome.value = high;
  outcome.threshold = least;
  outcome.evidence = {{"p95", high}, {"p5", low}, {"p50", percentileOf(seconds, 0.5)}};
  const bool isLow = high < least;
  const bool fluctuates = !isLow && low < parameters.real("min_p5");
  outcome.verdict = isLow || fluctuates ? Verdict::Fired : Verdict::Pass;
  outcome.message = fmt::format(
      "{}: 95 % of the seconds at or below {:.0f} % busy, 5 % at or below "
      "{:.0f} %",
      isLow && high < 0.01 ? "unused"
      : isLow              ? "low use"
      : fluctuates         ? "the use fluctuates"
                           : "well used",
      100 * high,
      100 * low);
  return outcome;
}

Result<std::vector<Finding>> judgeUtilization(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const CounterFacts* const counters, facts.of<CounterFacts>());
  std::vector<Finding> findings;
  for (const CounterSeries* busy : busySeries(*counters))
    findings.push_back({busy->place, judgeBusy(*busy, parameters)});
  if (findings.empty()) {
    SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
    findings.push_back({"job", gpuNotSampled(*list)});
  }
  return findings;
}

// The mean distance of equal quantiles: the area between the two distribution functions.
double quantileDistance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  constexpr int kQuantiles = 200;
  double sum = 0;
  for (int i = 0; i < kQuantiles; ++i) {
    const double at = (i + 0.5) / kQuantiles;
    const auto pick = [at](const std::vector<double>& values) {
      return values[std::min(values.size() - 1,
                             static_cast<std::size_t>(at * static_cast<double>(values.size())))];
    };
    sum += std::abs(pick(a) - pick(b));
  }
  return sum / kQuantiles;
}

Result<std::vector<Finding>> judgeBalance(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const CounterFacts* const counters, facts.of<CounterFacts>());
  SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
  std::vector<std::pair<std::string, std::vector<double>>> devices;
  for (const CounterSeries* busy : busySeries(*counters))
    devices.emplace_back(busy->place, newestSeconds(*busy, parameters));
  if (devices.empty())
    return std::vector{Finding{"job", gpuNotSampled(*list)}};
  if (devices.size() == 1) {
    Outcome one;
    one.verdict = Verdict::Skipped;
    one.message = "the job has one GPU";
    return std::vector{Finding{"job", std::move(one)}};
  }
  std::size_t least = SIZE_MAX;
  for (const auto& [place, seconds] : devices)
    least = std::min(least, seconds.size());
  Outcome outcome = secondsOutcome(least, parameters);
  if (!isEnough(outcome, parameters))
    return std::vector{Finding{"job", std::move(outcome)}};
  double worst = -1;
  std::string pair;
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (std::size_t j = i + 1; j < devices.size(); ++j)
      if (const double distance = quantileDistance(devices[i].second, devices[j].second);
          distance > worst) {
        worst = distance;
        pair = fmt::format("{} and {}", devices[i].first, devices[j].first);
      }
  outcome.value = worst;
  outcome.threshold = parameters.real("max_distance");
  outcome.verdict = worst > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.evidence = {{"devices", pair}};
  outcome.message =
      fmt::format("the use of {} differs by {:.0f} points on average", pair, 100 * worst);
  return std::vector{Finding{"job", std::move(outcome)}};
}

constexpr std::string_view kHeldBack = "GPU held back by ";

Result<std::vector<Finding>> judgeThrottling(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const CounterFacts* const counters, facts.of<CounterFacts>());
  std::map<std::string, Finding> byPlace;
  for (const CounterSeries& series : counters->series) {
    if (series.deviceId == 0 || !series.name.starts_with(kHeldBack))
      continue;
    const std::vector<double> seconds = newestSeconds(series, parameters);
    Finding& finding = byPlace.try_emplace(series.place, Finding{series.place, {}}).first->second;
    double share = 0;
    for (const double each : seconds)
      share += each / static_cast<double>(seconds.size());
    if (finding.outcome.value && share <= *finding.outcome.value)
      continue;
    finding.outcome = secondsOutcome(seconds.size(), parameters);
    if (!isEnough(finding.outcome, parameters))
      continue;
    finding.outcome.value = share;
    finding.outcome.threshold = parameters.real("max_share");
    finding.outcome.verdict = share > *finding.outcome.threshold ? Verdict::Fired : Verdict::Pass;
    const std::string reason = series.name.substr(kHeldBack.size());
    finding.outcome.evidence = {{"reason", reason}};
    finding.outcome.message =
        fmt::format("held back by {} for {:.0f} % of the time", reason, 100 * share);
  }
  std::vector<Finding> findings;
  for (auto& [place, finding] : byPlace)
    findings.push_back(std::move(finding));
  if (findings.empty()) {
    SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
    findings.push_back({"job", gpuNotSampled(*list)});
  }
  return findings;
}

}  // namespace

RuleInfo lowGpuUtilization() {
  RuleInfo info;
  info.name = "low-gpu-utilization";
  info.alias = "LowGPUUtilization";
  info.profile = Profile::Performance;
  info.isOptional = true;
  info.summary = "a GPU is little used, or its use fluctuates";
  info.details =
      "Takes the mean use of each second after the warm-up. Low: the 95th percentile is below "
      "`min_p95`. Fluctuating: it is\n"
      "not, but the 5th percentile is below `min_p5`. The use counts a second as busy if any "
      "kernel "
      "runs: see gpu-gaps.";
  info.needs = "system";
  info.hint =
      "raise the batch size, load data with more workers, or look for what the GPU waits for";
  info.next = {"sonde report TRACE", "sonde check TRACE --profile performance"};
  info.parameters = secondsParameters();
  info.parameters.push_back({"min_p95", 0.7, "smallest healthy 95th percentile of the use", 0, 1});
  info.parameters.push_back({"min_p5", 0.1, "smallest healthy 5th percentile", 0, 1});
  info.judge = JobJudge(judgeUtilization);
  return info;
}

RuleInfo loadBalancing() {
  RuleInfo info;
  info.name = "load-balancing";
  info.alias = "LoadBalancing";
  info.profile = Profile::Performance;
  info.isOptional = true;
  info.summary = "GPUs of the job are used to different degrees";
  info.details =
      "Compares the use of all pairs of GPUs, on all machines: the mean difference of equal "
      "quantiles of their seconds. It\n"
      "is 0 for equal distributions, and the difference of the means if one is always busier. "
      "Fires "
      "above `max_distance`.";
  info.needs = "system";
  info.hint = "give ranks equal work: batch sizes, sequence lengths, stages of the pipeline";
  info.next = {"sonde graph TRACE --critical-path", "sonde report TRACE"};
  info.parameters = secondsParameters();
  info.parameters.push_back(
      {"max_distance", 0.2, "largest healthy difference of the use, from 0 to 1", 0, 1});
  info.judge = JobJudge(judgeBalance);
  return info;
}

RuleInfo gpuThrottling() {
  RuleInfo info;
  info.name = "gpu-throttling";
  info.profile = Profile::Performance;
  info.isOptional = true;
  info.summary = "a GPU is held back by its power cap, by heat or by hardware";
  info.details =
      "Fires if a GPU reports one of these reasons for more than `max_share` of the time.";
  info.needs = "system";
  info.hint =
      "look at cooling, at the power limit (nvidia-smi -q -d PERFORMANCE) and at the machine";
  info.next = {"sonde sql TRACE \"SELECT * FROM v_sample WHERE name GLOB 'GPU held back*'\""};
  info.parameters = secondsParameters();
  info.parameters.push_back({"max_share", 0.05, "largest healthy share of the time", 0, 1});
  info.judge = JobJudge(judgeThrottling);
  return info;
}

}  // namespace sonde::rules
