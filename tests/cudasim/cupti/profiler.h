#pragma once
// The checks at the start of all functions of CUPTI's profilers. Any thread.

#include <cupti.h>

#include <atomic>
#include <cstddef>
#include <mutex>

namespace cudasim {

// Whether cuptiProfilerInitialize was called.
std::atomic<bool>& profilerInitialised();

// Guards the profilers' objects.
std::mutex& profilerMutex();

// Requires profilerMutex(). With null: whether any context has it enabled.
bool rangeProfilerEnabled(CUcontext context);

// As when CUPTI is finalized: the profilers are neither enabled nor initialised.
void disableRangeProfilers();

// `size`: up to the last field that is needed.
template <class Params>
CUptiResult checkParams(const Params* params, size_t size) {
  if (!params || params->structSize < size || params->pPriv) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return profilerInitialised() ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED;
}

// Runs `body` with profilerMutex() held if the parameters are valid.
template <class Params, class Body>
CUptiResult profilerCall(Params* params, size_t size, Body body) {
  const CUptiResult result = checkParams(params, size);
  if (result != CUPTI_SUCCESS) {
    return result;
  }
  const std::lock_guard lock(profilerMutex());
  return body();
}

}  // namespace cudasim
