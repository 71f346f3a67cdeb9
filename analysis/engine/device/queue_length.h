// The length of a stream's queue: work that was launched and has not begun. Plain values and pure
// functions.
//
// The length grows by one when a launching call begins, and falls by one when the work begins. So
// work that begins before its call returns was queued, too. Statistics weight each length by how
// long it held. CUDA blocks calls when about 1024 are queued.
#pragma once

#include "analysis/engine/device/device_work.h"
#include "analysis/engine/intervals/intervals.h"

#include <cstdint>

namespace sonde::engine::device {

inline constexpr std::int64_t kFullQueue = 1024;

struct QueueLength {
  std::int64_t windowNs = 0;
  double mean = 0;
  std::int64_t p50 = 0;  // for at least half of the time the length was at most this
  std::int64_t p95 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
  std::int64_t launched = 0;  // work that was queued at some time in a window
  std::int64_t fullNs = 0;    // at kFullQueue or above
};

// Ignores work whose launch is unknown. `windows`: in normal form.
QueueLength queueIn(const StreamWork& stream, const metrics::Intervals& windows);

}  // namespace sonde::engine::device
