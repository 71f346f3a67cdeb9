// CUPTI's profilers: their start and end, and their information about a device.
#include "tests/cudasim/core/device.h"
#include "tests/cudasim/cupti/client.h"
#include "tests/cudasim/cupti/profiler.h"
#include "tests/cudasim/cupti/profiler_images.h"

#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <cstring>

using namespace cudasim;

namespace cudasim {

std::atomic<bool>& profilerInitialised() {
  static std::atomic<bool> initialised{false};
  return initialised;
}

std::mutex& profilerMutex() {
  static auto* mutex = new std::mutex;  // used until the process has ended
  return *mutex;
}

}  // namespace cudasim

extern "C" {

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* pParams) {
  const CUptiResult result = checkParams(pParams, CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  if (result == CUPTI_ERROR_INVALID_PARAMETER) {
    return result;
  }
  profilerInitialised() = driverPresent();
  return driverResult();
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params* pParams) {
  return profilerCall(pParams, CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE, [] {
    if (rangeProfilerEnabled(nullptr)) {
      return CUPTI_ERROR_INVALID_OPERATION;
    }
    profilerInitialised() = false;
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* pParams) {
  const CUptiResult result = checkParams(pParams, CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  if (result != CUPTI_SUCCESS) {
    return result;
  }
  if (pParams->deviceIndex >= deviceCount()) {
    return CUPTI_ERROR_INVALID_DEVICE;
  }
  pParams->pChipName = chipName(chipOf(pParams->deviceIndex));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(
    CUpti_Profiler_GetCounterAvailability_Params* pParams) {
  return profilerCall(pParams, CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE, [&] {
    CUcontext context = pParams->ctx ? pParams->ctx : currentContext();
    if (!context || !context->alive) {
      return CUPTI_ERROR_INVALID_CONTEXT;
    }
    if (rangeProfilerEnabled(context)) {
      return CUPTI_ERROR_INVALID_OPERATION;
    }
    const std::vector<uint8_t> image = availabilityImage();
    uint8_t* buffer = pParams->pCounterAvailabilityImage;
    if (buffer && pParams->counterAvailabilityImageSize < image.size()) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (buffer) {
      std::memcpy(buffer, image.data(), image.size());
    }
    pParams->counterAvailabilityImageSize = image.size();
    return CUPTI_SUCCESS;
  });
}

}  // extern "C"
