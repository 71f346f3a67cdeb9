// What one iteration has counted, kept until it is known that all of it was measured: a part of an
// operation would pass for the whole.
//
// A range profiler has room for so many stretches (ranges): a lap. What it collected in a lap is
// taken before the next one.
//
// Within cuda_counters.cpp's lock.
#pragma once

#include "collector/preload/cuda/counters/counter_groups.h"
#include "collector/wire/device_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

inline constexpr std::uint32_t kMostRanges = 2048;  // in a lap

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

  // Forgets everything; its memory stays for the next iteration.
  void clear() noexcept;
  void beginLap() noexcept { stretches_ = 0; }
  bool isLapFull() const noexcept { return stretches_ == kMostRanges; }

  // Of the lap; the number of the next one.
  std::uint32_t stretches() const noexcept { return stretches_; }
  // Requires: !isLapFull().
  void beginStretch(std::uint64_t ticks) noexcept;
  void endStretch(std::uint64_t ticks) noexcept;

  // Of a stretch of this lap.
  void take(const MetricValue& value) noexcept;
  // There was no room for one.
  bool isIncomplete() const noexcept { return isIncomplete_; }

  // Records them all, as the calling thread's.
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
