#include "tests/cudasim/client/range_client.h"

#include "tests/cudasim/client/client.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#define CUDASIM_TRY(call)                                           \
  if (const CUptiResult result_ = call; result_ != CUPTI_SUCCESS) { \
    return result_;                                                 \
  }

namespace cudasim_client {
namespace {

template <class Function>
void find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (!*function) {
    std::fprintf(stderr, "%s: %s\n", name, dlerror());
    std::abort();
  }
}

}  // namespace

const ProfilerCupti& profilerCupti() {
  static const ProfilerCupti functions = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(load(0).GetVersion), &info);
    void* library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    ProfilerCupti found;
#define CUDASIM_FIND(name) find(library, "cupti" #name, &found.name);
    CUDASIM_PROFILER_FUNCTIONS(CUDASIM_FIND)
#undef CUDASIM_FIND
    return found;
  }();
  return functions;
}

CUptiResult RangeClient::initialise() {
  CUDASIM_PARAMS(CUpti_Profiler_Initialize, params);
  return profilerCupti().ProfilerInitialize(&params);
}

CUptiResult RangeClient::host() {
  CUDASIM_PARAMS(CUpti_Device_GetChipName, chip);
  CUDASIM_TRY(profilerCupti().DeviceGetChipName(&chip));
  CUDASIM_PARAMS(CUpti_Profiler_GetCounterAvailability, counters);
  CUDASIM_TRY(profilerCupti().ProfilerGetCounterAvailability(&counters));
  availability.resize(counters.counterAvailabilityImageSize);
  counters.pCounterAvailabilityImage = availability.data();
  CUDASIM_TRY(profilerCupti().ProfilerGetCounterAvailability(&counters));
  CUDASIM_PARAMS(CUpti_Profiler_Host_Initialize, params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip.pChipName;
  params.pCounterAvailabilityImage = availability.data();
  CUDASIM_TRY(profilerCupti().ProfilerHostInitialize(&params));
  hostObject = params.pHostObject;
  return CUPTI_SUCCESS;
}

CUptiResult RangeClient::addMetrics(Names metrics) {
  CUDASIM_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, params);
  params.pHostObject = hostObject;
  params.ppMetricNames = metrics.data();
  params.numMetrics = metrics.size();
  CUDASIM_TRY(profilerCupti().ProfilerHostConfigAddMetrics(&params));
  metrics_.insert(metrics_.end(), metrics.begin(), metrics.end());
  return CUPTI_SUCCESS;
}

CUptiResult RangeClient::makeConfig() {
  CUDASIM_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
  size.pHostObject = hostObject;
  CUDASIM_TRY(profilerCupti().ProfilerHostGetConfigImageSize(&size));
  config.resize(size.configImageSize);
  CUDASIM_PARAMS(CUpti_Profiler_Host_GetConfigImage, params);
  params.pHostObject = hostObject;
  params.configImageSize = config.size();
  params.pConfigImage = config.data();
  CUDASIM_TRY(profilerCupti().ProfilerHostGetConfigImage(&params));
  CUDASIM_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, number);
  number.configImageSize = config.size();
  number.pConfigImage = config.data();
  CUDASIM_TRY(profilerCupti().ProfilerHostGetNumOfPasses(&number));
  passes = number.numOfPasses;
  return CUPTI_SUCCESS;
}

CUptiResult RangeClient::enable(CUcontext context) {
  CUDASIM_PARAMS(CUpti_RangeProfiler_Enable, params);
  params.ctx = context;
  CUDASIM_TRY(profilerCupti().RangeProfilerEnable(&params));
  profiler = params.pRangeProfilerObject;
  return CUPTI_SUCCESS;
}

CUptiResult RangeClient::makeImage(size_t maxRanges) {
  CUDASIM_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size);
  size.pRangeProfilerObject = profiler;
  size.pMetricNames = metrics_.data();
  size.numMetrics = metrics_.size();
  size.maxNumOfRanges = maxRanges;
  size.maxNumRangeTreeNodes = static_cast<uint32_t>(maxRanges);
  CUDASIM_TRY(profilerCupti().RangeProfilerGetCounterDataSize(&size));
  image.resize(size.counterDataSize);
  CUDASIM_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, params);
  params.pRangeProfilerObject = profiler;
  params.counterDataSize = image.size();
  params.pCounterData = image.data();
  return profilerCupti().RangeProfilerCounterDataImageInitialize(&params);
}

CUptiResult RangeClient::setConfig(size_t maxRangesPerPass, size_t pass) {
  CUDASIM_PARAMS(CUpti_RangeProfiler_SetConfig, params);
  params.pRangeProfilerObject = profiler;
  params.configSize = config.size();
  params.pConfig = config.data();
  params.counterDataImageSize = image.size();
  params.pCounterDataImage = image.data();
  params.range = CUPTI_UserRange;
  params.replayMode = CUPTI_UserReplay;
  params.maxRangesPerPass = maxRangesPerPass;
  params.numNestingLevels = params.minNestingLevel = 1;
  params.passIndex = pass;
  return profilerCupti().RangeProfilerSetConfig(&params);
}

CUptiResult RangeClient::start() {
  CUDASIM_PARAMS(CUpti_RangeProfiler_Start, params);
  params.pRangeProfilerObject = profiler;
  return profilerCupti().RangeProfilerStart(&params);
}

CUptiResult RangeClient::push(const char* range) {
  CUDASIM_PARAMS(CUpti_RangeProfiler_PushRange, params);
  params.pRangeProfilerObject = profiler;
  params.pRangeName = range;
  return profilerCupti().RangeProfilerPushRange(&params);
}

CUptiResult RangeClient::pop() {
  CUDASIM_PARAMS(CUpti_RangeProfiler_PopRange, params);
  params.pRangeProfilerObject = profiler;
  return profilerCupti().RangeProfilerPopRange(&params);
}

CUptiResult RangeClient::stop() {
  CUDASIM_PARAMS(CUpti_RangeProfiler_Stop, params);
  params.pRangeProfilerObject = profiler;
  CUDASIM_TRY(profilerCupti().RangeProfilerStop(&params));
  allPasses = params.isAllPassSubmitted != 0;
  return CUPTI_SUCCESS;
}

CUptiResult RangeClient::decode() {
  CUDASIM_PARAMS(CUpti_RangeProfiler_DecodeData, params);
  params.pRangeProfilerObject = profiler;
  CUDASIM_TRY(profilerCupti().RangeProfilerDecodeData(&params));
  dropped = params.numOfRangeDropped;
  return CUPTI_SUCCESS;
}

CUptiResult RangeClient::disable() {
  CUDASIM_PARAMS(CUpti_RangeProfiler_Disable, params);
  params.pRangeProfilerObject = profiler;
  return profilerCupti().RangeProfilerDisable(&params);
}

CUptiResult RangeClient::hostEnd() {
  CUDASIM_PARAMS(CUpti_Profiler_Host_Deinitialize, params);
  params.pHostObject = hostObject;
  return profilerCupti().ProfilerHostDeinitialize(&params);
}

CUptiResult RangeClient::prepare(CUcontext context, const Names& metrics, size_t maxRanges) {
  CUDASIM_TRY(initialise());
  CUDASIM_TRY(host());
  CUDASIM_TRY(addMetrics(metrics));
  CUDASIM_TRY(makeConfig());
  CUDASIM_TRY(enable(context));
  CUDASIM_TRY(makeImage(maxRanges));
  return setConfig(maxRanges);
}

std::vector<std::string> RangeClient::ranges() const {
  CUDASIM_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info);
  info.pCounterDataImage = image.data();
  info.counterDataImageSize = image.size();
  std::vector<std::string> names;
  if (profilerCupti().RangeProfilerGetCounterDataInfo(&info) != CUPTI_SUCCESS) {
    return names;
  }
  for (size_t i = 0; i < info.numTotalRanges; ++i) {
    CUDASIM_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo, range);
    range.pCounterDataImage = image.data();
    range.counterDataImageSize = image.size();
    range.rangeIndex = i;
    range.rangeDelimiter = "/";
    if (profilerCupti().RangeProfilerCounterDataGetRangeInfo(&range) != CUPTI_SUCCESS) {
      return {};
    }
    names.emplace_back(range.rangeName);
  }
  return names;
}

std::vector<double> RangeClient::values(const char* metric) const {
  std::vector<double> values(ranges().size());
  for (size_t i = 0; i < values.size(); ++i) {
    CUDASIM_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, params);
    params.pHostObject = hostObject;
    params.pCounterDataImage = image.data();
    params.counterDataImageSize = image.size();
    params.rangeIndex = i;
    params.ppMetricNames = &metric;
    params.numMetrics = 1;
    params.pMetricValues = &values[i];
    if (profilerCupti().ProfilerHostEvaluateToGpuValues(&params) != CUPTI_SUCCESS) {
      return {};
    }
  }
  return values;
}

}  // namespace cudasim_client
