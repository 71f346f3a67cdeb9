#include "tests/cudasim/cupti/records.h"

#include "tests/cudasim/core/attributes.h"

#include <unistd.h>

#include <map>

namespace cudasim {
namespace {

// For CUPTI 12.6, its own headers determine these.
#if CUDASIM_CUDA_MAJOR >= 13
using Kernel = CUpti_ActivityKernel10;
using Memcpy = CUpti_ActivityMemcpy6;
using Synchronization = CUpti_ActivitySynchronization2;
using CudaEvent = CUpti_ActivityCudaEvent2;
using MemoryPool = CUpti_ActivityMemoryPool3;
using UnifiedMemory = CUpti_ActivityUnifiedMemoryCounter3;
#else
using Kernel = CUpti_ActivityKernel9;
using Memcpy = CUpti_ActivityMemcpy5;
using Synchronization = CUpti_ActivitySynchronization;
using CudaEvent = CUpti_ActivityCudaEvent;
using MemoryPool = CUpti_ActivityMemoryPool2;
using UnifiedMemory = CUpti_ActivityUnifiedMemoryCounter2;
#endif

uint32_t processId() {
  return static_cast<uint32_t>(getpid());
}

// Fills in the common members of all records of work on a device.
template <class Record>
void fillWork(const Activity& a, Record* r) {
  r->start = a.start;
  r->end = a.end;
  r->deviceId = a.device;
  r->contextId = a.context;
  r->streamId = a.stream;
  r->correlationId = a.correlation;
}

template <class Record>
void fillNode(const Activity& a, Record* r, CUpti_ChannelType channel) {
  r->graphId = a.graph;
  r->graphNodeId = a.graphNode;
  r->channelID = a.stream;
  r->channelType = channel;
}

void fill(const Activity& a, Kernel* r) {
  fillWork(a, r);
  fillNode(a, r, CUPTI_CHANNEL_TYPE_COMPUTE);
  r->completed = a.end;
  r->name = a.name;
  r->gridX = static_cast<int32_t>(a.grid.x);
  r->gridY = static_cast<int32_t>(a.grid.y);
  r->gridZ = static_cast<int32_t>(a.grid.z);
  r->blockX = static_cast<int32_t>(a.block.x);
  r->blockY = static_cast<int32_t>(a.block.y);
  r->blockZ = static_cast<int32_t>(a.block.z);
  r->dynamicSharedMemory = static_cast<int32_t>(a.sharedMemory);
  r->registersPerThread = 32;
}

void fill(const Activity& a, Memcpy* r) {
  fillWork(a, r);
  fillNode(a, r, CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY);
  r->copyKind = a.type;
  r->srcKind = a.srcKind;
  r->dstKind = a.dstKind;
  r->flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  r->bytes = a.bytes;
  r->runtimeCorrelationId = a.correlation;
#if CUDASIM_CUDA_MAJOR >= 13
  r->copyCount = 1;
#endif
}

void fill(const Activity& a, CUpti_ActivityMemcpyPtoP4* r) {
  fillWork(a, r);
  fillNode(a, r, CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY);
  r->copyKind = a.type;
  r->srcKind = a.srcKind;
  r->dstKind = a.dstKind;
  r->flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  r->bytes = a.bytes;
  r->srcDeviceId = a.srcDevice;
  r->srcContextId = a.srcContext;
  r->dstDeviceId = a.dstDevice;
  r->dstContextId = a.dstContext;
}

void fill(const Activity& a, CUpti_ActivityMemset4* r) {
  fillWork(a, r);
  fillNode(a, r, CUPTI_CHANNEL_TYPE_COMPUTE);
  r->value = a.value;
  r->bytes = a.bytes;
  r->memoryKind = a.dstKind;
}

void fill(const Activity& a, CUpti_ActivityAPI* r) {
  r->cbid = a.cbid;
  r->start = a.start;
  r->end = a.end;
  r->processId = processId();
  r->threadId = a.thread;
  r->correlationId = a.correlation;
  r->returnValue = a.result;
}

void fill(const Activity& a, Synchronization* r) {
  r->type = static_cast<CUpti_ActivitySynchronizationType>(a.type);
  r->start = a.start;
  r->end = a.end;
  r->correlationId = a.correlation;
  r->contextId = a.context;
  r->streamId = a.stream;
  r->cudaEventId = a.event;
#if CUDASIM_CUDA_MAJOR >= 13
  r->cudaEventSyncId = a.eventSync;
  r->returnValue = a.result;
#endif
}

void fill(const Activity& a, CudaEvent* r) {
  r->correlationId = a.correlation;
  r->contextId = a.context;
  r->streamId = a.stream;
  r->eventId = a.event;
#if CUDASIM_CUDA_MAJOR >= 13
  r->deviceId = a.device;
  r->cudaEventSyncId = a.eventSync;
#endif
}

void fill(const Activity& a, CUpti_ActivityMemory4* r) {
  r->memoryOperationType = static_cast<CUpti_ActivityMemoryOperationType>(a.type);
  r->memoryKind = static_cast<CUpti_ActivityMemoryKind>(a.dstKind);
  r->correlationId = a.correlation;
  r->address = a.address;
  r->bytes = a.bytes;
  r->timestamp = a.start;
  r->processId = processId();
  r->deviceId = a.device;
  r->contextId = a.context;
  r->streamId = a.stream;
  r->isAsync = a.value;
  if (a.value) {
    r->memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
    r->memoryPoolConfig.address = a.pool;
    r->memoryPoolConfig.pool.size = a.poolBytes;
    r->memoryPoolConfig.utilizedSize = a.poolUsedBytes;
  }
}

void fill(const Activity& a, MemoryPool* r) {
  r->memoryPoolOperationType = static_cast<CUpti_ActivityMemoryPoolOperationType>(a.type);
  r->memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  r->correlationId = a.correlation;
  r->processId = processId();
  r->deviceId = a.device;
  r->minBytesToKeep = a.bytes;
  r->address = a.pool;
  r->size = a.poolBytes;
  r->utilizedSize = a.poolUsedBytes;
  r->timestamp = a.start;
}

void fill(const Activity& a, UnifiedMemory* r) {
  r->counterKind = static_cast<CUpti_ActivityUnifiedMemoryCounterKind>(a.type);
  r->value = a.bytes;
  r->start = a.start;
  r->end = a.end;
  r->address = a.address;
  r->srcId = r->dstId = a.device;
  r->flags = a.flags;
  r->processId = processId();
}

void fill(const Activity& a, CUpti_ActivityDevice5* r) {
  r->id = a.device;
  r->name = kDeviceName;
  r->uuid = deviceUuid(a.device);
  r->globalMemorySize = kDeviceBytes;
  r->globalMemoryBandwidth = 3'350'000'000;
  r->numMultiprocessors = static_cast<uint32_t>(kMultiprocessors);
  r->coreClockRate = static_cast<uint32_t>(kClockKHz);
  r->numThreadsPerWarp = 32;
  r->maxThreadsPerBlock = 1024;
  r->maxWarpsPerMultiprocessor = 64;
  r->computeCapabilityMajor = a.value / 10;
  r->computeCapabilityMinor = a.value % 10;
  r->isCudaVisible = 1;
}

void fill(const Activity& a, CUpti_ActivityContext3* r) {
  r->contextId = a.context;
  r->deviceId = a.device;
  r->computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
  r->nullStreamId = static_cast<uint16_t>(a.stream);
  r->numMultiprocessors = kMultiprocessors;
}

void fill(const Activity& a, CUpti_ActivityStream* r) {
  r->contextId = a.context;
  r->streamId = a.stream;
  r->priority = a.value;
  r->flag = static_cast<CUpti_ActivityStreamFlag>(a.type);
  r->correlationId = a.correlation;
}

void fill(const Activity& a, CUpti_ActivityGraphTrace2* r) {
  fillWork(a, r);
  r->graphId = a.graph;
  r->endDeviceId = a.device;
  r->endContextId = a.context;
}

void fill(const Activity& a, CUpti_ActivityOverhead3* r) {
  r->overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  r->objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  r->objectId.pt.processId = processId();
  r->objectId.pt.threadId = a.thread;
  r->start = a.start;
  r->end = a.end;
}

void fill(const Activity& a, CUpti_ActivityJit2* r) {
  r->jitEntryType = CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN;
  r->jitOperationType = static_cast<CUpti_ActivityJitOperationType>(a.type);
  r->deviceId = a.device;
  r->start = a.start;
  r->end = a.end;
  r->correlationId = a.correlation;
  r->processId = processId();
  r->threadId = a.thread;
}

void fill(const Activity& a, CUpti_ActivityExternalCorrelation* r) {
  r->externalKind = static_cast<CUpti_ExternalCorrelationKind>(a.externalKind);
  r->externalId = a.externalId;
  r->correlationId = a.correlation;
}

struct Layout {
  size_t size = 0;
  void (*write)(const Activity&, uint8_t*) = nullptr;
};

template <class Record>
Layout layout() {
  static_assert(sizeof(Record) <= kLargestRecord && sizeof(Record) % 8 == 0);
  return {sizeof(Record), [](const Activity& activity, uint8_t* to) {
            auto* record = reinterpret_cast<Record*>(to);
            record->kind = static_cast<CUpti_ActivityKind>(activity.kind);
            fill(activity, record);
          }};
}

Layout layoutOf(uint32_t kind) {
  static const auto* layouts = new std::map<uint32_t, Layout>{
      {CUPTI_ACTIVITY_KIND_MEMCPY, layout<Memcpy>()},
      {CUPTI_ACTIVITY_KIND_MEMSET, layout<CUpti_ActivityMemset4>()},
      {CUPTI_ACTIVITY_KIND_KERNEL, layout<Kernel>()},
      {CUPTI_ACTIVITY_KIND_DRIVER, layout<CUpti_ActivityAPI>()},
      {CUPTI_ACTIVITY_KIND_RUNTIME, layout<CUpti_ActivityAPI>()},
      {CUPTI_ACTIVITY_KIND_DEVICE, layout<CUpti_ActivityDevice5>()},
      {CUPTI_ACTIVITY_KIND_CONTEXT, layout<CUpti_ActivityContext3>()},
      {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, layout<Kernel>()},
      {CUPTI_ACTIVITY_KIND_OVERHEAD, layout<CUpti_ActivityOverhead3>()},
      {CUPTI_ACTIVITY_KIND_MEMCPY2, layout<CUpti_ActivityMemcpyPtoP4>()},
      {CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, layout<UnifiedMemory>()},
      {CUPTI_ACTIVITY_KIND_CUDA_EVENT, layout<CudaEvent>()},
      {CUPTI_ACTIVITY_KIND_STREAM, layout<CUpti_ActivityStream>()},
      {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, layout<Synchronization>()},
      {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, layout<CUpti_ActivityExternalCorrelation>()},
      {CUPTI_ACTIVITY_KIND_MEMORY2, layout<CUpti_ActivityMemory4>()},
      {CUPTI_ACTIVITY_KIND_MEMORY_POOL, layout<MemoryPool>()},
      {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, layout<CUpti_ActivityGraphTrace2>()},
      {CUPTI_ACTIVITY_KIND_JIT, layout<CUpti_ActivityJit2>()}};
  const auto found = layouts->find(kind);
  return found == layouts->end() ? Layout{} : found->second;
}

}  // namespace

size_t recordSize(uint32_t kind) {
  return layoutOf(kind).size;
}

size_t encode(const Activity& activity, uint8_t* to) {
  const Layout layout = layoutOf(activity.kind);
  if (layout.size) {
    layout.write(activity, to);
  }
  return layout.size;
}

}  // namespace cudasim
