// The runtime's functions for devices and errors.
#include "tests/cudasim/core/attributes.h"
#include "tests/cudasim/runtime/runtime_call.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

namespace cudasim {
namespace {

thread_local cudaError_t gLastError = cudaSuccess;

bool isDevice(int device) {
  return device >= 0 && static_cast<uint32_t>(device) < deviceCount();
}

void describe(cudaDeviceProp* prop, uint32_t device) {
  std::memset(prop, 0, sizeof *prop);
  std::snprintf(prop->name, sizeof prop->name, "%s", kDeviceName);
  const CUuuid uuid = deviceUuid(device);
  std::memcpy(&prop->uuid, &uuid, sizeof uuid);
  prop->totalGlobalMem = kDeviceBytes;
  prop->major = kComputeCapability / 10;
  prop->minor = kComputeCapability % 10;
  prop->multiProcessorCount = kMultiprocessors;
  prop->warpSize = 32;
  prop->maxThreadsPerBlock = 1024;
  prop->pciBusID = static_cast<int>(device) + 1;
}

}  // namespace

cudaError_t startRuntime() {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  return driver ? static_cast<cudaError_t>(initialise()) : cudaErrorInsufficientDriver;
}

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) {
    gLastError = error;
  }
  return error;
}

cudaError_t lastError(bool forget) {
  return forget ? std::exchange(gLastError, cudaSuccess) : gLastError;
}

}  // namespace cudasim

using namespace cudasim;

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* runtimeVersion) {
  *runtimeVersion = CUDASIM_CUDA_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* driverVersion) {
  *driverVersion = CUDASIM_CUDA_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetLastError(void) {
  return lastError(true);
}
cudaError_t cudaPeekAtLastError(void) {
  return lastError(false);
}

const char* cudaGetErrorName(cudaError_t error) {
  static const auto* names = new std::map<cudaError_t, const char*>{
      {cudaSuccess, "cudaSuccess"},
#include "runtime_errors.inc"
  };
  const auto found = names->find(error);
  return found == names->end() ? "unrecognized error code" : found->second;
}

const char* cudaGetErrorString(cudaError_t error) {
  return cudaGetErrorName(error);
}

cudaError_t cudaGetDeviceCount(int* count) {
  RUNTIME_CALL(cudaGetDeviceCount, v3020, count);
  return call([&] {
    *count = static_cast<int>(deviceCount());
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaGetDevice(int* device) {
  RUNTIME_CALL(cudaGetDevice, v3020, device);
  return call([&] {
    *device = static_cast<int>(runtimeDevice());
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaSetDevice(int device) {
  RUNTIME_CALL(cudaSetDevice, v3020, device);
  return call([&] {
    return isDevice(device) ? setRuntimeDevice(static_cast<uint32_t>(device))
                            : CUDA_ERROR_INVALID_DEVICE;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  RUNTIME_CALL(cudaGetDeviceProperties, v12000, prop, device);
  return call([&] {
    if (!isDevice(device)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    describe(prop, static_cast<uint32_t>(device));
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
  RUNTIME_CALL(cudaDeviceGetAttribute, v5000, value, attr, device);
  return call([&] {
    if (!isDevice(device)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *value = deviceAttribute(static_cast<CUdevice_attribute>(attr), static_cast<uint32_t>(device));
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaDeviceSynchronize(void) {
  RUNTIME_CALL0(cudaDeviceSynchronize, v3020);
  return call([&] { return synchroniseContext(runtimeContext()); });
}

cudaError_t cudaDeviceReset(void) {
  RUNTIME_CALL0(cudaDeviceReset, v3020);
  return call([&] { return resetPrimary(runtimeDevice()); });
}

cudaError_t cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice) {
  RUNTIME_CALL(cudaDeviceCanAccessPeer, v4000, canAccessPeer, device, peerDevice);
  return call([&] {
    *canAccessPeer = device != peerDevice;
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags) {
  RUNTIME_CALL(cudaDeviceEnablePeerAccess, v4000, peerDevice, flags);
  return call([&] { return isDevice(peerDevice) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; });
}

}  // extern "C"
