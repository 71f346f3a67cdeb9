// The driver's functions for devices and contexts.
#include "tests/cudasim/core/attributes.h"
#include "tests/cudasim/driver/driver_call.h"

#include <cstdio>
#include <cstring>

using namespace cudasim;

namespace {

CUresult onDevice(CUdevice device, auto body) {
  return device >= 0 && static_cast<uint32_t>(device) < deviceCount()
             ? body(static_cast<uint32_t>(device))
             : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned int flags) {
  const cuInit_params params{flags};
  Call call;
  call.domain = CUPTI_CB_DOMAIN_DRIVER_API;
  call.cbid = CUPTI_DRIVER_TRACE_CBID_cuInit;
  call.name = "cuInit";
  call.params = &params;
  return apiCall<CUresult>(call, initialise);
}

CUresult cuDriverGetVersion(int* driverVersion) {
  *driverVersion = CUDASIM_CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  DRIVER_CALL(cuDeviceGetCount, count);
  return call([&] {
    *count = static_cast<int>(deviceCount());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  DRIVER_CALL(cuDeviceGet, device, ordinal);
  return call([&] {
    return onDevice(ordinal, [&](uint32_t id) {
      *device = static_cast<CUdevice>(id);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuDeviceGetName(char* name, int len, CUdevice dev) {
  DRIVER_CALL(cuDeviceGetName, name, len, dev);
  return call([&] {
    return onDevice(dev, [&](uint32_t) {
      std::snprintf(name, static_cast<size_t>(len), "%s", kDeviceName);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
  DRIVER_CALL(cuDeviceGetUuid_v2, uuid, dev);
  return call([&] {
    return onDevice(dev, [&](uint32_t id) {
      *uuid = deviceUuid(id);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
  DRIVER_CALL(cuDeviceGetAttribute, pi, attrib, dev);
  return call([&] {
    return onDevice(dev, [&](uint32_t id) {
      *pi = deviceAttribute(attrib, id);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
  DRIVER_CALL(cuDeviceTotalMem_v2, bytes, dev);
  return call([&] {
    return onDevice(dev, [&](uint32_t) {
      *bytes = kDeviceBytes;
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
  DRIVER_CALL(cuDevicePrimaryCtxRetain, pctx, dev);
  return call([&] {
    return onDevice(dev, [&](uint32_t id) {
      *pctx = retainPrimary(id);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
  DRIVER_CALL(cuDevicePrimaryCtxRelease_v2, dev);
  return call([&] { return onDevice(dev, releasePrimary); });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
  DRIVER_CALL(cuDevicePrimaryCtxReset_v2, dev);
  return call([&] { return onDevice(dev, resetPrimary); });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
  DRIVER_CALL(cuDevicePrimaryCtxGetState, dev, flags, active);
  return call([&] {
    return onDevice(dev, [&](uint32_t id) {
      *flags = 0;
      *active = primaryActive(id);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned int flags, CUdevice dev) {
  DRIVER_CALL(cuCtxCreate_v2, pctx, flags, dev);
  return call([&] {
    return onDevice(dev, [&](uint32_t id) {
      *pctx = createContext(id);
      setCurrentContext(*pctx);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuCtxCreate_v4(CUcontext* pctx,
                        CUctxCreateParams* create,
                        unsigned int flags,
                        CUdevice dev) {
  DRIVER_CALL(cuCtxCreate_v4, pctx, create, flags, dev);
  return call([&] {
    return onDevice(dev, [&](uint32_t id) {
      *pctx = createContext(id);
      setCurrentContext(*pctx);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuCtxDestroy_v2(CUcontext ctx) {
  DRIVER_CALL(cuCtxDestroy_v2, ctx);
  return call([&] { return destroyContext(ctx); });
}

CUresult cuCtxGetCurrent(CUcontext* pctx) {
  DRIVER_CALL(cuCtxGetCurrent, pctx);
  return call([&] {
    *pctx = currentContext();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext ctx) {
  DRIVER_CALL(cuCtxSetCurrent, ctx);
  return call([&] {
    setCurrentContext(ctx);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  DRIVER_CALL(cuCtxGetDevice, device);
  return call([&] {
    if (!currentContext()) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    *device = static_cast<CUdevice>(currentContext()->device);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize(void) {
  const DriverCall call(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, "cuCtxSynchronize", nullptr);
  return call([&] {
    const CUcontext context = currentContext();
    return context && context->alive ? synchroniseContext(context) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

}  // extern "C"
