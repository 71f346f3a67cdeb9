// HTA's analyses of streams and of what was launched into them: idle time by cause, queue length,
// memory bandwidth, launches. Times are whole microseconds. Pure functions.
//
// Events of the same microsecond have no order in HTA, whose sort does not keep one; here what
// grows comes before what falls.
#pragma once

#include "analysis/engine/hta/description.h"
#include "analysis/engine/hta/hta_trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::hta {

// get_idle_time_breakdown: each gap between two events of a stream is one cause's as a whole. It
// may be negative, where they overlap.
struct StreamIdle {
  std::int64_t stream = 0;
  std::int64_t hostWait = 0;    // its launch began after the event before it had ended
  std::int64_t kernelWait = 0;  // else, shorter than 30 µs
  std::int64_t other = 0;
};
std::vector<StreamIdle> idleOf(const RankEvents& rank);  // by stream

// get_queue_length_summary: of the values that the queue had, not of how long it had them.
struct StreamQueue {
  std::int64_t stream = 0;
  Description length;
  std::int64_t fullUs = 0;  // get_time_spent_blocked_on_full_queue: at 1024 or above
};
std::vector<StreamQueue> queuesOf(const RankEvents& rank);  // by stream

// get_memory_bw_summary: of the values above 0 that the sum over running copies of a kind had.
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
