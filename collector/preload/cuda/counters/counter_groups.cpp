#include "collector/preload/cuda/counters/counter_groups.h"

#include "collector/core/platform/syscalls.h"

#include <sys/mman.h>

#include <initializer_list>

namespace sonde::preload::cuda {
namespace {

using cupti::parameters;
using cupti::ProfilerApi;
using cupti::Status;

struct Chip {
  const char* name = nullptr;
  const std::uint8_t* availability = nullptr;
};

CounterFailure describe(const ProfilerApi& api,
                        std::uint32_t device,
                        Image& image,
                        Chip& chip) noexcept {
  auto name = parameters<cupti::ChipName>();
  name.device = device;
  if (const Status status = api.chipName(&name); status != Status::Success)
    return {status, "cuptiDeviceGetChipName"};
  chip.name = name.name;
  constexpr char kFunction[] = "cuptiProfilerGetCounterAvailability";
  auto availability = parameters<cupti::CounterAvailability>();
  if (const Status status = api.counterAvailability(&availability); status != Status::Success)
    return {status, kFunction};
  if (!image.allocate(availability.imageBytes))
    return {Status::OutOfMemory, "mmap"};
  chip.availability = availability.image = image.bytes;
  return {api.counterAvailability(&availability), kFunction};
}

void release(const ProfilerApi& api, MetricGroup& group) noexcept {
  if (group.host != nullptr) {
    auto host = parameters<cupti::HostDeinitialize>();
    host.host = group.host;
    api.hostDeinitialize(&host);
  }
  group.host = nullptr;
  group.config.release();
}

Status makeConfig(const ProfilerApi& api, MetricGroup& group) noexcept {
  auto add = parameters<cupti::ConfigAddMetrics>();
  add.host = group.host;
  add.names = group.metrics.names;
  add.count = group.metrics.count;
  if (const Status status = api.configAddMetrics(&add); status != Status::Success)
    return status;
  auto size = parameters<cupti::ConfigImageSize>();
  size.host = group.host;
  if (const Status status = api.configImageSize(&size); status != Status::Success)
    return status;
  if (!group.config.allocate(size.imageBytes))
    return Status::OutOfMemory;
  auto image = parameters<cupti::ConfigImage>();
  image.host = group.host;
  image.imageBytes = group.config.size;
  image.image = group.config.bytes;
  return api.configImage(&image);
}

CounterFailure makeHost(const ProfilerApi& api, const Chip& chip, MetricGroup& group) noexcept {
  release(api, group);
  auto host = parameters<cupti::HostInitialize>();
  host.profiler = cupti::kRangeProfiler;
  host.chip = chip.name;
  host.availability = chip.availability;
  const Status status = api.hostInitialize(&host);
  group.host = status == Status::Success ? host.host : nullptr;
  return {status, "cuptiProfilerHostInitialize"};
}

// Returns the number of passes that the group's metrics need; 0: they cannot be configured.
std::size_t configure(const ProfilerApi& api, MetricGroup& group) noexcept {
  if (makeConfig(api, group) != Status::Success)
    return 0;
  auto number = parameters<cupti::NumberOfPasses>();
  number.imageBytes = group.config.size;
  number.image = group.config.bytes;
  return api.numberOfPasses(&number) == Status::Success ? number.passes : 0;
}

// Returns the number of passes that a metric needs by itself; 0: the chip lacks it. An unknown
// metric makes a host object useless for others.
CounterFailure passesOf(const ProfilerApi& api,
                        const Chip& chip,
                        const char* metric,
                        std::size_t& passes) noexcept {
  MetricGroup alone;
  alone.metrics.names[alone.metrics.count++] = metric;
  if (const CounterFailure failed = makeHost(api, chip, alone))
    return failed;
  passes = configure(api, alone);
  release(api, alone);
  return {};
}

// Reduces the wanted metrics to those that this chip has and can collect in one pass.
CounterFailure keepPossible(const ProfilerApi& api,
                            const Chip& chip,
                            const WantedMetrics& wanted,
                            MetricNames& possible,
                            GroupPlan& plan) noexcept {
  for (std::uint32_t at = 0; at < wanted.count; ++at) {
    const WantedMetric& metric = wanted.metrics[at];
    std::size_t passes = 0;
    const char* found = nullptr;
    for (const char* const name : {metric.name, metric.instead}) {
      if (name == nullptr || passes != 0)
        continue;
      if (const CounterFailure failed = passesOf(api, chip, name, passes))
        return failed;
      found = name;
    }
    if (passes == 1)
      possible.names[possible.count++] = found;
    else if (!metric.isOptional)
      plan.refused[plan.refusedCount++] = {
          metric.name, passes == 0 ? "this GPU does not have it" : "it needs more than one pass"};
  }
  return {};
}

// Adds the metric to the group if one pass still suffices; else leaves the group unchanged.
CounterFailure extend(const ProfilerApi& api,
                      const Chip& chip,
                      MetricGroup& group,
                      const char* metric,
                      bool& fits) noexcept {
  group.metrics.names[group.metrics.count++] = metric;
  if (const CounterFailure failed = makeHost(api, chip, group))
    return failed;
  fits = configure(api, group) == 1;
  if (fits)
    return {};
  --group.metrics.count;
  const CounterFailure failed = makeHost(api, chip, group);
  if (!failed)
    configure(api, group);
  return failed;
}

// Adds the metric to the first group that has room, else to a new group.
CounterFailure place(const ProfilerApi& api,
                     const Chip& chip,
                     const char* metric,
                     GroupPlan& plan) noexcept {
  bool fits = false;
  for (std::uint32_t at = 0; at < plan.count && !fits; ++at) {
    if (const CounterFailure failed = extend(api, chip, plan.groups[at], metric, fits))
      return failed;
  }
  if (fits)
    return {};
  if (plan.count == kMostGroups) {
    plan.refused[plan.refusedCount++] = {metric, "there are too many metrics"};
    return {};
  }
  return extend(api, chip, plan.groups[plan.count++], metric, fits);
}

}  // namespace

bool Image::allocate(std::size_t wanted) noexcept {
  release();
  const long address = core::rawSyscall(SYS_mmap,
                                        0,
                                        static_cast<long>(wanted),
                                        PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS,
                                        -1,
                                        0);
  constexpr long kLastError = -4095;
  if (address < 0 && address >= kLastError)
    return false;
  bytes = reinterpret_cast<std::uint8_t*>(address);
  size = wanted;
  return true;
}

void Image::release() noexcept {
  if (bytes != nullptr)
    core::rawSyscall(SYS_munmap, core::asLong(bytes), static_cast<long>(size));
  bytes = nullptr;
  size = 0;
}

CounterFailure planGroups(const ProfilerApi& api,
                          std::uint32_t device,
                          const WantedMetrics& wanted,
                          GroupPlan& plan) noexcept {
  Chip chip;
  MetricNames possible;
  if (const CounterFailure failed = describe(api, device, plan.availability, chip))
    return failed;
  if (const CounterFailure failed = keepPossible(api, chip, wanted, possible, plan))
    return failed;
  for (std::uint32_t at = 0; at < possible.count; ++at) {
    if (const CounterFailure failed = place(api, chip, possible.names[at], plan))
      return failed;
  }
  return {};
}

void releaseGroups(const ProfilerApi& api, GroupPlan& plan) noexcept {
  for (std::uint32_t at = 0; at < plan.count; ++at) {
    release(api, plan.groups[at]);
    plan.groups[at].metrics.count = 0;
  }
  plan.availability.release();
  plan.count = 0;
  plan.refusedCount = 0;
}

}  // namespace sonde::preload::cuda
