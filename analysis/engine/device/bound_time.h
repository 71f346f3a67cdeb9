// Whether a device waited for its host or the host for its device, and how the sampler's
// utilisation compares with the time in which kernels ran. Plain values; reading uses the
// database's thread.
//
// The host is blocked while a thread with iterations is in a call that waits for devices. It also
// is while that thread is in a backward pass and another one is in such a call, since the pass
// waits for that thread. Device busy or idle, host blocked or not: these four times sum to the
// window. For the sampler a device is busy while anything runs: a kernel of one thread makes it 100
// %. Source: J. Gleeson et al., "RL-Scope: Cross-stack profiling for deep reinforcement learning
// workloads", MLSys 2021, section 4.3.
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
  std::int64_t busyNs = 0;     // a kernel or a copy ran
  bool hostKnown = false;      // calls of the host were recorded; else the next four are unset
  std::int64_t boundNs = 0;    // device busy, host blocked: the host could not go on
  std::int64_t uselessNs = 0;  // device idle, host blocked: waiting beyond the device's work
  std::int64_t overlapNs = 0;  // device busy, host not blocked
  std::int64_t hostNs = 0;     // device idle, host not blocked: the device waited for the host
  // Upper bound of the mean share of multiprocessors with a block, over kernelNs with known blocks.
  // Unset: unknown, e.g. the number of multiprocessors is (metrics::multiprocessorsOf).
  std::optional<double> filledAtMost;
  std::optional<double> sampledBusy;  // the sampler's utilisation, over sampledNs
  std::int64_t sampledNs = 0;
};

// Returns one result per device, over the rank's window without masked iterations.
Result<std::vector<BoundTime>> boundTimes(const store::Database& trace,
                                          const metrics::RankProcess& rank,
                                          const std::vector<DeviceWork>& devices);

// A value that holds from the previous sample to this one. NVML's utilisation is such a value: it
// describes the period that ended with the sample.
struct SampledShare {
  std::int64_t ns = 0;
  double value = 0;
};
// The mean over the part of `windows` between samples, and the length of that part. Samples ascend;
// windows are in normal form.
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
// min(1, concurrent blocks / multiprocessors), averaged over the time in `windows` with any blocks.
// `windows` are in normal form. Unset: there is no such time.
std::optional<double> filledAtMost(const std::vector<Grid>& grids,
                                   std::int64_t multiprocessors,
                                   const metrics::Intervals& windows);

}  // namespace sonde::engine::device
