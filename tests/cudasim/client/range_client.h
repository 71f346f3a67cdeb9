#pragma once
// A client of CUPTI's range profiler for tests: one context, one set of metrics, user ranges. Each
// step is a separate call that returns CUPTI's result, so that a test can leave one out. One thread
// at a time.

#include <cuda.h>
#include <cupti.h>
// NVIDIA's profiler headers must come after cupti.h.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cudasim_client {

// clang-format off
#define CUDASIM_PROFILER_FUNCTIONS(X) \
  X(ProfilerInitialize) X(ProfilerDeInitialize) X(ProfilerGetCounterAvailability) \
  X(DeviceGetChipName) X(ProfilerHostInitialize) X(ProfilerHostDeinitialize) \
  X(ProfilerHostConfigAddMetrics) X(ProfilerHostGetConfigImageSize) \
  X(ProfilerHostGetConfigImage) X(ProfilerHostGetNumOfPasses) \
  X(ProfilerHostEvaluateToGpuValues) X(RangeProfilerEnable) X(RangeProfilerDisable) \
  X(RangeProfilerGetCounterDataSize) X(RangeProfilerCounterDataImageInitialize) \
  X(RangeProfilerSetConfig) X(RangeProfilerStart) X(RangeProfilerStop) \
  X(RangeProfilerPushRange) X(RangeProfilerPopRange) X(RangeProfilerDecodeData) \
  X(RangeProfilerGetCounterDataInfo) X(RangeProfilerCounterDataGetRangeInfo)
// clang-format on

struct ProfilerCupti {
#define CUDASIM_DECLARE(name) decltype(&cupti##name) name = nullptr;
  CUDASIM_PROFILER_FUNCTIONS(CUDASIM_DECLARE)
#undef CUDASIM_DECLARE
};

// The profiler functions of the libcupti that `load` has loaded.
const ProfilerCupti& profilerCupti();

// Declares CUPTI's parameters of a call, with their size set.
#define CUDASIM_PARAMS(type, name) \
  type##_Params name{};            \
  name.structSize = type##_Params_STRUCT_SIZE

class RangeClient {
 public:
  using Names = std::vector<const char*>;

  CUptiResult initialise();  // of the process
  CUptiResult host();        // chip, availability of the current context, host object
  CUptiResult addMetrics(Names metrics);
  CUptiResult makeConfig();  // and its passes
  CUptiResult enable(CUcontext context);
  CUptiResult makeImage(size_t maxRanges);  // for the metrics that were added
  CUptiResult setConfig(size_t maxRangesPerPass, size_t pass = 0);
  CUptiResult start();
  CUptiResult push(const char* range);
  CUptiResult pop();
  CUptiResult stop();
  CUptiResult decode();
  CUptiResult disable();
  CUptiResult hostEnd();

  // Makes all steps before `start`; returns the result of the first one that failed.
  CUptiResult prepare(CUcontext context, const Names& metrics, size_t maxRanges = 8);

  // The ranges' names and one metric's values, in the image's order; an empty list on failure.
  std::vector<std::string> ranges() const;
  std::vector<double> values(const char* metric) const;

  // The results of the last stop and decode.
  bool allPasses = false;
  size_t dropped = 0;

  size_t passes = 0;
  std::vector<uint8_t> availability, config, image;
  CUpti_Profiler_Host_Object* hostObject = nullptr;
  CUpti_RangeProfiler_Object* profiler = nullptr;

 private:
  Names metrics_;
};

}  // namespace cudasim_client
