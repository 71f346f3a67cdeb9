#pragma once
// The common start of all functions of the runtime's API. The runtime's error codes have the
// driver's numbers.

#include "tests/cudasim/core/call.h"
#include "tests/cudasim/core/device.h"

#include <cuda_runtime_api.h>
#include <cupti.h>

namespace cudasim {

// Loads libcuda.so.1 and initialises it, as the runtime does at its first call.
cudaError_t startRuntime();
cudaError_t remember(cudaError_t error);  // for cudaGetLastError
cudaError_t lastError(bool forget);

class RuntimeCall {
 public:
  RuntimeCall(uint32_t cbid, const char* name, const void* params) {
    call_.domain = CUPTI_CB_DOMAIN_RUNTIME_API;
    call_.cbid = cbid;
    call_.name = name;
    call_.params = params;
  }
  RuntimeCall& symbol(const std::string& name) {
    call_.symbol = name.c_str();
    return *this;
  }
  // Runs `body`, which returns a CUresult, as this function.
  template <class Body>
  cudaError_t operator()(Body body) const {
    const cudaError_t started = startRuntime();
    return remember(started == cudaSuccess ? apiCall<cudaError_t>(call_, body) : started);
  }
  // The same with a stream of the current device's context.
  template <class Body>
  cudaError_t on(CUstream handle, Body body) const {
    return (*this)([&] {
      const CUstream stream = resolve(runtimeContext(), handle);
      return stream ? body(stream) : CUDA_ERROR_INVALID_HANDLE;
    });
  }

 private:
  Call call_;
};

}  // namespace cudasim

// Defines `call`, for the function of that name and version, whose arguments follow.
#define RUNTIME_CALL(function, version, ...)               \
  const function##_##version##_params params{__VA_ARGS__}; \
  cudasim::RuntimeCall call(CUPTI_RUNTIME_TRACE_CBID_##function##_##version, #function, &params)
#define RUNTIME_CALL0(function, version) \
  const cudasim::RuntimeCall call(       \
      CUPTI_RUNTIME_TRACE_CBID_##function##_##version, #function, nullptr)
