// Which hardware metrics are collected together. A GPU has few hardware counters, so that a set of
// metrics may need several passes over the same work. A training loop does the same work in every
// iteration, but never quite, so no pass is put together with another: the metrics are split into
// groups that each need one pass, and an iteration collects one group, the next the next.
//
// Within cuda_counters.cpp's lock.
#pragma once

#include "collector/preload/cuda/cupti/cupti_profiler.h"
#include "collector/wire/device_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

inline constexpr std::uint32_t kMostMetrics = wire::kMostDeviceMetrics;
inline constexpr std::uint32_t kMostGroups = 32;

// What failed, and CUPTI's answer to it.
struct CounterFailure {
  cupti::Status status = cupti::Status::Success;
  const char* function = "";
  // Nothing of CUPTI may be called any more: a device is not done, or a context goes.
  bool isStuck = false;

  explicit operator bool() const noexcept { return status != cupti::Status::Success; }
};

// Memory of its own, given back with release().
struct Image {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;

  bool allocate(std::size_t wanted) noexcept;
  void release() noexcept;
};

struct WantedMetric {
  const char* name = nullptr;
  const char* instead = nullptr;  // where the GPU does not have it; nullptr: nothing
  bool isOptional = false;        // it is not missed there
};
struct WantedMetrics {
  WantedMetric metrics[kMostMetrics]{};
  std::uint32_t count = 0;
};

struct MetricNames {
  const char* names[kMostMetrics]{};
  std::uint32_t count = 0;
};

struct MetricGroup {
  MetricNames metrics;
  cupti::HostObject* host = nullptr;
  Image config;
};

// Why a metric is not collected.
struct Refusal {
  const char* metric = nullptr;
  const char* why = nullptr;
};

struct GroupPlan {
  Image availability;  // of the chip's counters to this user; the groups' host objects refer to it
  MetricGroup groups[kMostGroups]{};
  std::uint32_t count = 0;
  Refusal refused[kMostMetrics]{};
  std::uint32_t refusedCount = 0;
};

// Splits `wanted` for the chip of `device`, whose context is current. What the chip does not have
// and what needs several passes by itself is refused.
CounterFailure planGroups(const cupti::ProfilerApi& api,
                          std::uint32_t device,
                          const WantedMetrics& wanted,
                          GroupPlan& plan) noexcept;
void releaseGroups(const cupti::ProfilerApi& api, GroupPlan& plan) noexcept;

}  // namespace sonde::preload::cuda
