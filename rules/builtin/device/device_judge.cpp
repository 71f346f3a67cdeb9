#include "rules/builtin/device/device_judge.h"

#include "rules/builtin/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::rules {
namespace {

Finding withoutDevices(const RankList& list) {
  Finding finding{"job", {}};
  const bool wouldBeThere = list.mayHave("cuda");
  finding.outcome.verdict = wouldBeThere ? Verdict::Skipped : Verdict::Insufficient;
  finding.outcome.inputMissing = !wouldBeThere;
  finding.outcome.message =
      wouldBeThere ? "the job gave no work to a device"
                   : "work of devices was not recorded: record it with --sources +cuda";
  return finding;
}

}  // namespace

double DeviceSubject::shareOf(std::int64_t ns) const noexcept {
  return device.time.windowNs > 0 ? static_cast<double>(ns) / windowNs() : 0;
}

JobJudge judgeEachDevice(DeviceJudge judge) {
  return [judge = std::move(judge)](Facts& facts,
                                    const Parameters& parameters) -> Result<std::vector<Finding>> {
    SONDE_TRY_ASSIGN(const DeviceFacts* const all, facts.of<DeviceFacts>());
    std::vector<Finding> findings;
    for (std::size_t i = 0; i < all->summary.ranks.size(); ++i) {
      const engine::metrics::RankProcess& rank = all->list.ranks[i];
      const engine::device::RankSummary& ofRank = all->summary.ranks[i];
      for (const engine::device::DeviceSummary& device : ofRank.devices)
        findings.push_back(
            {ofRank.devices.size() > 1 ? fmt::format("{}, {}", rank.name, device.name) : rank.name,
             judge({rank, ofRank, device, all->summary}, parameters)});
    }
    if (findings.empty())
      findings.push_back(withoutDevices(all->list));
    return findings;
  };
}

JobJudge judgeIfDevices(JobJudge judge) {
  return [judge = std::move(judge)](Facts& facts,
                                    const Parameters& parameters) -> Result<std::vector<Finding>> {
    SONDE_TRY_ASSIGN(const std::int64_t any,
                     facts.trace().queryInteger("SELECT EXISTS (SELECT 1 FROM kernel)"));
    if (any != 0)
      return judge(facts, parameters);
    SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
    return std::vector{withoutDevices(*list)};
  };
}

std::span<const engine::device::StepTime> stepsAfter(const DeviceSubject& subject,
                                                     std::int64_t warmup) {
  const std::span all(subject.device.steps);
  return all.subspan(std::min(all.size(), static_cast<std::size_t>(warmup)));
}

Outcome outcomeOf(const DeviceSubject& subject) {
  Outcome outcome;
  const auto& iterations = subject.rank.iterations;
  outcome.samples = static_cast<std::int64_t>(iterations.size());
  if (!iterations.empty())
    outcome.window = windowOf(iterations.front().number, iterations.back().number);
  outcome.time = TimeRange{subject.rank.window.begin, subject.rank.window.end};
  outcome.evidence["device"] = subject.device.name;
  outcome.evidence["window_ns"] = subject.device.time.windowNs;
  return outcome;
}

void decide(Outcome& outcome, double value, double threshold) {
  outcome.value = value;
  outcome.threshold = threshold;
  outcome.verdict = value > threshold ? Verdict::Fired : Verdict::Pass;
}

}  // namespace sonde::rules
