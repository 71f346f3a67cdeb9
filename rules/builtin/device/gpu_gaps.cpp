#include "analysis/engine/statistics/statistics.h"
#include "rules/builtin/device/device_judge.h"
#include "rules/builtin/device/device_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sonde::rules {
namespace {

using engine::device::IdleCause;
using engine::device::StreamIdle;

// The cause that a stream with most work had most.
IdleCause mainCause(const DeviceSubject& subject) {
  std::array<std::int64_t, engine::device::kIdleCauses> sum{};
  for (const auto& stream : subject.device.streams)
    for (std::size_t cause = 0; cause < sum.size(); ++cause)
      sum[cause] += stream.idle.causeNs[cause];
  return static_cast<IdleCause>(
      std::distance(sum.begin(), std::max_element(sum.begin(), sum.end())));
}

Outcome judgeGaps(const DeviceSubject& subject, const Parameters& parameters) {
  Outcome outcome = outcomeOf(subject);
  std::vector<double> shares;
  for (const auto& step : stepsAfter(subject, parameters.integer("warmup")))
    shares.push_back(static_cast<double>(step.time.idleNs()) /
                     static_cast<double>(step.time.windowNs));
  const double share = shares.empty() ? subject.shareOf(subject.device.time.idleNs())
                                      : engine::metrics::median(shares);
  decide(outcome, share, parameters.real("max_share"));
  const std::string cause(word(mainCause(subject)));
  outcome.evidence["idle_ns"] = subject.device.time.idleNs();
  outcome.evidence["cause"] = cause;
  outcome.message = fmt::format("{} is idle for {:.0f} % of {}, mostly for the cause '{}'",
                                subject.device.name,
                                100 * share,
                                shares.empty() ? "the time" : "an iteration",
                                cause);
  return outcome;
}

}  // namespace

RuleInfo gpuGaps() {
  RuleInfo info;
  info.name = "gpu-gaps";
  info.profile = Profile::Performance;
  info.summary = "a device is idle for much of an iteration";
  info.details =
      "The share of an iteration in which neither a kernel nor a copy ran, as the median over the "
      "iterations after\n"
      "`warmup`; without iterations that of the whole run. The rule fires above `max_share`. The "
      "evidence has the main\n"
      "cause: the host had not launched, the launch was running, the stream waited for an event.";
  info.needs = "cuda";
  info.hint =
      "host: launch less and larger work (CUDA graphs, fusion), or load data earlier; event: "
      "look for streams that wait for each other";
  info.next = {"sonde report TRACE", "sonde whatif TRACE --ask cuda-graphs"};
  info.parameters = {
      {"warmup", std::int64_t{2}, "number of first iterations to ignore", 0, 1e9},
      {"max_share", 0.3, "largest healthy share of idle time", 0, 1},
  };
  info.judge = judgeEachDevice(judgeGaps);
  return info;
}

}  // namespace sonde::rules
