// Who waited for whom, a device or its host, and what the sampler's utilisation says beside the
// time in which kernels ran. Plain values; reading uses the database's thread.
//
// The host is blocked while a thread that iterations run on is in a call that waits for devices, or
// another thread is while that one is in a backward pass, which waits for it. Device busy or idle,
// host blocked or not: these four sum to the window. A device is busy by the sampler's account
// while anything ran, however little of it: a kernel of one thread makes it 100 %. Source: J.
// Gleeson et al., "RL-Scope: Cross-stack profiling for deep reinforcement learning workloads",
// MLSys 2021, section 4.3.
#pragma once

#include "analysis/engine/device/device_work.h"
#include "analysis/engine/intervals/intervals.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::device {

struct BoundTime {
  std::string device;
  std::int64_t windowNs = 0;
  std::int64_t kernelNs = 0;   // a kernel ran
  std::int64_t busyNs = 0;     // a kernel or a copy did
  bool hostKnown = false;      // calls of the host were recorded; else nothing of the next four
  std::int64_t boundNs = 0;    // device busy, host blocked: the host could not go on
  std::int64_t uselessNs = 0;  // device idle, host blocked: what waiting costs beyond the work
  std::int64_t overlapNs = 0;  // device busy, host not blocked
  std::int64_t hostNs = 0;     // device idle, host not blocked: the device waited for the host
  // Of kernelNs, as far as kernels' blocks are known: what share of the multiprocessors had a block
  // at most, on average; none: not known, as of devices of which the number is not
  // (metrics::multiprocessorsOf).
  std::optional<double> filledAtMost;
  std::optional<double> sampledBusy;  // the sampler's utilisation, over sampledNs
  std::int64_t sampledNs = 0;
};

// Of each of the devices, in the rank's window but for masked iterations.
Result<std::vector<BoundTime>> boundTimes(const store::Database& trace,
                                          const metrics::RankProcess& rank,
                                          const std::vector<DeviceWork>& devices);

// A value from each sample back to the one before it, which is how NVML's utilisation is meant:
// over the period that ended with the sample.
struct SampledShare {
  std::int64_t ns = 0;
  double value = 0;
};
// The mean over what of `windows`, in normal form, lies between samples, which ascend, and how long
// that is.
struct SampledMean {
  double value = 0;
  std::int64_t ns = 0;
};
SampledMean meanOf(const std::vector<SampledShare>& samples, const metrics::Intervals& windows);

// Blocks of a kernel from its begin to its end.
struct Grid {
  metrics::Interval time{};
  std::int64_t blocks = 0;
};
// min(1, blocks that there are at once / multiprocessors), on average over the time in which there
// are any in `windows`, in normal form; none: never.
std::optional<double> filledAtMost(const std::vector<Grid>& grids,
                                   std::int64_t multiprocessors,
                                   const metrics::Intervals& windows);

}  // namespace sonde::engine::device
