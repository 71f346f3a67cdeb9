// CUPTI's profiler host API: from metrics to a config image, from counter data to values.
#include "tests/cudasim/cupti/profiler.h"
#include "tests/cudasim/cupti/profiler_images.h"

#include <cupti_profiler_host.h>

#include <algorithm>
#include <cstring>
#include <memory>

using namespace cudasim;

struct CUpti_Profiler_Host_Object {
  Chip chip = Chip::Sim100;
  MetricSet metrics = 0;
};

namespace {

using Objects = std::vector<std::unique_ptr<CUpti_Profiler_Host_Object>>;

// Guarded by profilerMutex().
Objects& objects() {
  static auto* instance = new Objects;  // used until the process has ended
  return *instance;
}

Objects::iterator find(const CUpti_Profiler_Host_Object* object) {
  return std::find_if(
      objects().begin(), objects().end(), [&](const auto& other) { return other.get() == object; });
}

// As profilerCall, and requires an existing object.
template <class Params, class Body>
CUptiResult hostCall(Params* params, size_t size, Body body) {
  return profilerCall(params, size, [&] {
    const auto found = find(params->pHostObject);
    return found == objects().end() ? CUPTI_ERROR_INVALID_PARAMETER : body(**found);
  });
}

CUptiResult evaluateRange(const CUpti_Profiler_Host_EvaluateToGpuValues_Params& params) {
  const auto data = readCounterData(params.pCounterDataImage, params.counterDataImageSize);
  if (!data || !params.pMetricValues || params.rangeIndex >= data->ranges.size()) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  MetricSet all = 0;
  const CUptiResult result = findMetrics(params.ppMetricNames, params.numMetrics, &all);
  if (result != CUPTI_SUCCESS) {
    return result;
  }
  if (all & ~data->metrics) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const RangeData& range = data->ranges[params.rangeIndex];
  for (size_t i = 0; i < params.numMetrics; ++i) {
    MetricSet metric = 0;
    findMetrics(params.ppMetricNames + i, 1, &metric);
    params.pMetricValues[i] = evaluate(metric, range.counters, range.collected);
  }
  return CUPTI_SUCCESS;
}

}  // namespace

extern "C" {

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* pParams) {
  return profilerCall(pParams, CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE, [&] {
    const auto chip = pParams->pChipName ? chipCalled(pParams->pChipName) : std::nullopt;
    if (pParams->profilerType != CUPTI_PROFILER_TYPE_RANGE_PROFILER || !chip ||
        !isAvailabilityImage(pParams->pCounterAvailabilityImage)) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    objects().push_back(std::make_unique<CUpti_Profiler_Host_Object>());
    objects().back()->chip = *chip;
    pParams->pHostObject = objects().back().get();
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* pParams) {
  return hostCall(pParams,
                  CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE,
                  [](const CUpti_Profiler_Host_Object& object) {
                    objects().erase(find(&object));
                    return CUPTI_SUCCESS;
                  });
}

CUptiResult cuptiProfilerHostConfigAddMetrics(
    CUpti_Profiler_Host_ConfigAddMetrics_Params* pParams) {
  return hostCall(pParams,
                  CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE,
                  [&](CUpti_Profiler_Host_Object& object) {
                    MetricSet metrics = 0;
                    const CUptiResult result =
                        findMetrics(pParams->ppMetricNames, pParams->numMetrics, &metrics);
                    if (result != CUPTI_SUCCESS) {
                      return result;
                    }
                    if (!hasAll(object.chip, metrics)) {
                      return CUPTI_ERROR_INVALID_METRIC_NAME;
                    }
                    object.metrics |= metrics;
                    return result;
                  });
}

CUptiResult cuptiProfilerHostGetConfigImageSize(
    CUpti_Profiler_Host_GetConfigImageSize_Params* pParams) {
  return hostCall(pParams,
                  CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE,
                  [&](const CUpti_Profiler_Host_Object& object) {
                    if (!object.metrics) {
                      return CUPTI_ERROR_INVALID_OPERATION;
                    }
                    pParams->configImageSize = configImage(object.metrics).size();
                    return CUPTI_SUCCESS;
                  });
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* pParams) {
  return hostCall(pParams,
                  CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE,
                  [&](const CUpti_Profiler_Host_Object& object) {
                    if (!object.metrics) {
                      return CUPTI_ERROR_INVALID_OPERATION;
                    }
                    const std::vector<uint8_t> image = configImage(object.metrics);
                    if (!pParams->pConfigImage || pParams->configImageSize < image.size()) {
                      return CUPTI_ERROR_INVALID_PARAMETER;
                    }
                    std::memcpy(pParams->pConfigImage, image.data(), image.size());
                    return CUPTI_SUCCESS;
                  });
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* pParams) {
  return profilerCall(pParams, CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE, [&] {
    const auto metrics = readConfigImage(pParams->pConfigImage, pParams->configImageSize);
    if (!metrics) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    pParams->numOfPasses = scheduleOf(*metrics).passes;
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params* pParams) {
  return hostCall(pParams,
                  CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE,
                  [&](const CUpti_Profiler_Host_Object&) { return evaluateRange(*pParams); });
}

}  // extern "C"
