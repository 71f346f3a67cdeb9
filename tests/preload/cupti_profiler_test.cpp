// Compares Sonde's declarations of CUPTI's range profiler with NVIDIA's headers.
#include "collector/preload/cuda/cupti/cupti_profiler.h"

#include "tests/preload/same_field.h"

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <gtest/gtest.h>

namespace sonde::preload::cupti {
namespace {

TEST(CuptiProfiler, ParametersAreNvidias) {
// Newer headers may add fields after those that Sonde knows.
#define SAME_SIZE(Ours, Theirs) EXPECT_LE(kParameterBytes<Ours>, Theirs##_STRUCT_SIZE) << #Theirs
  SAME_SIZE(ChipName, CUpti_Device_GetChipName_Params);
  SAME_SIZE(CounterAvailability, CUpti_Profiler_GetCounterAvailability_Params);
  SAME_SIZE(HostInitialize, CUpti_Profiler_Host_Initialize_Params);
  SAME_SIZE(HostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params);
  SAME_SIZE(ConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params);
  SAME_SIZE(ConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params);
  SAME_SIZE(ConfigImage, CUpti_Profiler_Host_GetConfigImage_Params);
  SAME_SIZE(NumberOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params);
  SAME_SIZE(Evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  SAME_SIZE(RangeEnable, CUpti_RangeProfiler_Enable_Params);
  SAME_SIZE(RangeCommand, CUpti_RangeProfiler_Disable_Params);
  SAME_SIZE(RangeCommand, CUpti_RangeProfiler_Start_Params);
  SAME_SIZE(RangeCommand, CUpti_RangeProfiler_PopRange_Params);
  SAME_SIZE(RangeStop, CUpti_RangeProfiler_Stop_Params);
  SAME_SIZE(RangePush, CUpti_RangeProfiler_PushRange_Params);
  SAME_SIZE(RangeDecode, CUpti_RangeProfiler_DecodeData_Params);
  SAME_SIZE(RangeConfig, CUpti_RangeProfiler_SetConfig_Params);
  SAME_SIZE(CounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params);
  SAME_SIZE(CounterDataInitialize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
  SAME_SIZE(CounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo_Params);
  SAME_SIZE(RangeInfo, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
#undef SAME_SIZE
  EXPECT_EQ(kParameterBytes<ProfilerInitialize>, CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  EXPECT_EQ(kRangeProfiler, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
  EXPECT_EQ(kUserRange, CUPTI_UserRange);
  EXPECT_EQ(kUserReplay, CUPTI_UserReplay);
}

SAME_FIELD(ChipName, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME_FIELD(ChipName, name, CUpti_Device_GetChipName_Params, pChipName);
SAME_FIELD(CounterAvailability, context, CUpti_Profiler_GetCounterAvailability_Params, ctx);
SAME_FIELD(CounterAvailability,
           imageBytes,
           CUpti_Profiler_GetCounterAvailability_Params,
           counterAvailabilityImageSize);
SAME_FIELD(CounterAvailability,
           image,
           CUpti_Profiler_GetCounterAvailability_Params,
           pCounterAvailabilityImage);
SAME_FIELD(HostInitialize, profiler, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME_FIELD(HostInitialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME_FIELD(HostInitialize,
           availability,
           CUpti_Profiler_Host_Initialize_Params,
           pCounterAvailabilityImage);
SAME_FIELD(HostInitialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME_FIELD(HostDeinitialize, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME_FIELD(ConfigAddMetrics, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
SAME_FIELD(ConfigAddMetrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME_FIELD(ConfigAddMetrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME_FIELD(ConfigImageSize, host, CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject);
SAME_FIELD(ConfigImageSize,
           imageBytes,
           CUpti_Profiler_Host_GetConfigImageSize_Params,
           configImageSize);
SAME_FIELD(ConfigImage, host, CUpti_Profiler_Host_GetConfigImage_Params, pHostObject);
SAME_FIELD(ConfigImage, imageBytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME_FIELD(ConfigImage, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME_FIELD(NumberOfPasses, imageBytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
SAME_FIELD(NumberOfPasses, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME_FIELD(NumberOfPasses, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SAME_FIELD(Evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject);
SAME_FIELD(Evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
SAME_FIELD(Evaluate,
           dataBytes,
           CUpti_Profiler_Host_EvaluateToGpuValues_Params,
           counterDataImageSize);
SAME_FIELD(Evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME_FIELD(Evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME_FIELD(Evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME_FIELD(Evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
SAME_FIELD(RangeEnable, context, CUpti_RangeProfiler_Enable_Params, ctx);
SAME_FIELD(RangeEnable, object, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
SAME_FIELD(RangeCommand, object, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
SAME_FIELD(RangeCommand, object, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
SAME_FIELD(RangeCommand, object, CUpti_RangeProfiler_PopRange_Params, pRangeProfilerObject);
SAME_FIELD(RangeStop, object, CUpti_RangeProfiler_Stop_Params, pRangeProfilerObject);
SAME_FIELD(RangeStop, areAllPassesSubmitted, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
SAME_FIELD(RangePush, object, CUpti_RangeProfiler_PushRange_Params, pRangeProfilerObject);
SAME_FIELD(RangePush, name, CUpti_RangeProfiler_PushRange_Params, pRangeName);
SAME_FIELD(RangeDecode, object, CUpti_RangeProfiler_DecodeData_Params, pRangeProfilerObject);
SAME_FIELD(RangeDecode, dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
SAME_FIELD(RangeConfig, object, CUpti_RangeProfiler_SetConfig_Params, pRangeProfilerObject);
SAME_FIELD(RangeConfig, configBytes, CUpti_RangeProfiler_SetConfig_Params, configSize);
SAME_FIELD(RangeConfig, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
SAME_FIELD(RangeConfig, dataBytes, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize);
SAME_FIELD(RangeConfig, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
SAME_FIELD(RangeConfig, range, CUpti_RangeProfiler_SetConfig_Params, range);
SAME_FIELD(RangeConfig, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
SAME_FIELD(RangeConfig, maxRanges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
SAME_FIELD(RangeConfig, nestingLevels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
SAME_FIELD(RangeConfig, minNestingLevel, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
SAME_FIELD(RangeConfig, passIndex, CUpti_RangeProfiler_SetConfig_Params, passIndex);
SAME_FIELD(RangeConfig,
           targetNestingLevel,
           CUpti_RangeProfiler_SetConfig_Params,
           targetNestingLevel);
SAME_FIELD(CounterDataSize,
           object,
           CUpti_RangeProfiler_GetCounterDataSize_Params,
           pRangeProfilerObject);
SAME_FIELD(CounterDataSize, names, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
SAME_FIELD(CounterDataSize, count, CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics);
SAME_FIELD(CounterDataSize,
           maxRanges,
           CUpti_RangeProfiler_GetCounterDataSize_Params,
           maxNumOfRanges);
SAME_FIELD(CounterDataSize,
           maxNodes,
           CUpti_RangeProfiler_GetCounterDataSize_Params,
           maxNumRangeTreeNodes);
SAME_FIELD(CounterDataSize,
           dataBytes,
           CUpti_RangeProfiler_GetCounterDataSize_Params,
           counterDataSize);
SAME_FIELD(CounterDataInitialize,
           dataBytes,
           CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
           counterDataSize);
SAME_FIELD(CounterDataInitialize,
           data,
           CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
           pCounterData);
SAME_FIELD(CounterDataInfo, data, CUpti_RangeProfiler_GetCounterDataInfo_Params, pCounterDataImage);
SAME_FIELD(CounterDataInfo, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);
SAME_FIELD(RangeInfo, range, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeIndex);
SAME_FIELD(RangeInfo,
           delimiter,
           CUpti_RangeProfiler_CounterData_GetRangeInfo_Params,
           rangeDelimiter);
SAME_FIELD(RangeInfo, name, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeName);

}  // namespace
}  // namespace sonde::preload::cupti
