// CUPTI's range profiler (CUDA 12.6 Update 2 and later): the part of its binary interface that
// Sonde uses. As for cupti_abi.h, tests/preload compares it with NVIDIA's headers.
//
// Each function takes one structure, which starts with its own size. Images are opaque to the
// caller. A configuration image selects the hardware counters that a pass collects; a counter data
// image holds the collected values.
#pragma once

#include "collector/preload/cuda/cupti/cupti_abi.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cupti {

struct HostObject;   // of one chip: knows its metrics
struct RangeObject;  // of one context: collects

// CUpti_ProfilerType, CUpti_ProfilerRange, CUpti_ProfilerReplayMode
inline constexpr std::int32_t kRangeProfiler = 0;
inline constexpr std::int32_t kUserRange = 2;
inline constexpr std::int32_t kUserReplay = 3;

struct ProfilerInitialize {
  std::size_t bytes;
  void* reserved;
};
struct ChipName {
  std::size_t bytes;
  void* reserved;
  std::size_t device;
  const char* name;
};
struct CounterAvailability {
  std::size_t bytes;
  void* reserved;
  void* context;
  std::size_t imageBytes;
  std::uint8_t* image;  // nullptr: the call sets imageBytes
};
struct HostInitialize {
  std::size_t bytes;
  void* reserved;
  std::int32_t profiler;
  const char* chip;
  const std::uint8_t* availability;
  HostObject* host;
};
struct HostDeinitialize {
  std::size_t bytes;
  void* reserved;
  HostObject* host;
};
struct ConfigAddMetrics {
  std::size_t bytes;
  void* reserved;
  HostObject* host;
  const char** names;
  std::size_t count;
};
struct ConfigImageSize {
  std::size_t bytes;
  void* reserved;
  HostObject* host;
  std::size_t imageBytes;
};
struct ConfigImage {
  std::size_t bytes;
  void* reserved;
  HostObject* host;
  std::size_t imageBytes;
  std::uint8_t* image;
};
struct NumberOfPasses {
  std::size_t bytes;
  void* reserved;
  std::size_t imageBytes;
  std::uint8_t* image;
  std::size_t passes;
};
struct Evaluate {
  std::size_t bytes;
  void* reserved;
  HostObject* host;
  const std::uint8_t* data;
  std::size_t dataBytes;
  std::size_t range;
  const char** names;
  std::size_t count;
  double* values;
};

struct RangeEnable {
  std::size_t bytes;
  void* reserved;
  void* context;
  RangeObject* object;
};
struct RangeCommand {  // Disable, Start, PopRange
  std::size_t bytes;
  void* reserved;
  RangeObject* object;
};
struct RangeStop {
  std::size_t bytes;
  void* reserved;
  RangeObject* object;
  std::size_t passIndex;
  std::size_t targetNestingLevel;
  std::uint8_t areAllPassesSubmitted;
};
struct RangePush {
  std::size_t bytes;
  void* reserved;
  RangeObject* object;
  const char* name;
};
struct RangeDecode {
  std::size_t bytes;
  void* reserved;
  RangeObject* object;
  std::size_t dropped;
};
struct RangeConfig {
  std::size_t bytes;
  void* reserved;
  RangeObject* object;
  std::size_t configBytes;
  const std::uint8_t* config;
  std::size_t dataBytes;
  std::uint8_t* data;
  std::int32_t range;
  std::int32_t replay;
  std::size_t maxRanges;
  std::uint16_t nestingLevels;
  std::uint16_t minNestingLevel;
  std::size_t passIndex;
  std::uint16_t targetNestingLevel;
};
struct CounterDataSize {
  std::size_t bytes;
  void* reserved;
  RangeObject* object;
  const char** names;
  std::size_t count;
  std::size_t maxRanges;
  std::uint32_t maxNodes;
  std::size_t dataBytes;
};
struct CounterDataInitialize {
  std::size_t bytes;
  void* reserved;
  RangeObject* object;
  std::size_t dataBytes;
  std::uint8_t* data;
};
struct CounterDataInfo {
  std::size_t bytes;
  void* reserved;
  const std::uint8_t* data;
  std::size_t dataBytes;
  std::size_t ranges;
};
struct RangeInfo {
  std::size_t bytes;
  void* reserved;
  const std::uint8_t* data;
  std::size_t dataBytes;
  std::size_t range;
  const char* delimiter;
  const char* name;
};

// A structure's size for CUPTI: up to its last field, without the padding after it.
template <typename Parameters>
inline constexpr std::size_t kParameterBytes = sizeof(Parameters);
template <>
inline constexpr std::size_t kParameterBytes<RangeStop> = offsetof(RangeStop,
                                                                   areAllPassesSubmitted) +
                                                          sizeof(std::uint8_t);
template <>
inline constexpr std::size_t kParameterBytes<RangeConfig> = offsetof(RangeConfig,
                                                                     targetNestingLevel) +
                                                            sizeof(std::uint16_t);

template <typename Parameters>
using ProfilerCall = Status (*)(Parameters*);

struct ProfilerApi {
  ProfilerCall<ProfilerInitialize> initialize;
  ProfilerCall<ChipName> chipName;
  ProfilerCall<CounterAvailability> counterAvailability;
  ProfilerCall<HostInitialize> hostInitialize;
  ProfilerCall<HostDeinitialize> hostDeinitialize;
  ProfilerCall<ConfigAddMetrics> configAddMetrics;
  ProfilerCall<ConfigImageSize> configImageSize;
  ProfilerCall<ConfigImage> configImage;
  ProfilerCall<NumberOfPasses> numberOfPasses;
  ProfilerCall<Evaluate> evaluate;
  ProfilerCall<RangeEnable> rangeEnable;
  ProfilerCall<RangeCommand> rangeDisable;
  ProfilerCall<RangeCommand> rangeStart;
  ProfilerCall<RangeStop> rangeStop;
  ProfilerCall<RangePush> rangePush;
  ProfilerCall<RangeCommand> rangePop;
  ProfilerCall<RangeDecode> rangeDecode;
  ProfilerCall<RangeConfig> rangeConfig;
  ProfilerCall<CounterDataSize> counterDataSize;
  ProfilerCall<CounterDataInitialize> counterDataInitialize;
  ProfilerCall<CounterDataInfo> counterDataInfo;
  ProfilerCall<RangeInfo> rangeInfo;
};

// False: the library lacks one of the functions; `missing` is then its name.
bool bindProfiler(void* library, ProfilerApi& api, const char*& missing) noexcept;

// Zeroed parameters with their size filled in.
template <typename Parameters>
Parameters parameters() noexcept {
  Parameters made{};
  made.bytes = kParameterBytes<Parameters>;
  return made;
}

}  // namespace sonde::preload::cupti
