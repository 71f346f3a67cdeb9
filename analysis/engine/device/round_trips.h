// Data that leaves a device for the host and comes back in the same iteration. Plain values and
// pure functions.
//
// Traces have neither addresses nor contents of copies, so a round trip is known by its size alone:
// a copy to the host, and behind it a copy of as many bytes to the device. The last one of that
// size to the host belongs to it.
#pragma once

#include "analysis/engine/device/device_work.h"
#include "analysis/engine/metrics/ranks.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::device {

struct RoundTrips {
  std::int64_t copies = 0;   // between host and device, in iterations
  std::int64_t unsized = 0;  // of these: without a known size
  std::int64_t trips = 0;
  std::int64_t bytes = 0;       // one way, of all trips
  std::int64_t ns = 0;          // of the copies there and back
  std::int64_t iterations = 0;  // with a round trip
  // The longest trip.
  std::int64_t largestBytes = 0;
  std::int64_t scopeId = 0;  // the slice that its copy back was launched in; 0: none
};

// Copies of fewer than `minBytes` do not count. An iteration has the copies that begin in it. O(n
// log n) for n copies.
RoundTrips roundTripsIn(const DeviceWork& device,
                        const std::vector<metrics::IterationTime>& iterations,
                        std::int64_t minBytes);

}  // namespace sonde::engine::device
