// The counts of one iteration. They are kept until it is known that the whole iteration was
// measured, because a part of an operation would be mistaken for the whole.
//
// A range profiler has room for kMostRanges stretches (ranges): one lap. The values of a lap are
// read before the next one.
//
// Call it with cuda_counters.cpp's lock held.
#pragma once

#include "collector/preload/cuda/counters/counter_groups.h"
#include "collector/wire/device_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

inline constexpr std::uint32_t kMostRanges = 2048;  // per lap

struct MetricValue {
  std::uint32_t range;
  std::uint32_t device;
  const char* metric;
  double value;
};

class CounterValues {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  constexpr CounterValues() noexcept = default;

  // Clears all values; keeps the memory for the next iteration.
  void clear() noexcept;
  void beginLap() noexcept { stretches_ = 0; }
  bool isLapFull() const noexcept { return stretches_ == kMostRanges; }

  // The number of stretches in the current lap, which is also the number of the next one.
  std::uint32_t stretches() const noexcept { return stretches_; }
  // Requires: !isLapFull().
  void beginStretch(std::uint64_t ticks) noexcept;
  void endStretch(std::uint64_t ticks) noexcept;

  // Adds a value of a stretch in the current lap.
  void take(const MetricValue& value) noexcept;
  // Whether a value did not fit.
  bool isIncomplete() const noexcept { return isIncomplete_; }

  // Records all values as the calling thread's.
  void store() noexcept;

 private:
  struct Stretch {
    std::uint64_t beginTicks;
    std::uint64_t endTicks;
  };

  bool grow() noexcept;
  wire::DeviceMetric* values() noexcept {
    return reinterpret_cast<wire::DeviceMetric*>(memory_.bytes);
  }

  Stretch lap_[kMostRanges]{};
  std::uint32_t stretches_ = 0;
  Image memory_;  // of the values
  std::size_t room_ = 0;
  std::size_t count_ = 0;
  bool isIncomplete_ = false;
};

}  // namespace sonde::preload::cuda
