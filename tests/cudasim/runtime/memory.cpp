// The runtime's functions for memory: allocation, copies and sets.
#include "tests/cudasim/core/memory.h"

#include "tests/cudasim/runtime/runtime_call.h"

using namespace cudasim;

namespace {

uint64_t addressOf(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

CUresult allocateFor(void** pointer, size_t size, uint8_t kind, CUstream stream = nullptr) {
  uint64_t address = 0;
  const CUresult result = allocate(runtimeContext(), size, kind, stream, &address);
  *pointer = reinterpret_cast<void*>(address);
  return result;
}

CUresult releaseAt(const void* pointer) {
  return pointer ? release(addressOf(pointer), nullptr) : CUDA_SUCCESS;
}

Work peerCopy(int to, int from, size_t count) {
  return peerCopyWork(
      retainPrimary(static_cast<uint32_t>(to)), retainPrimary(static_cast<uint32_t>(from)), count);
}

bool areDevices(int a, int b) {
  const auto count = static_cast<int>(deviceCount());
  return a >= 0 && a < count && b >= 0 && b < count;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** devPtr, size_t size) {
  RUNTIME_CALL(cudaMalloc, v3020, devPtr, size);
  return call([&] { return allocateFor(devPtr, size, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE); });
}

cudaError_t cudaFree(void* devPtr) {
  RUNTIME_CALL(cudaFree, v3020, devPtr);
  return call([&] { return releaseAt(devPtr); });
}

cudaError_t cudaMallocAsync(void** devPtr, size_t size, cudaStream_t hStream) {
  RUNTIME_CALL(cudaMallocAsync, v11020, devPtr, size, hStream);
  return call.on(hStream, [&](CUstream stream) {
    return allocateFor(devPtr, size, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, stream);
  });
}

cudaError_t cudaFreeAsync(void* devPtr, cudaStream_t hStream) {
  RUNTIME_CALL(cudaFreeAsync, v11020, devPtr, hStream);
  return call.on(hStream, [&](CUstream stream) { return release(addressOf(devPtr), stream); });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* memPool, int device) {
  RUNTIME_CALL(cudaDeviceGetDefaultMemPool, v11020, memPool, device);
  return call([&] {
    *memPool = defaultPool(static_cast<uint32_t>(device));
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep) {
  RUNTIME_CALL(cudaMemPoolTrimTo, v11020, memPool, minBytesToKeep);
  return call([&] { return trimPool(memPool, minBytesToKeep); });
}

cudaError_t cudaMallocHost(void** ptr, size_t size) {
  RUNTIME_CALL(cudaMallocHost, v3020, ptr, size);
  return call([&] { return allocateFor(ptr, size, CUPTI_ACTIVITY_MEMORY_KIND_PINNED); });
}

cudaError_t cudaHostAlloc(void** pHost, size_t size, unsigned int flags) {
  RUNTIME_CALL(cudaHostAlloc, v3020, pHost, size, flags);
  return call([&] { return allocateFor(pHost, size, CUPTI_ACTIVITY_MEMORY_KIND_PINNED); });
}

cudaError_t cudaFreeHost(void* ptr) {
  RUNTIME_CALL(cudaFreeHost, v3020, ptr);
  return call([&] { return releaseAt(ptr); });
}

cudaError_t cudaMallocManaged(void** devPtr, size_t size, unsigned int flags) {
  RUNTIME_CALL(cudaMallocManaged, v6000, devPtr, size, flags);
  return call([&] { return allocateFor(devPtr, size, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED); });
}

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  RUNTIME_CALL(cudaMemcpy, v3020, dst, src, count, kind);
  return call.on(nullptr, [&](CUstream stream) {
    return submitAndWait(stream, copyWork(stream->context, addressOf(dst), addressOf(src), count));
  });
}

cudaError_t cudaMemcpyAsync(
    void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t on) {
  RUNTIME_CALL(cudaMemcpyAsync, v3020, dst, src, count, kind, on);
  return call.on(on, [&](CUstream stream) {
    return submit(stream, copyWork(stream->context, addressOf(dst), addressOf(src), count));
  });
}

cudaError_t cudaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t count) {
  RUNTIME_CALL(cudaMemcpyPeer, v4000, dst, dstDevice, src, srcDevice, count);
  return call.on(nullptr, [&](CUstream stream) {
    return areDevices(dstDevice, srcDevice)
               ? submitAndWait(stream, peerCopy(dstDevice, srcDevice, count))
               : CUDA_ERROR_INVALID_DEVICE;
  });
}

cudaError_t cudaMemcpyPeerAsync(
    void* dst, int dstDevice, const void* src, int srcDevice, size_t count, cudaStream_t on) {
  RUNTIME_CALL(cudaMemcpyPeerAsync, v4000, dst, dstDevice, src, srcDevice, count, on);
  return call.on(on, [&](CUstream stream) {
    return areDevices(dstDevice, srcDevice) ? submit(stream, peerCopy(dstDevice, srcDevice, count))
                                            : CUDA_ERROR_INVALID_DEVICE;
  });
}

cudaError_t cudaMemset(void* devPtr, int value, size_t count) {
  RUNTIME_CALL(cudaMemset, v3020, devPtr, value, count);
  return call.on(nullptr, [&](CUstream stream) {
    return submit(stream, setWork(addressOf(devPtr), static_cast<uint32_t>(value), count));
  });
}

cudaError_t cudaMemsetAsync(void* devPtr, int value, size_t count, cudaStream_t on) {
  RUNTIME_CALL(cudaMemsetAsync, v3020, devPtr, value, count, on);
  return call.on(on, [&](CUstream stream) {
    return submit(stream, setWork(addressOf(devPtr), static_cast<uint32_t>(value), count));
  });
}

}  // extern "C"
