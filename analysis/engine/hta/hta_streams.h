// HTA's analyses of streams and launches: idle time by cause, queue length, memory bandwidth,
// launch counts. Times are whole microseconds. Pure functions.
//
// HTA does not order events of the same microsecond, since its sort is not stable. Here increases
// come before decreases.
#pragma once

#include "analysis/engine/hta/description.h"
#include "analysis/engine/hta/hta_trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::hta {

// get_idle_time_breakdown: each gap between two events of a stream has one cause. A gap is negative
// if the events overlap.
struct StreamIdle {
  std::int64_t stream = 0;
  std::int64_t hostWait = 0;    // the launch began after the previous event had ended
  std::int64_t kernelWait = 0;  // else, if shorter than 30 µs
  std::int64_t other = 0;
};
std::vector<StreamIdle> idleOf(const RankEvents& rank);  // by stream

// get_queue_length_summary: statistics over the queue's values, not weighted by duration.
struct StreamQueue {
  std::int64_t stream = 0;
  Description length;
  std::int64_t fullUs = 0;  // get_time_spent_blocked_on_full_queue: 1024 or above
};
std::vector<StreamQueue> queuesOf(const RankEvents& rank);  // by stream

// get_memory_bw_summary: over the positive values of the summed bandwidth of running copies of a
// kind.
struct MemoryBandwidth {
  std::string name;  // "Memcpy HtoD", "Memset"
  Description gigabytesPerSecond;
};
std::vector<MemoryBandwidth> memoryBandwidthOf(const RankEvents& rank);  // by name

// get_cuda_kernel_launch_stats
struct LaunchCounts {
  std::int64_t count = 0;
  std::int64_t callUs = 0;  // sums; a call counts once for each event it launched
  std::int64_t eventUs = 0;
  std::int64_t delayUs = 0;
  std::int64_t shorter = 0;    // events shorter than their calls
  std::int64_t slowCalls = 0;  // above 50 µs
  std::int64_t late = 0;       // above 100 µs
};
LaunchCounts launchesOf(const RankEvents& rank);

}  // namespace sonde::engine::hta
