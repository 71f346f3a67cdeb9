// The driver's functions for memory: allocation, pools, copies and sets.
#include "tests/cudasim/core/memory.h"

#include "tests/cudasim/driver/driver_call.h"

using namespace cudasim;

namespace {

uint64_t addressOf(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

// A copy in the current context; without a stream a synchronous one on the default stream.
CUresult copy(const DriverCall& call, uint64_t to, uint64_t from, size_t bytes) {
  return call.on(nullptr, [&](CUstream stream) {
    return submitAndWait(stream, copyWork(currentContext(), to, from, bytes));
  });
}

CUresult copy(const DriverCall& call, uint64_t to, uint64_t from, size_t bytes, CUstream handle) {
  return call.on(handle, [&](CUstream stream) {
    return submit(stream, copyWork(currentContext(), to, from, bytes));
  });
}

CUresult set(
    const DriverCall& call, CUdeviceptr to, uint32_t value, size_t bytes, CUstream handle) {
  return call.on(handle,
                 [&](CUstream stream) { return submit(stream, setWork(to, value, bytes)); });
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* dptr, size_t bytesize) {
  DRIVER_CALL(cuMemAlloc_v2, dptr, bytesize);
  return call([&] {
    uint64_t address = 0;
    const CUresult result =
        allocate(currentContext(), bytesize, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, nullptr, &address);
    *dptr = address;
    return result;
  });
}

CUresult cuMemFree_v2(CUdeviceptr dptr) {
  DRIVER_CALL(cuMemFree_v2, dptr);
  return call([&] { return dptr ? release(dptr, nullptr) : CUDA_SUCCESS; });
}

CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) {
  DRIVER_CALL(cuMemAllocAsync, dptr, bytesize, hStream);
  return call.on(hStream, [&](CUstream stream) {
    uint64_t address = 0;
    const CUresult result =
        allocate(stream->context, bytesize, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, stream, &address);
    *dptr = address;
    return result;
  });
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
  DRIVER_CALL(cuMemFreeAsync, dptr, hStream);
  return call.on(hStream, [&](CUstream stream) { return release(dptr, stream); });
}

CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytesize, unsigned int flags) {
  DRIVER_CALL(cuMemAllocManaged, dptr, bytesize, flags);
  return call([&] {
    uint64_t address = 0;
    const CUresult result =
        allocate(currentContext(), bytesize, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, nullptr, &address);
    *dptr = address;
    return result;
  });
}

CUresult cuMemAllocHost_v2(void** pp, size_t bytesize) {
  DRIVER_CALL(cuMemAllocHost_v2, pp, bytesize);
  return call([&] {
    uint64_t address = 0;
    const CUresult result =
        allocate(currentContext(), bytesize, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, nullptr, &address);
    *pp = reinterpret_cast<void*>(address);
    return result;
  });
}

CUresult cuMemFreeHost(void* p) {
  DRIVER_CALL(cuMemFreeHost, p);
  return call([&] { return release(addressOf(p), nullptr); });
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps) {
  DRIVER_CALL(cuMemPoolCreate, pool, poolProps);
  return call([&] {
    *pool = createPool(static_cast<uint32_t>(poolProps->location.id));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  DRIVER_CALL(cuMemPoolDestroy, pool);
  return call([&] { return destroyPool(pool); });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
  DRIVER_CALL(cuMemPoolTrimTo, pool, minBytesToKeep);
  return call([&] { return trimPool(pool, minBytesToKeep); });
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void* src, size_t bytes) {
  DRIVER_CALL(cuMemcpyHtoD_v2, dst, src, bytes);
  return copy(call, dst, addressOf(src), bytes);
}

CUresult cuMemcpyDtoH_v2(void* dst, CUdeviceptr src, size_t bytes) {
  DRIVER_CALL(cuMemcpyDtoH_v2, dst, src, bytes);
  return copy(call, addressOf(dst), src, bytes);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  DRIVER_CALL(cuMemcpyDtoD_v2, dst, src, bytes);
  return copy(call, dst, src, bytes);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void* src, size_t bytes, CUstream hStream) {
  DRIVER_CALL(cuMemcpyHtoDAsync_v2, dst, src, bytes, hStream);
  return copy(call, dst, addressOf(src), bytes, hStream);
}

CUresult cuMemcpyDtoHAsync_v2(void* dst, CUdeviceptr src, size_t bytes, CUstream hStream) {
  DRIVER_CALL(cuMemcpyDtoHAsync_v2, dst, src, bytes, hStream);
  return copy(call, addressOf(dst), src, bytes, hStream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream hStream) {
  DRIVER_CALL(cuMemcpyDtoDAsync_v2, dst, src, bytes, hStream);
  return copy(call, dst, src, bytes, hStream);
}

CUresult cuMemcpyPeer(
    CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src, CUcontext srcContext, size_t bytes) {
  DRIVER_CALL(cuMemcpyPeer, dst, dstContext, src, srcContext, bytes);
  return call.on(nullptr, [&](CUstream stream) {
    return submitAndWait(stream, peerCopyWork(dstContext, srcContext, bytes));
  });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst,
                           CUcontext dstContext,
                           CUdeviceptr src,
                           CUcontext srcContext,
                           size_t bytes,
                           CUstream hStream) {
  DRIVER_CALL(cuMemcpyPeerAsync, dst, dstContext, src, srcContext, bytes, hStream);
  return call.on(hStream, [&](CUstream stream) {
    return submit(stream, peerCopyWork(dstContext, srcContext, bytes));
  });
}

CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char uc, size_t n) {
  DRIVER_CALL(cuMemsetD8_v2, dst, uc, n);
  return set(call, dst, uc, n, nullptr);
}

CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned int ui, size_t n) {
  DRIVER_CALL(cuMemsetD32_v2, dst, ui, n);
  return set(call, dst, ui, n * 4, nullptr);
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char uc, size_t n, CUstream hStream) {
  DRIVER_CALL(cuMemsetD8Async, dst, uc, n, hStream);
  return set(call, dst, uc, n, hStream);
}

CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int ui, size_t n, CUstream hStream) {
  DRIVER_CALL(cuMemsetD32Async, dst, ui, n, hStream);
  return set(call, dst, ui, n * 4, hStream);
}

}  // extern "C"
