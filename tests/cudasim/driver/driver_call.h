#pragma once
// The common start of all functions of the driver's API.

#include "tests/cudasim/core/call.h"
#include "tests/cudasim/core/device.h"

#include <cuda.h>
#include <cupti.h>

namespace cudasim {

class DriverCall {
 public:
  DriverCall(uint32_t cbid, const char* name, const void* params) {
    call_.domain = CUPTI_CB_DOMAIN_DRIVER_API;
    call_.cbid = cbid;
    call_.name = name;
    call_.params = params;
  }
  DriverCall& symbol(const std::string& name) {
    call_.symbol = name.c_str();
    return *this;
  }
  // Runs `body` as this function, once the driver has been initialised.
  template <class Body>
  CUresult operator()(Body body) const {
    return initialised() ? apiCall<CUresult>(call_, body) : CUDA_ERROR_NOT_INITIALIZED;
  }
  // The same with a stream of the current context.
  template <class Body>
  CUresult on(CUstream handle, Body body) const {
    return (*this)([&] {
      const CUstream stream = resolve(currentContext(), handle);
      return stream ? body(stream)
                    : (currentContext() ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_CONTEXT);
    });
  }

 private:
  Call call_;
};

}  // namespace cudasim

// Defines `call`, for the function of that name, whose arguments follow.
#define DRIVER_CALL(function, ...)             \
  const function##_params params{__VA_ARGS__}; \
  cudasim::DriverCall call(CUPTI_DRIVER_TRACE_CBID_##function, #function, &params)
