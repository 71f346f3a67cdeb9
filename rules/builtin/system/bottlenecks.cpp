#include "rules/builtin/system/gpu_use.h"
#include "rules/builtin/system/system_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace sonde::rules {
namespace {

// A machine's counters by second, aligned.
struct HostSeconds {
  std::vector<std::vector<double>> gpus;  // busy, from 0 to 1; by device
  std::vector<double> processors;         // busy, from 0 to 1 of all
  std::vector<double> ioWait;             // from 0 to 1: time in which some work waited for a disk
  std::vector<double> busiestRank;        // processors that the busiest thread with iterations used
};

struct HostView {
  std::string name;
  HostSeconds seconds;
};

// Threads that train: a process's own iterations run on the thread with its pid.
std::vector<const CounterSeries*> threadSeries(const CounterFacts& facts, std::int64_t hostId) {
  std::vector<const CounterSeries*> found;
  for (const CounterSeries& each : facts.series)
    if (each.hostId == hostId && each.threadId != 0 && each.name == "cpu time")
      found.push_back(&each);
  return found;
}

std::vector<HostView> hostsOf(const CounterFacts& facts, const Parameters& parameters) {
  std::vector<HostView> hosts;
  for (const auto& [hostId, processors] : facts.processorsOfHost) {
    std::vector<const CounterSeries*> series;
    for (const auto& [id, device] : facts.devices)
      if (const auto* busy = facts.ofDevice(id, "GPU busy");
          busy != nullptr && device.hostId == hostId)
        series.push_back(busy);
    const CounterSeries* const busy = facts.ofHost(hostId, "cpu busy");
    if (series.empty() || busy == nullptr || processors <= 0)
      continue;
    const std::size_t gpus = series.size();
    series.push_back(busy);
    const CounterSeries* const pressure = facts.ofHost(hostId, "pressure io some");
    const CounterSeries* const wait = facts.ofHost(hostId, "cpu io wait");
    if (pressure != nullptr || wait != nullptr)
      series.push_back(pressure != nullptr ? pressure : wait);
    auto values = aligned(series, parameters);
    HostView host{busy->place, {}};
    host.seconds.processors = values[gpus];
    for (double& each : host.seconds.processors)
      each /= static_cast<double>(processors);
    if (values.size() > gpus + 1)
      host.seconds.ioWait = values[gpus + 1];
    host.seconds.busiestRank.assign(host.seconds.processors.size(), 0);
    for (const CounterSeries* thread : threadSeries(facts, hostId)) {
      std::vector<const CounterSeries*> pair{busy, thread};
      const auto both = aligned(pair, parameters);
      for (std::size_t i = 0; i < both[1].size(); ++i) {
        // Both end with the newest common second.
        const std::size_t at = host.seconds.busiestRank.size() - both[1].size() + i;
        if (both[1].size() <= host.seconds.busiestRank.size())
          host.seconds.busiestRank[at] = std::max(host.seconds.busiestRank[at], both[1][i]);
      }
    }
    values.resize(gpus);
    host.seconds.gpus = std::move(values);
    hosts.push_back(std::move(host));
  }
  return hosts;
}

using SecondIsBad = std::function<bool(const HostSeconds&, std::size_t, const Parameters&)>;

bool allGpusIdle(const HostSeconds& seconds, std::size_t at, const Parameters& parameters) {
  return std::all_of(seconds.gpus.begin(), seconds.gpus.end(), [&](const auto& gpu) {
    return gpu[at] < parameters.real("gpu_idle");
  });
}

Outcome judgeShare(const HostView& host,
                   const SecondIsBad& isBad,
                   const std::string& what,
                   const Parameters& parameters) {
  const std::size_t seconds = host.seconds.processors.size();
  Outcome outcome;
  outcome.samples = static_cast<std::int64_t>(seconds);
  outcome.window = windowOfSeconds(seconds);
  if (outcome.samples < parameters.integer("min_seconds")) {
    outcome.message = fmt::format("{} s were sampled after the warm-up, but {} are needed",
                                  seconds,
                                  parameters.integer("min_seconds"));
    return outcome;
  }
  std::int64_t bad = 0;
  for (std::size_t at = 0; at < seconds; ++at)
    bad += isBad(host.seconds, at, parameters) ? 1 : 0;
  outcome.value = static_cast<double>(bad) / static_cast<double>(seconds);
  outcome.threshold = parameters.real("max_share");
  outcome.verdict = *outcome.value > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.evidence = {{"seconds", bad}};
  outcome.message = fmt::format(
      "for {:.0f} % of the time all GPUs are idle while {}", 100 * *outcome.value, what);
  return outcome;
}

JobJudge judgeEachHost(SecondIsBad isBad, std::string what, bool needsIo) {
  return [isBad = std::move(isBad), what = std::move(what), needsIo](
             Facts& facts, const Parameters& parameters) -> Result<std::vector<Finding>> {
    SONDE_TRY_ASSIGN(const CounterFacts* const counters, facts.of<CounterFacts>());
    std::vector<Finding> findings;
    for (const HostView& host : hostsOf(*counters, parameters)) {
      if (needsIo && host.seconds.ioWait.empty()) {
        findings.push_back({"host " + host.name, {}});
        findings.back().outcome.message = "the machine does not report waiting for disks";
        continue;
      }
      findings.push_back({"host " + host.name, judgeShare(host, isBad, what, parameters)});
    }
    if (findings.empty()) {
      SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
      findings.push_back({"job", gpuNotSampled(*list)});
    }
    return findings;
  };
}

std::vector<ParameterSpec> bottleneckParameters() {
  std::vector<ParameterSpec> parameters = secondsParameters();
  parameters.push_back({"gpu_idle", 0.1, "a GPU below this use is idle", 0, 1});
  parameters.push_back({"max_share", 0.5, "largest healthy share of such seconds", 0, 1});
  return parameters;
}

// The smallest use of all that could be used more.
Result<std::vector<Finding>> judgeBatchSize(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const CounterFacts* const counters, facts.of<CounterFacts>());
  std::vector<Finding> findings;
  for (const HostView& host : hostsOf(*counters, parameters)) {
    Finding finding{"host " + host.name, {}};
    Outcome& outcome = finding.outcome;
    const std::size_t seconds = host.seconds.processors.size();
    outcome.samples = static_cast<std::int64_t>(seconds);
    outcome.window = windowOfSeconds(seconds);
    if (outcome.samples < parameters.integer("min_seconds")) {
      outcome.message = fmt::format("{} s were sampled after the warm-up, but {} are needed",
                                    seconds,
                                    parameters.integer("min_seconds"));
      findings.push_back(std::move(finding));
      continue;
    }
    const double cpu = percentileOf(host.seconds.processors, 0.95);
    double gpu = 0;
    for (const auto& each : host.seconds.gpus)
      gpu = std::max(gpu, percentileOf(each, 0.95));
    double memory = 0;
    bool memoryKnown = false;
    for (const auto& [id, device] : counters->devices)
      if (const auto* used = counters->ofDevice(id, "GPU memory used");
          used != nullptr && device.memoryBytes.value_or(0) > 0) {
        const std::vector<double> bytes = newestSeconds(*used, parameters);
        if (bytes.empty())
          continue;
        memoryKnown = true;
        memory =
            std::max(memory, percentileOf(bytes, 0.95) / static_cast<double>(*device.memoryBytes));
      }
    outcome.value = std::max({cpu, gpu, memory});
    outcome.threshold = parameters.real("max_p95");
    outcome.evidence = {{"cpu", cpu}, {"gpu", gpu}, {"gpu_memory", memory}};
    if (!memoryKnown) {
      outcome.message = "the use of the GPUs' memory was not sampled, or their size is unknown";
      findings.push_back(std::move(finding));
      continue;
    }
    outcome.verdict = *outcome.value < *outcome.threshold ? Verdict::Fired : Verdict::Pass;
    outcome.message = fmt::format(
        "95th percentiles of the use: processors {:.0f} %, GPUs {:.0f} %, their memory {:.0f} %",
        100 * cpu,
        100 * gpu,
        100 * memory);
    findings.push_back(std::move(finding));
  }
  if (findings.empty()) {
    SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
    findings.push_back({"job", gpuNotSampled(*list)});
  }
  return findings;
}

}  // namespace

RuleInfo cpuBottleneck() {
  RuleInfo info;
  info.name = "cpu-bottleneck";
  info.alias = "CPUBottleneck";
  info.profile = Profile::Performance;
  info.isOptional = true;
  info.summary = "all GPUs of a machine are idle while its processors, or a thread, are busy";
  info.details =
      "Counts seconds in which every GPU of the machine is below `gpu_idle` and either all "
      "processors together, or one thread\n"
      "of the job, are above `cpu_busy`. Fires if more than `max_share` of the seconds are such. "
      "One "
      "idle GPU beside busy\n"
      "ones does not count.";
  info.needs = "system";
  info.hint =
      "look at what the busy thread does (--sources +stack), and move work to loader workers "
      "or to the GPU";
  info.next = {"sonde report TRACE", "sonde stacks TRACE"};
  info.parameters = bottleneckParameters();
  info.parameters.push_back({"cpu_busy", 0.9, "from this share on processors are busy", 0, 1});
  info.judge = judgeEachHost(
      [](const HostSeconds& seconds, std::size_t at, const Parameters& parameters) {
        return allGpusIdle(seconds, at, parameters) &&
               std::max(seconds.processors[at], seconds.busiestRank[at]) >
                   parameters.real("cpu_busy");
      },
      "processors or a thread are busy",
      false);
  return info;
}

RuleInfo ioBottleneck() {
  RuleInfo info;
  info.name = "io-bottleneck";
  info.alias = "IOBottleneck";
  info.profile = Profile::Performance;
  info.isOptional = true;
  info.summary = "all GPUs of a machine are idle while work waits for disks";
  info.details =
      "Counts seconds in which every GPU of the machine is below `gpu_idle`, and some work waited "
      "for a disk for more than\n"
      "`io_wait` of the second (pressure io some; without it the processors' I/O wait). Fires if "
      "more than `max_share` of the\n"
      "seconds are such.";
  info.needs = "system";
  info.hint = "cache the data set, read larger files, prefetch, or use a faster disk";
  info.next = {"sonde report TRACE", "sonde whatif TRACE --ask cache,hit=0.9"};
  info.parameters = bottleneckParameters();
  info.parameters.push_back({"io_wait", 0.5, "from this share on work waits for disks", 0, 1});
  info.judge = judgeEachHost(
      [](const HostSeconds& seconds, std::size_t at, const Parameters& parameters) {
        return allGpusIdle(seconds, at, parameters) &&
               seconds.ioWait[at] > parameters.real("io_wait");
      },
      "work waits for disks",
      true);
  return info;
}

RuleInfo batchSize() {
  RuleInfo info;
  info.name = "batch-size";
  info.alias = "BatchSize";
  info.profile = Profile::Performance;
  info.isOptional = true;
  info.summary = "processors, GPUs and their memory all have room: the batch could be larger";
  info.details =
      "Fires if the 95th percentiles of the use of processors, of each GPU and of each GPU's "
      "memory are all below\n`max_p95`.";
  info.needs = "system";
  info.hint = "raise the batch size, or use a smaller machine";
  info.next = {"sonde whatif TRACE --ask batch,x=2"};
  info.parameters = secondsParameters();
  info.parameters.push_back({"max_p95", 0.7, "if all are below this, there is room", 0, 1});
  info.judge = JobJudge(judgeBatchSize);
  return info;
}

}  // namespace sonde::rules
