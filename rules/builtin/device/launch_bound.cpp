#include "rules/builtin/device/device_judge.h"
#include "rules/builtin/device/device_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::rules {
namespace {

using engine::device::IdleCause;
using engine::device::LaunchRow;

Outcome judgeLaunches(const DeviceSubject& subject, const Parameters& parameters) {
  Outcome outcome = outcomeOf(subject);
  std::int64_t all = 0;
  std::int64_t shorter = 0;
  for (const LaunchRow& row : subject.device.launches) {
    all += row.workNs.count;
    shorter += row.shorter;
  }
  if (all < parameters.integer("min_samples")) {
    outcome.message = fmt::format("{} kernels and copies with a known launch, but {} are needed",
                                  all,
                                  parameters.integer("min_samples"));
    return outcome;
  }
  // On its busiest stream the device waits for launches.
  double waiting = 0;
  for (const auto& stream : subject.device.streams) {
    const auto& cause = stream.idle.causeNs;
    const std::int64_t ns = cause[static_cast<std::size_t>(IdleCause::Host)] +
                            cause[static_cast<std::size_t>(IdleCause::Launching)];
    const double busy = 1 - subject.shareOf(stream.idle.idleNs());
    if (busy > 0)
      waiting = std::max(waiting, std::min(subject.shareOf(ns), 1.0));
  }
  const double share = static_cast<double>(shorter) / static_cast<double>(all);
  const bool waits = waiting > parameters.real("min_idle");
  decide(outcome, share, parameters.real("max_share"));
  if (outcome.verdict == Verdict::Fired && !waits)
    outcome.verdict = Verdict::Pass;
  outcome.samples = all;
  outcome.evidence["shorter"] = shorter;
  outcome.evidence["launched"] = all;
  outcome.evidence["waits_for_launches"] = waiting;
  outcome.message = fmt::format(
      "{} of {} kernels and copies take less time than their launch, and a stream waits for "
      "launches for {:.0f} % of the time",
      shorter,
      all,
      100 * waiting);
  return outcome;
}

Outcome judgeHostSyncs(const DeviceSubject& subject, const Parameters& parameters) {
  Outcome outcome = outcomeOf(subject);
  if (subject.iterations() == 0) {
    outcome.message =
        "no iteration was recorded: mark iterations with sonde.iteration(), or record the torch "
        "source with an optimiser";
    return outcome;
  }
  std::int64_t calls = 0;
  double share = 0;
  std::string most;
  for (const auto& row : subject.ofRank.costs.waiting) {
    calls += row.ns.count;
    share += row.share;
    if (most.empty())
      most = row.call;
  }
  const double each = static_cast<double>(calls) / static_cast<double>(subject.iterations());
  decide(outcome, each, parameters.real("max_per_iteration"));
  if (share < parameters.real("min_share"))
    outcome.verdict = Verdict::Pass;
  outcome.evidence["calls"] = calls;
  outcome.evidence["share"] = share;
  outcome.message = calls == 0
                        ? "the host never waits for the device"
                        : fmt::format(
                              "the host waits for the device {:.1f} times per iteration, for "
                              "{:.1f} % of the time, mostly in {}",
                              each,
                              100 * share,
                              most);
  return outcome;
}

}  // namespace

RuleInfo launchBound() {
  RuleInfo info;
  info.name = "launch-bound";
  info.profile = Profile::Performance;
  info.summary = "kernels take less time than launching them, and the device waits for launches";
  info.details =
      "Fires if more than `max_share` of the kernels and copies take less time than the call that "
      "launched them, and a\n"
      "stream is idle for more than `min_idle` of the time because work had not been launched.";
  info.needs = "cuda";
  info.hint = "use CUDA graphs, torch.compile or fused operators, or a larger batch";
  info.next = {"sonde report TRACE", "sonde whatif TRACE --ask cuda-graphs"};
  info.parameters = {
      {"max_share", 0.5, "largest healthy share of work that is shorter than its launch", 0, 1},
      {"min_idle", 0.1, "and the stream must wait for launches for this share of the time", 0, 1},
      {"min_samples", std::int64_t{100}, "with less work the verdict is insufficient", 1, 1e9},
  };
  info.judge = judgeEachDevice(judgeLaunches);
  return info;
}

RuleInfo hostSynchronisations() {
  RuleInfo info;
  info.name = "host-synchronisations";
  info.profile = Profile::Performance;
  info.summary = "the host waits for the device many times in an iteration";
  info.details =
      "Counts the calls that wait for a device (…Synchronize, and copies that are not "
      "asynchronous). Fires if there are\n"
      "more than `max_per_iteration`, and they take `min_share` of the time or more.";
  info.needs = "cuda";
  info.hint =
      "look for .item(), .cpu(), print(tensor) and nonzero() in the loop; collect values on "
      "the device, and read them every N iterations";
  info.next = {"sonde report TRACE", "sonde whatif TRACE --ask no-host-syncs"};
  info.parameters = {
      {"max_per_iteration", 2.0, "healthy number of waiting calls in an iteration", 0, 1e9},
      {"min_share", 0.02, "shorter waiting is healthy whatever the number", 0, 1},
  };
  info.judge = judgeEachDevice(judgeHostSyncs);
  return info;
}

}  // namespace sonde::rules
