// How much work waits in a stream: launched and not begun. Plain values and pure functions.
//
// It grows by one when a launching call begins and falls by one when the work does, so what a
// device begins before its call returns was queued all the same. Values are weighted by how long
// they held, not by how often they changed. CUDA lets a call wait when about 1024 are queued.
#pragma once

#include "analysis/engine/device/device_work.h"
#include "analysis/engine/intervals/intervals.h"

#include <cstdint>

namespace sonde::engine::device {

inline constexpr std::int64_t kFullQueue = 1024;

struct QueueLength {
  std::int64_t windowNs = 0;
  double mean = 0;
  std::int64_t p50 = 0;  // for at least half of the time it was at most this
  std::int64_t p95 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
  std::int64_t launched = 0;  // work that was queued in a window, from whenever on
  std::int64_t fullNs = 0;    // at kFullQueue or above
};

// Work whose launch is not known does not count. `windows`: in normal form.
QueueLength queueIn(const StreamWork& stream, const metrics::Intervals& windows);

}  // namespace sonde::engine::device
