#include "tests/cudasim/core/memory.h"

#include "tests/cudasim/core/clock.h"
#include "tests/cudasim/core/world.h"
#include "tests/cudasim/cudasim.h"

#include <cupti.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace cudasim {
namespace {

constexpr uint64_t kAlignment = 512;
constexpr uint64_t kPoolBlock = 2 << 20;
constexpr uint64_t kFirstAddress = 0x7000'0000'0000;  // practically never returned by mmap

struct Allocation {
  size_t bytes = 0;
  uint8_t kind = 0;
  CUcontext context = nullptr;
  CUmemoryPool pool = nullptr;
};

struct Memory {
  std::mutex mutex;
  uint64_t next = kFirstAddress;
  std::map<uint64_t, Allocation> allocations;
  std::map<uint32_t, CUmemoryPool> pools;  // the default ones, by device
};

Memory& memory() {
  static auto* instance = new Memory;
  return *instance;
}

thread_local uint64_t gNextDuration = 0;

uint64_t durationOf(uint64_t otherwise) {
  const uint64_t given = std::exchange(gNextDuration, 0);
  return given ? given : otherwise;
}

// The allocation that contains the address; otherwise pageable host memory.
Allocation find(uint64_t address) {
  const std::lock_guard lock(memory().mutex);
  auto after = memory().allocations.upper_bound(address);
  if (after != memory().allocations.begin()) {
    --after;
    if (address < after->first + after->second.bytes) {
      return after->second;
    }
  }
  return {0, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE, nullptr, nullptr};
}

uint64_t wholeBlocks(uint64_t bytes) {
  return (bytes + kPoolBlock - 1) / kPoolBlock * kPoolBlock;
}

void describe(CUmemoryPool pool, Activity* activity) {
  const std::lock_guard lock(memory().mutex);
  activity->pool = pool->address;
  activity->poolBytes = pool->bytes;
  activity->poolUsedBytes = pool->used;
}

void emit(const Allocation& allocation, uint64_t address, uint8_t type, CUstream stream) {
  Activity activity;
  if (allocation.pool) {
    describe(allocation.pool, &activity);
  }
  activity.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  activity.type = type;
  activity.dstKind = allocation.kind;
  activity.address = address;
  activity.bytes = allocation.bytes;
  activity.stream = stream ? stream->id : CUPTI_INVALID_STREAM_ID;
  activity.value = stream ? 1 : 0;
  const uint64_t now = nowNs();
  happenedOnHost(allocation.context, activity, now, now);
}

void emitPool(CUmemoryPool pool, uint8_t type, uint64_t bytes) {
  Activity activity;
  activity.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  activity.type = type;
  activity.device = pool->device;
  describe(pool, &activity);
  activity.bytes = bytes;
  const uint64_t now = nowNs();
  happenedOnHost(nullptr, activity, now, now);
}

// Requires: the lock.
CUmemoryPool makePool(uint32_t device) {
  auto* pool = new CUmemPoolHandle_st;
  pool->device = device;
  pool->address = std::exchange(memory().next, memory().next + kAlignment);
  return pool;
}

bool onDevice(const Allocation& a) {
  return a.kind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

uint8_t copyKind(bool fromDevice, bool toDevice) {
  if (fromDevice) {
    return toDevice ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  }
  return toDevice ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD : CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
}

}  // namespace

CUresult allocate(
    CUcontext context, size_t bytes, uint8_t kind, CUstream stream, uint64_t* address) {
  if (!context || !context->alive || !bytes) {
    return context && context->alive ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT;
  }
  const CUmemoryPool pool = stream ? defaultPool(context->device) : nullptr;
  const Allocation allocation{bytes, kind, context, pool};
  {
    const std::lock_guard lock(memory().mutex);
    if (onDevice(allocation)) {
      *address = memory().next;
      memory().next += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    } else {
      void* at = mmap(nullptr,
                      bytes,
                      PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1,
                      0);
      if (at == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
      }
      *address = reinterpret_cast<uint64_t>(at);
    }
    memory().allocations[*address] = allocation;
    if (pool) {
      pool->used += bytes;
      pool->bytes = std::max(pool->bytes, wholeBlocks(pool->used));
    }
  }
  emit(allocation, *address, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, stream);
  return CUDA_SUCCESS;
}

CUresult release(uint64_t address, CUstream stream) {
  Allocation allocation;
  {
    const std::lock_guard lock(memory().mutex);
    auto node = memory().allocations.extract(address);
    if (node.empty()) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    allocation = node.mapped();
    if (allocation.pool) {
      allocation.pool->used -= allocation.bytes;
    }
    if (!onDevice(allocation)) {
      munmap(reinterpret_cast<void*>(address), allocation.bytes);
    }
  }
  emit(allocation, address, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, stream);
  return CUDA_SUCCESS;
}

CUmemoryPool createPool(uint32_t device) {
  CUmemoryPool pool = nullptr;
  {
    const std::lock_guard lock(memory().mutex);
    pool = makePool(device);
  }
  emitPool(pool, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED, 0);
  return pool;
}

CUmemoryPool defaultPool(uint32_t device) {
  const std::lock_guard lock(memory().mutex);
  CUmemoryPool& pool = memory().pools[device];
  if (!pool) {
    pool = makePool(device);
  }
  return pool;
}

CUresult destroyPool(CUmemoryPool pool) {
  emitPool(pool, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED, 0);
  delete pool;
  return CUDA_SUCCESS;
}

CUresult trimPool(CUmemoryPool pool, size_t keep) {
  {
    const std::lock_guard lock(memory().mutex);
    pool->bytes = std::min(pool->bytes, wholeBlocks(std::max<uint64_t>(pool->used, keep)));
  }
  emitPool(pool, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED, keep);
  return CUDA_SUCCESS;
}

Work copyWork(CUcontext context, uint64_t to, uint64_t from, size_t bytes) {
  const Allocation source = find(from);
  const Allocation target = find(to);
  if (onDevice(source) && onDevice(target) && source.context->device != target.context->device) {
    return peerCopyWork(target.context, source.context, bytes);
  }
  Work work;
  work.activity.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  work.activity.type = copyKind(onDevice(source), onDevice(target));
  work.activity.srcKind = source.kind;
  work.activity.dstKind = target.kind;
  work.activity.device = context->device;
  work.activity.bytes = bytes;
  work.durationNs = durationOf(kMemcpyLatencyNs + bytes / kBytesPerNs);
  return work;
}

Work peerCopyWork(CUcontext to, CUcontext from, size_t bytes) {
  Work work;
  work.activity.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  work.activity.type = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  work.activity.srcKind = work.activity.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  work.activity.bytes = bytes;
  work.activity.srcDevice = from->device;
  work.activity.srcContext = from->id;
  work.activity.dstDevice = to->device;
  work.activity.dstContext = to->id;
  work.durationNs = durationOf(kMemcpyLatencyNs + bytes / kBytesPerNs);
  return work;
}

Work setWork(uint64_t address, uint32_t value, size_t bytes) {
  Work work;
  work.activity.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  work.activity.dstKind = find(address).kind;
  work.activity.value = value;
  work.activity.bytes = bytes;
  work.durationNs = durationOf(kMemcpyLatencyNs + bytes / kBytesPerNs);
  return work;
}

Work kernelWork(CUfunction function, Extent grid, Extent block, uint32_t sharedMemory) {
  Work work;
  work.activity.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  work.activity.name = function->name.c_str();
  work.activity.grid = grid;
  work.activity.block = block;
  work.activity.sharedMemory = sharedMemory;
  work.durationNs = durationOf(function->durationNs);
  return work;
}

}  // namespace cudasim

using cudasim::Activity;

void cudasimNextDuration(uint64_t durationNs) {
  cudasim::gNextDuration = durationNs;
}

void cudasimTouchManaged(void* address, size_t bytes, int byDevice) {
  using cudasim::happenedOnHost;
  Activity moved;
  moved.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
  moved.type = byDevice ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD
                        : CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH;
  moved.address = reinterpret_cast<uint64_t>(address);
  moved.bytes = bytes;
  moved.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE;
  Activity fault = moved;
  fault.type = byDevice ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT
                        : CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT;
  fault.bytes = byDevice ? 3 : 0x401000;  // page faults; the instruction
  fault.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE;
  const CUcontext context = cudasim::runtimeContext();
  const uint64_t now = cudasim::nowNs();
  const uint64_t end = now + cudasim::kMemcpyLatencyNs + bytes / cudasim::kBytesPerNs;
  happenedOnHost(context, fault, now, byDevice ? end : now);
  happenedOnHost(context, moved, now, end);
}
