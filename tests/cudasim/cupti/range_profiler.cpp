// CUPTI's range profiler: user ranges, user replay, one nesting level.
#include "tests/cudasim/core/clock.h"
#include "tests/cudasim/core/device.h"
#include "tests/cudasim/core/kernel_watch.h"
#include "tests/cudasim/core/truth.h"
#include "tests/cudasim/cupti/client.h"
#include "tests/cudasim/cupti/profiler.h"
#include "tests/cudasim/cupti/profiler_images.h"

#include <cupti_range_profiler.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace cudasim;

namespace {

enum class State { Enabled, Configured, Started, Stopped };

// The counters of one pass in one range.
struct Collected {
  std::string name;
  uint32_t pass = 0;
  Counters counters;
};

}  // namespace

struct CUpti_RangeProfiler_Object {
  CUcontext context = nullptr;
  State state = State::Enabled;
  CounterData empty;  // as requested in GetCounterDataSize; without metrics before that

  // From SetConfig.
  Schedule schedule;
  size_t maxRangesPerPass = 0;
  uint8_t* image = nullptr;
  size_t imageBytes = 0;

  uint32_t pass = 0;                   // the next pass, or the current one
  std::unique_ptr<KernelWatch> watch;  // while started
  std::optional<std::string> open;
  uint64_t openedNs = 0;
  size_t rangesInPass = 0;
  size_t dropped = 0;
  std::vector<Collected> collected;  // not yet decoded
};

namespace {

using Profiler = CUpti_RangeProfiler_Object;
using Profilers = std::vector<std::unique_ptr<Profiler>>;

// Guarded by profilerMutex().
Profilers& profilers() {
  static auto* instance = new Profilers;  // used until the process has ended
  return *instance;
}

Profilers::iterator find(const Profiler* profiler) {
  return std::find_if(profilers().begin(), profilers().end(), [&](const auto& other) {
    return other.get() == profiler;
  });
}

// As profilerCall, and requires an enabled profiler.
template <class Params, class Body>
CUptiResult rangeCall(Params* params, size_t size, Body body) {
  return profilerCall(params, size, [&] {
    if (!params->pRangeProfilerObject) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    const auto found = find(params->pRangeProfilerObject);
    return found == profilers().end() ? CUPTI_ERROR_INVALID_OPERATION : body(**found);
  });
}

CUptiResult configure(const CUpti_RangeProfiler_SetConfig_Params& params, Profiler& profiler) {
  if (profiler.state == State::Started) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  const auto metrics = readConfigImage(params.pConfig, params.configSize);
  const auto data = readCounterData(params.pCounterDataImage, params.counterDataImageSize);
  if (!metrics || !data || *metrics & ~data->metrics || params.maxRangesPerPass == 0 ||
      params.numNestingLevels != 1 || params.minNestingLevel != 1 ||
      params.targetNestingLevel > 1) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const Schedule schedule = scheduleOf(*metrics);
  if (params.passIndex >= schedule.passes) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (params.range != CUPTI_UserRange || params.replayMode != CUPTI_UserReplay) {
    return CUPTI_ERROR_NOT_SUPPORTED;
  }
  profiler.schedule = schedule;
  profiler.maxRangesPerPass = params.maxRangesPerPass;
  profiler.image = params.pCounterDataImage;
  profiler.imageBytes = params.counterDataImageSize;
  profiler.pass = static_cast<uint32_t>(params.passIndex);
  profiler.collected.clear();
  profiler.dropped = 0;
  profiler.state = State::Configured;
  return CUPTI_SUCCESS;
}

CUptiResult start(Profiler& profiler) {
  if (profiler.state == State::Enabled || profiler.state == State::Started ||
      profiler.pass >= profiler.schedule.passes) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  profiler.watch = std::make_unique<KernelWatch>(profiler.context->device);
  profiler.rangesInPass = 0;
  profiler.state = State::Started;
  return CUPTI_SUCCESS;
}

CUptiResult stop(CUpti_RangeProfiler_Stop_Params& params, Profiler& profiler) {
  if (profiler.state != State::Started || profiler.open) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  profiler.watch.reset();
  profiler.state = State::Stopped;
  params.passIndex = ++profiler.pass;
  params.targetNestingLevel = 1;
  params.isAllPassSubmitted = profiler.pass == profiler.schedule.passes;
  return CUPTI_SUCCESS;
}

CUptiResult push(const char* name, Profiler& profiler) {
  if (!name || std::strlen(name) > RangeData::kLongestName) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (profiler.state != State::Started || profiler.open) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  profiler.openedNs = nowNs();
  profiler.watch->takeUntil(profiler.openedNs);
  profiler.open = name;
  return CUPTI_SUCCESS;
}

CUptiResult pop(Profiler& profiler) {
  if (profiler.state != State::Started || !profiler.open) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  const uint64_t now = nowNs();
  Counters counters = profiler.watch->takeUntil(now);
  counters += countersOfRange(now - profiler.openedNs);
  writeRange(profiler.context->device, profiler.openedNs, now);
  if (++profiler.rangesInPass > profiler.maxRangesPerPass) {
    ++profiler.dropped;
  } else {
    profiler.collected.push_back({*profiler.open, profiler.pass, counters});
  }
  profiler.open.reset();
  return CUPTI_SUCCESS;
}

// Returns the first range with that name that lacks the pass, or a new one; null if there is no
// room.
RangeData* rangeOf(CounterData& data, const Collected& collected) {
  for (RangeData& range : data.ranges) {
    if (range.name == collected.name && !(range.passes >> collected.pass & 1)) {
      return &range;
    }
  }
  if (data.ranges.size() == data.maxRanges) {
    return nullptr;
  }
  RangeData& range = data.ranges.emplace_back();
  std::copy(collected.name.begin(), collected.name.end(), range.name);
  return &range;
}

// Adds only the pass's counters.
void addPass(RangeData& range, const Collected& collected, CounterSet counters) {
  range.passes |= uint64_t{1} << collected.pass;
  range.collected |= counters;
  for (size_t i = 0; i < kCounters; ++i) {
    if (counters >> i & 1) {
      range.counters.values[i] = collected.counters.values[i];
    }
  }
}

CUptiResult decode(size_t* dropped, Profiler& profiler) {
  if (profiler.state != State::Stopped) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  auto data = readCounterData(profiler.image, profiler.imageBytes);
  if (!data) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  for (const Collected& collected : profiler.collected) {
    RangeData* range = rangeOf(*data, collected);
    if (!range) {
      ++profiler.dropped;
      continue;
    }
    addPass(*range, collected, profiler.schedule.ofPass[collected.pass]);
  }
  writeCounterData(*data, profiler.image);
  profiler.collected.clear();
  *dropped = std::exchange(profiler.dropped, 0);
  return CUPTI_SUCCESS;
}

// CUDASIM_RANGE_ERROR.
CUptiResult enableResult() {
  static const char* error = std::getenv("CUDASIM_RANGE_ERROR");
  return error ? static_cast<CUptiResult>(std::atoi(error)) : driverResult();
}

}  // namespace

namespace cudasim {

bool rangeProfilerEnabled(CUcontext context) {
  return std::any_of(profilers().begin(), profilers().end(), [&](const auto& profiler) {
    return !context || profiler->context == context;
  });
}

void disableRangeProfilers() {
  const std::lock_guard lock(profilerMutex());
  profilers().clear();
  profilerInitialised() = false;
}

}  // namespace cudasim

extern "C" {

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* pParams) {
  return profilerCall(pParams, CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE, [&] {
    if (!pParams->ctx) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (!pParams->ctx->alive) {
      return CUPTI_ERROR_INVALID_CONTEXT;
    }
    if (rangeProfilerEnabled(pParams->ctx)) {
      return CUPTI_ERROR_INVALID_OPERATION;
    }
    if (enableResult() != CUPTI_SUCCESS) {
      return enableResult();
    }
    profilers().push_back(std::make_unique<Profiler>());
    profilers().back()->context = pParams->ctx;
    pParams->pRangeProfilerObject = profilers().back().get();
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* pParams) {
  return rangeCall(
      pParams, CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE, [](const Profiler& profiler) {
        if (profiler.state == State::Started) {
          return CUPTI_ERROR_INVALID_OPERATION;
        }
        profilers().erase(find(&profiler));
        return CUPTI_SUCCESS;
      });
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(
    CUpti_RangeProfiler_GetCounterDataSize_Params* pParams) {
  return rangeCall(
      pParams, CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE, [&](Profiler& profiler) {
        CounterData data;
        const CUptiResult result =
            findMetrics(pParams->pMetricNames, pParams->numMetrics, &data.metrics);
        if (result != CUPTI_SUCCESS) {
          return result;
        }
        if (pParams->maxNumOfRanges == 0 ||
            pParams->maxNumRangeTreeNodes < pParams->maxNumOfRanges) {
          return CUPTI_ERROR_INVALID_PARAMETER;
        }
        data.maxRanges = pParams->maxNumOfRanges;
        profiler.empty = data;
        pParams->counterDataSize = counterDataSize(data);
        return CUPTI_SUCCESS;
      });
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* pParams) {
  return rangeCall(
      pParams,
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
      [&](const Profiler& profiler) {
        if (!profiler.empty.metrics) {
          return CUPTI_ERROR_INVALID_OPERATION;
        }
        if (!pParams->pCounterData || pParams->counterDataSize < counterDataSize(profiler.empty)) {
          return CUPTI_ERROR_INVALID_PARAMETER;
        }
        writeCounterData(profiler.empty, pParams->pCounterData);
        return CUPTI_SUCCESS;
      });
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* pParams) {
  return rangeCall(pParams,
                   CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
                   [&](Profiler& profiler) { return configure(*pParams, profiler); });
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* pParams) {
  return rangeCall(pParams, CUpti_RangeProfiler_Start_Params_STRUCT_SIZE, start);
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* pParams) {
  return rangeCall(pParams, CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE, [&](Profiler& profiler) {
    return stop(*pParams, profiler);
  });
}

CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* pParams) {
  return rangeCall(pParams,
                   CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE,
                   [&](Profiler& profiler) { return push(pParams->pRangeName, profiler); });
}

CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* pParams) {
  return rangeCall(pParams, CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE, pop);
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* pParams) {
  return rangeCall(
      pParams, CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE, [&](Profiler& profiler) {
        return decode(&pParams->numOfRangeDropped, profiler);
      });
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(
    CUpti_RangeProfiler_GetCounterDataInfo_Params* pParams) {
  return profilerCall(pParams, CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE, [&] {
    const auto data = readCounterData(pParams->pCounterDataImage, pParams->counterDataImageSize);
    if (!data) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    pParams->numTotalRanges = data->ranges.size();
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiRangeProfilerCounterDataGetRangeInfo(
    CUpti_RangeProfiler_CounterData_GetRangeInfo_Params* pParams) {
  // Reused, so that a client that keeps the pointer is detected.
  static thread_local std::string name;
  return profilerCall(
      pParams, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE, [&] {
        const auto data =
            readCounterData(pParams->pCounterDataImage, pParams->counterDataImageSize);
        if (!data || !pParams->rangeDelimiter || pParams->rangeIndex >= data->ranges.size()) {
          return CUPTI_ERROR_INVALID_PARAMETER;
        }
        name = data->ranges[pParams->rangeIndex].name;
        pParams->rangeName = name.c_str();
        return CUPTI_SUCCESS;
      });
}

}  // extern "C"
