#include "recorder/system/nvml_source.h"

#include "recorder/system/nvml_library.h"

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sonde::recorder::system {
namespace {

constexpr int kTemperatureOfGpu = 0;
constexpr std::uint32_t kAllLinks = UINT32_MAX;
constexpr std::size_t kUuidBytes = 96;

// Fields of nvmlDeviceGetFieldValues. Without NVLink, or with an older driver, they fail.
struct FieldCounter {
  std::uint32_t id;
  std::uint32_t scope;
  const char* name;
  const char* unit;
  double scale;
};
constexpr FieldCounter kFields[] = {
    {3, 0, "GPU memory errors corrected", "1", 1},
    {4, 0, "GPU memory errors uncorrected", "1", 1},
    {83, 0, "GPU energy", "J", 1e-3},
    {138, kAllLinks, "NVLink sent", "bytes", 1024},
    {139, kAllLinks, "NVLink received", "bytes", 1024},
    {197, 0, "PCIe sent", "bytes", 1},
    {198, 0, "PCIe received", "bytes", 1},
};
constexpr std::size_t kFieldCount = std::size(kFields);

// Bits of nvmlDeviceGetCurrentClocksThrottleReasons that slow work down.
struct Slowdown {
  unsigned long long bits;
  const char* name;
};
constexpr Slowdown kSlowdowns[] = {
    {0x4, "GPU held back by power cap"},
    {0x20 | 0x40, "GPU held back by heat"},
    {0x8 | 0x80, "GPU held back by hardware"},
};

double valueOf(const NvmlLibrary::Field& field) {
  enum Type { Real = 0, Natural = 1, Integer = 4 };
  switch (field.type) {
    case Real:
      return field.value.real;
    case Natural:
      return field.value.natural;
    case Integer:
      return static_cast<double>(field.value.integer);
    default:
      return static_cast<double>(field.value.large);
  }
}

// The counters of one GPU, each defined when it is first read.
class Gpu {
 public:
  Gpu(NvmlLibrary::Device device, std::int64_t ordinal, std::string uuid)
      : device_(device), ordinal_(ordinal), uuid_(std::move(uuid)) {}

  void sample(const NvmlLibrary& nvml, Readings& into);

 private:
  void sampleClocks(const NvmlLibrary& nvml, Readings& into);
  void sampleFields(const NvmlLibrary& nvml, Readings& into);
  void set(const char* name, const char* unit, bool isTotal, double value, Readings& into);

  NvmlLibrary::Device device_;
  std::int64_t ordinal_;
  std::string uuid_;
  std::vector<std::pair<const char*, std::size_t>> metrics_;  // by the name's address
};

void Gpu::set(const char* name, const char* unit, bool isTotal, double value, Readings& into) {
  for (const auto& [known, metric] : metrics_) {
    if (known == name)
      return into.add(metric, value);
  }
  Metric metric = {.name = name, .unit = unit, .isTotal = isTotal};
  metric.deviceUuid = uuid_;
  metric.deviceOrdinal = ordinal_;
  metrics_.emplace_back(name, into.define(std::move(metric)));
  into.add(metrics_.back().second, value);
}

void Gpu::sample(const NvmlLibrary& nvml, Readings& into) {
  NvmlLibrary::Utilization busy{};
  if (nvml.deviceGetUtilizationRates != nullptr &&
      nvml.deviceGetUtilizationRates(device_, &busy) == NvmlLibrary::kSuccess) {
    set("GPU busy", "1", false, busy.gpu / 100.0, into);
    set("GPU memory busy", "1", false, busy.memory / 100.0, into);
  }
  NvmlLibrary::Memory memory{};
  if (nvml.deviceGetMemoryInfo != nullptr &&
      nvml.deviceGetMemoryInfo(device_, &memory) == NvmlLibrary::kSuccess)
    set("GPU memory used", "bytes", false, static_cast<double>(memory.used), into);
  unsigned value = 0;
  if (nvml.deviceGetPowerUsage != nullptr &&
      nvml.deviceGetPowerUsage(device_, &value) == NvmlLibrary::kSuccess)
    set("GPU power", "W", false, value * 1e-3, into);
  if (nvml.deviceGetTemperature != nullptr &&
      nvml.deviceGetTemperature(device_, kTemperatureOfGpu, &value) == NvmlLibrary::kSuccess)
    set("GPU temperature", "C", false, value, into);
  sampleClocks(nvml, into);
  sampleFields(nvml, into);
}

void Gpu::sampleClocks(const NvmlLibrary& nvml, Readings& into) {
  const auto clock = [&](NvmlLibrary::Clock which, const char* name) {
    unsigned megahertz = 0;
    if (nvml.deviceGetClockInfo != nullptr &&
        nvml.deviceGetClockInfo(device_, static_cast<int>(which), &megahertz) ==
            NvmlLibrary::kSuccess)
      set(name, "Hz", false, megahertz * 1e6, into);
  };
  clock(NvmlLibrary::Clock::Multiprocessor, "GPU multiprocessor clock");
  clock(NvmlLibrary::Clock::Memory, "GPU memory clock");
  unsigned long long reasons = 0;
  if (nvml.deviceGetCurrentClocksThrottleReasons == nullptr ||
      nvml.deviceGetCurrentClocksThrottleReasons(device_, &reasons) != NvmlLibrary::kSuccess)
    return;
  for (const Slowdown& slowdown : kSlowdowns)
    set(slowdown.name, "1", false, (reasons & slowdown.bits) != 0 ? 1 : 0, into);
}

void Gpu::sampleFields(const NvmlLibrary& nvml, Readings& into) {
  std::array<NvmlLibrary::Field, kFieldCount> fields{};
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    fields[i].id = kFields[i].id;
    fields[i].scope = kFields[i].scope;
  }
  if (nvml.deviceGetFieldValues == nullptr ||
      nvml.deviceGetFieldValues(device_, kFieldCount, fields.data()) != NvmlLibrary::kSuccess)
    return;
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    if (fields[i].status == NvmlLibrary::kSuccess)
      set(kFields[i].name, kFields[i].unit, true, valueOf(fields[i]) * kFields[i].scale, into);
  }
}

class NvmlSource final : public Source {
 public:
  explicit NvmlSource(std::unique_ptr<NvmlLibrary> nvml) : nvml_(std::move(nvml)) {
    unsigned count = 0;
    if (nvml_->deviceGetCount(&count) != NvmlLibrary::kSuccess)
      return;
    for (unsigned index = 0; index < count; ++index) {
      NvmlLibrary::Device device = nullptr;
      std::array<char, kUuidBytes> uuid{};
      if (nvml_->deviceGetHandleByIndex(index, &device) == NvmlLibrary::kSuccess &&
          nvml_->deviceGetUuid(device, uuid.data(), kUuidBytes) == NvmlLibrary::kSuccess)
        gpus_.emplace_back(device, index, uuid.data());
    }
  }

  void sample(Readings& into) override {
    for (Gpu& gpu : gpus_)
      gpu.sample(*nvml_, into);
  }

 private:
  std::unique_ptr<NvmlLibrary> nvml_;
  std::vector<Gpu> gpus_;
};

}  // namespace

std::unique_ptr<Source> openNvml() {
  std::string whyNot;
  auto library = NvmlLibrary::open(whyNot);
  return library ? std::make_unique<NvmlSource>(std::move(library)) : nullptr;
}

std::string whyNoNvml() {
  std::string whyNot;
  NvmlLibrary::open(whyNot);
  return whyNot;
}

}  // namespace sonde::recorder::system
