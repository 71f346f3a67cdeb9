// Which hardware metrics are collected together. A GPU has few hardware counters, so a set of
// metrics may need several passes over the same work. A training loop does almost, but not exactly,
// the same work in every iteration, so passes are not combined. The metrics are split into groups
// that need one pass each. Each iteration collects one group, in turn.
//
// Call it with cuda_counters.cpp's lock held.
#pragma once

#include "collector/preload/cuda/cupti/cupti_profiler.h"
#include "collector/wire/device_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

inline constexpr std::uint32_t kMostMetrics = wire::kMostDeviceMetrics;
inline constexpr std::uint32_t kMostGroups = 32;

// The function that failed, and CUPTI's status.
struct CounterFailure {
  cupti::Status status = cupti::Status::Success;
  const char* function = "";
  // No function of CUPTI may be called any more: a device is not done, or a context is being
  // destroyed.
  bool isStuck = false;

  explicit operator bool() const noexcept { return status != cupti::Status::Success; }
};

// Owned memory; release() frees it.
struct Image {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;

  bool allocate(std::size_t wanted) noexcept;
  void release() noexcept;
};

struct WantedMetric {
  const char* name = nullptr;
  const char* instead = nullptr;  // the metric for GPUs that lack this one; nullptr: none
  bool isOptional = false;        // its absence is not reported
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

// The reason that a metric is not collected.
struct Refusal {
  const char* metric = nullptr;
  const char* why = nullptr;
};

struct GroupPlan {
  // Counters of the chip that this user may read; the groups' host objects refer to it.
  Image availability;
  MetricGroup groups[kMostGroups]{};
  std::uint32_t count = 0;
  Refusal refused[kMostMetrics]{};
  std::uint32_t refusedCount = 0;
};

// Splits `wanted` for the chip of `device`, whose context is current. Refuses metrics that the chip
// lacks or that need several passes by themselves.
CounterFailure planGroups(const cupti::ProfilerApi& api,
                          std::uint32_t device,
                          const WantedMetrics& wanted,
                          GroupPlan& plan) noexcept;
void releaseGroups(const cupti::ProfilerApi& api, GroupPlan& plan) noexcept;

}  // namespace sonde::preload::cuda
