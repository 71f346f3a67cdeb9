#pragma once
// The images that CUPTI's profilers fill and the client keeps, without knowing their format. Each
// begins with a magic number, a checksum and its size, so that a wrong, truncated or changed one is
// refused. A client's buffer need not be aligned. Pure functions; any thread.

#include "tests/cudasim/cupti/metrics.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudasim {

// The chip's available counters: always all of them.
std::vector<uint8_t> availabilityImage();
bool isAvailabilityImage(const uint8_t* image);

// The metrics to collect.
std::vector<uint8_t> configImage(MetricSet metrics);
std::optional<MetricSet> readConfigImage(const uint8_t* image, size_t bytes);

struct RangeData {
  static constexpr size_t kLongestName = 255;
  char name[kLongestName + 1] = {};
  uint64_t passes = 0;  // one bit per pass that is included
  CounterSet collected = 0;
  Counters counters;
};

// The values of some metrics in up to `maxRanges` ranges.
struct CounterData {
  MetricSet metrics = 0;
  size_t maxRanges = 0;
  std::vector<RangeData> ranges;
};
size_t counterDataSize(const CounterData& data);  // for all its ranges
// Requires: `image` has counterDataSize's bytes.
void writeCounterData(const CounterData& data, uint8_t* image);
std::optional<CounterData> readCounterData(const uint8_t* image, size_t bytes);

}  // namespace cudasim
