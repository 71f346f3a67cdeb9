// The hardware counters of one CUDA context: the range profiler collects them during one pass. A
// pass has up to kMostRanges consecutive ranges, identified by number.
//
// Call it with cuda_counters.cpp's lock held, on a thread that may make CUDA calls.
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
  std::uint32_t device() const noexcept { return device_; }  // requires: identify() succeeded
  bool isEnabled() const noexcept { return object_ != nullptr; }
  bool isCollecting() const noexcept { return group_ != nullptr; }
  // Another context of the same device is measured. This context collects nothing, but is waited
  // for.
  bool isFollower() const noexcept { return isFollower_; }
  void follow() noexcept { isFollower_ = true; }

  // Asks the driver for the device.
  CounterFailure identify(const CounterApi& api) noexcept;
  CounterFailure enable(const CounterApi& api, const WantedMetrics& wanted) noexcept;
  // The pass collects group `turn` modulo the number of groups. Without groups it does nothing.
  CounterFailure begin(const CounterApi& api, std::uint64_t turn) noexcept;
  // Waits for all work of the context, so that a range contains only its own work.
  CounterFailure settle(const CounterApi& api, DeviceWait& wait) noexcept;
  // Requires: all contexts have settled.
  CounterFailure open(const CounterApi& api, std::uint32_t range) noexcept;
  CounterFailure close(const CounterApi& api) noexcept;
  // `lost`: number of ranges for which CUPTI had no room.
  CounterFailure finish(const CounterApi& api, CounterValues& values, std::uint64_t& lost) noexcept;
  // Ends the current pass and discards its values.
  void drop(const CounterApi& api) noexcept;
  // The same, and frees everything.
  void abandon(const CounterApi& api) noexcept;
  // Frees Sonde's own memory only; the context belongs to another client, or is gone.
  void forget(const CounterApi& api) noexcept;

 private:
  CounterFailure prepareData(const CounterApi& api, MetricGroup& group) noexcept;
  CounterFailure setConfig(const CounterApi& api, const MetricGroup& group) noexcept;
  CounterFailure evaluate(const CounterApi& api, CounterValues& values) noexcept;

  void* handle_ = nullptr;
  std::uint32_t device_ = 0;
  cupti::RangeObject* object_ = nullptr;
  GroupPlan plan_;
  MetricGroup* group_ = nullptr;  // of the current pass
  bool isOpen_ = false;
  bool isFollower_ = false;
  Image data_;
};

}  // namespace sonde::preload::cuda
