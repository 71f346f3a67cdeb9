#include "collector/preload/cuda/cupti/cupti_profiler.h"

#include "collector/preload/common/symbol_binder.h"

namespace sonde::preload::cupti {
namespace {

bool bindHost(const SymbolBinder& one, ProfilerApi& api) noexcept {
  return one("cuptiProfilerInitialize", api.initialize) &&
         one("cuptiDeviceGetChipName", api.chipName) &&
         one("cuptiProfilerGetCounterAvailability", api.counterAvailability) &&
         one("cuptiProfilerHostInitialize", api.hostInitialize) &&
         one("cuptiProfilerHostDeinitialize", api.hostDeinitialize) &&
         one("cuptiProfilerHostConfigAddMetrics", api.configAddMetrics) &&
         one("cuptiProfilerHostGetConfigImageSize", api.configImageSize) &&
         one("cuptiProfilerHostGetConfigImage", api.configImage) &&
         one("cuptiProfilerHostGetNumOfPasses", api.numberOfPasses) &&
         one("cuptiProfilerHostEvaluateToGpuValues", api.evaluate);
}

bool bindRanges(const SymbolBinder& one, ProfilerApi& api) noexcept {
  return one("cuptiRangeProfilerEnable", api.rangeEnable) &&
         one("cuptiRangeProfilerDisable", api.rangeDisable) &&
         one("cuptiRangeProfilerStart", api.rangeStart) &&
         one("cuptiRangeProfilerStop", api.rangeStop) &&
         one("cuptiRangeProfilerPushRange", api.rangePush) &&
         one("cuptiRangeProfilerPopRange", api.rangePop) &&
         one("cuptiRangeProfilerDecodeData", api.rangeDecode) &&
         one("cuptiRangeProfilerSetConfig", api.rangeConfig) &&
         one("cuptiRangeProfilerGetCounterDataSize", api.counterDataSize) &&
         one("cuptiRangeProfilerCounterDataImageInitialize", api.counterDataInitialize) &&
         one("cuptiRangeProfilerGetCounterDataInfo", api.counterDataInfo) &&
         one("cuptiRangeProfilerCounterDataGetRangeInfo", api.rangeInfo);
}

}  // namespace

bool bindProfiler(void* library, ProfilerApi& api, const char*& missing) noexcept {
  const SymbolBinder one{library, missing};
  return bindRanges(one, api) && bindHost(one, api);
}

}  // namespace sonde::preload::cupti
