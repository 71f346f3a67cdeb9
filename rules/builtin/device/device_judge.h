// Judges each device of each rank: the common part of rules about devices. Plain functions; the
// database's thread.
#pragma once

#include "rules/engine/rule.h"
#include "rules/facts/job_facts.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sonde::rules {

// A device of a rank, and what its host does for it.
struct DeviceSubject {
  const engine::metrics::RankProcess& rank;
  const engine::device::RankSummary& ofRank;
  const engine::device::DeviceSummary& device;
  const engine::device::JobSummary& job;

  double windowNs() const noexcept { return static_cast<double>(device.time.windowNs); }
  double shareOf(std::int64_t ns) const noexcept;
  std::int64_t iterations() const noexcept {
    return static_cast<std::int64_t>(rank.iterations.size());
  }
};

using DeviceJudge = std::function<Outcome(const DeviceSubject&, const Parameters&)>;

// A finding for each device. Skipped if the job has no work of a device although that would have
// been recorded; insufficient if it would not.
JobJudge judgeEachDevice(DeviceJudge judge);

// The same for a rule that reads kernels itself: it is asked only if the job has work of a device.
JobJudge judgeIfDevices(JobJudge judge);

// The iterations after the first `warmup`.
std::span<const engine::device::StepTime> stepsAfter(const DeviceSubject& subject,
                                                     std::int64_t warmup);

// A judgement of the device's window without a verdict yet.
Outcome outcomeOf(const DeviceSubject& subject);

// Fired if the value is above the threshold, else pass.
void decide(Outcome& outcome, double value, double threshold);

}  // namespace sonde::rules
