// The hardware counters of one CUDA context: what the range profiler collects in it during one
// pass. A pass has ranges that follow one another, kMostRanges at most; each is told apart by its
// number.
//
// Within cuda_counters.cpp's lock, on a thread that may make CUDA calls.
#pragma once

#include "collector/preload/cuda/activity/device_wait.h"
#include "collector/preload/cuda/counters/counter_groups.h"
#include "collector/preload/cuda/counters/counter_values.h"
#include "collector/preload/cuda/cupti/cuda_driver.h"

#include <cstdint>

namespace sonde::preload::cuda {

struct CounterApi {
  cupti::ProfilerApi profiler;
  Driver driver;
};

class CounterContext {
 public:
  constexpr CounterContext() noexcept = default;

  void* handle() const noexcept { return handle_; }
  void use(void* handle) noexcept { handle_ = handle; }
  const GroupPlan& plan() const noexcept { return plan_; }
  std::uint32_t device() const noexcept { return device_; }  // of one that was identified
  bool isEnabled() const noexcept { return object_ != nullptr; }
  bool isCollecting() const noexcept { return group_ != nullptr; }
  // Another context of its device is measured, and what this one does with it: it is waited for.
  bool isFollower() const noexcept { return isFollower_; }
  void follow() noexcept { isFollower_ = true; }

  // Asks for the device.
  CounterFailure identify(const CounterApi& api) noexcept;
  CounterFailure enable(const CounterApi& api, const WantedMetrics& wanted) noexcept;
  // The pass collects group number `turn` (modulo their number). Without groups nothing.
  CounterFailure begin(const CounterApi& api, std::uint64_t turn) noexcept;
  // Waits for all that the context has been given, so that a range has its own work alone.
  CounterFailure settle(const CounterApi& api, DeviceWait& wait) noexcept;
  // Requires: all contexts have settled.
  CounterFailure open(const CounterApi& api, std::uint32_t range) noexcept;
  CounterFailure close(const CounterApi& api) noexcept;
  // `lost`: ranges for which CUPTI had no room.
  CounterFailure finish(const CounterApi& api, CounterValues& values, std::uint64_t& lost) noexcept;
  // Ends the pass that is under way without its values.
  void drop(const CounterApi& api) noexcept;
  // The same, and gives everything back.
  void abandon(const CounterApi& api) noexcept;
  // Gives back what is Sonde's own; the context is another's, or gone.
  void forget(const CounterApi& api) noexcept;

 private:
  CounterFailure prepareData(const CounterApi& api, MetricGroup& group) noexcept;
  CounterFailure setConfig(const CounterApi& api, const MetricGroup& group) noexcept;
  CounterFailure evaluate(const CounterApi& api, CounterValues& values) noexcept;

  void* handle_ = nullptr;
  std::uint32_t device_ = 0;
  cupti::RangeObject* object_ = nullptr;
  GroupPlan plan_;
  MetricGroup* group_ = nullptr;  // of the pass that is under way
  bool isOpen_ = false;
  bool isFollower_ = false;
  Image data_;
};

}  // namespace sonde::preload::cuda
