// CUPTI's activity records. Only the leading fields are declared; newer layouts of a kind add
// fields at the end. Fields that are newer than CUDA 12.0 are marked with the version that added
// them. The rules of cupti_abi.h apply.
#pragma once

#include "collector/preload/cuda/cupti/cupti_abi.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cupti {

// CUpti_ActivityKernel8 and later
struct KernelRecord {
  Kind kind;
  std::uint16_t caches;
  std::uint16_t registersPerThread;
  std::uint32_t unused[2];
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t deviceId;
  std::uint32_t contextId;
  std::uint32_t streamId;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t staticSharedMemory;
  std::uint32_t dynamicSharedMemory;
  std::uint32_t localMemoryPerThread;
  std::uint32_t localMemoryTotal;
  std::uint32_t correlationId;
  std::int64_t gridId;
  const char* name;
  void* reserved;
  std::uint64_t queued;
  std::uint64_t submitted;
  std::uint32_t launch[2];
  std::uint64_t graphNodeId;
  std::uint32_t shmemLimitConfig;
  std::uint32_t graphId;
};

// CUpti_ActivityMemcpy5 and later
struct MemcpyRecord {
  Kind kind;
  MemcpyKind copyKind;
  std::uint8_t srcKind;
  std::uint8_t dstKind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t deviceId;
  std::uint32_t contextId;
  std::uint32_t streamId;
  std::uint32_t correlationId;
  std::uint32_t unused[2];
  void* reserved;
  std::uint64_t graphNodeId;
  std::uint32_t graphId;
};

// CUpti_ActivityMemcpyPtoP4
struct MemcpyPeerRecord {
  Kind kind;
  MemcpyKind copyKind;
  std::uint8_t srcKind;
  std::uint8_t dstKind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t deviceId;
  std::uint32_t contextId;
  std::uint32_t streamId;
  std::uint32_t srcDeviceId;
  std::uint32_t srcContextId;
  std::uint32_t dstDeviceId;
  std::uint32_t dstContextId;
  std::uint32_t correlationId;
  void* reserved;
  std::uint64_t graphNodeId;
  std::uint32_t graphId;
};

// CUpti_ActivityMemset4
struct MemsetRecord {
  Kind kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t deviceId;
  std::uint32_t contextId;
  std::uint32_t streamId;
  std::uint32_t correlationId;
  std::uint16_t flags;
  std::uint16_t memoryKind;
  std::uint32_t unused;
  void* reserved;
  std::uint64_t graphNodeId;
  std::uint32_t graphId;
};

// CUpti_ActivityAPI
struct ApiRecord {
  Kind kind;
  std::uint32_t cbid;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t processId;
  std::uint32_t threadId;
  std::uint32_t correlationId;
  std::int32_t returnValue;
};

// CUpti_ActivitySynchronization and later
struct SynchronizationRecord {
  Kind kind;
  SyncType type;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlationId;
  std::uint32_t contextId;
  std::uint32_t streamId;
  std::uint32_t cudaEventId;
  std::uint64_t cudaEventSyncId;  // since 12.8
};

// CUpti_ActivityCudaEvent and later
struct CudaEventRecord {
  Kind kind;
  std::uint32_t correlationId;
  std::uint32_t contextId;
  std::uint32_t streamId;
  std::uint32_t eventId;
  std::uint32_t pad;
  std::uint32_t deviceId;  // this and all below since 12.8
  std::uint32_t pad2;
  void* reserved;
  std::uint64_t deviceTimestamp;
  std::uint64_t cudaEventSyncId;
};

// CUpti_ActivityOverhead and later
struct OverheadRecord {
  Kind kind;
  OverheadKind overheadKind;
  ObjectKind objectKind;
  std::uint32_t objectProcessId;
  std::uint32_t objectThreadId;
  std::uint32_t unused;
  std::uint64_t start;
  std::uint64_t end;
};

// CUpti_ActivityMemory3 and later
struct MemoryRecord {
  Kind kind;
  MemoryOperation operation;
  std::uint32_t memoryKind;
  std::uint32_t correlationId;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t timestamp;
  std::uint64_t programCounter;
  std::uint32_t processId;
  std::uint32_t deviceId;
  std::uint32_t contextId;
  std::uint32_t streamId;
  const char* name;
  std::uint32_t isAsync;
  std::uint32_t pad;
  MemoryPoolType poolType;  // 0: from no pool
  std::uint32_t pad2;
  std::uint64_t poolAddress;
  std::uint64_t poolReleaseThreshold;
  std::uint64_t poolSize;  // this and the next: of a local one
  std::uint64_t poolUtilizedSize;
};

// CUpti_ActivityMemoryPool2 and later
struct MemoryPoolRecord {
  Kind kind;
  MemoryPoolOperation operation;
  MemoryPoolType poolType;
  std::uint32_t correlationId;
  std::uint32_t processId;
  std::uint32_t deviceId;
  std::size_t minBytesToKeep;
  std::uint64_t address;
  std::uint64_t size;  // this and utilizedSize: of a local one
  std::uint64_t releaseThreshold;
  std::uint64_t timestamp;
  std::uint64_t utilizedSize;
};

// CUpti_ActivityDevice4 and later
struct DeviceRecord {
  Kind kind;
  std::uint32_t flags;
  std::uint64_t globalMemoryBandwidth;
  std::uint64_t globalMemorySize;
  std::uint32_t unused[22];
  std::uint32_t id;
  std::uint32_t eccEnabled;
  std::uint8_t uuid[16];
  const char* name;
};

// CUpti_ActivityContext2 and later
struct ContextRecord {
  Kind kind;
  std::uint32_t contextId;
  std::uint32_t deviceId;
  std::uint16_t computeApiKind;
  std::uint16_t nullStreamId;
};

// CUpti_ActivityStream
struct StreamRecord {
  Kind kind;
  std::uint32_t contextId;
  std::uint32_t streamId;
  std::int32_t priority;
  std::uint32_t flag;
  std::uint32_t correlationId;
};

// CUpti_ActivityGraphTrace and later
struct GraphTraceRecord {
  Kind kind;
  std::uint32_t correlationId;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t deviceId;
  std::uint32_t graphId;
  std::uint32_t contextId;
  std::uint32_t streamId;
};

// CUpti_ActivityUnifiedMemoryCounter2 and later
struct UnifiedMemoryRecord {
  Kind kind;
  UnifiedMemoryKind counterKind;
  std::uint64_t value;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t address;
  std::uint32_t srcId;
  std::uint32_t dstId;
  std::uint32_t streamId;
  std::uint32_t processId;
  std::uint32_t flags;  // a cause, by counterKind
};

// CUpti_ActivityJit and later
struct JitRecord {
  Kind kind;
  std::uint32_t entryType;
  std::uint32_t operationType;
  std::uint32_t deviceId;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlationId;
  std::uint32_t padding;
  std::uint64_t operationCorrelationId;
  std::uint64_t cacheSize;
  const char* cachePath;
  std::uint32_t processId;  // this and the next since 12.4
  std::uint32_t threadId;
};

// CUpti_ActivityExternalCorrelation
struct ExternalCorrelationRecord {
  Kind kind;
  std::uint32_t externalKind;
  std::uint64_t externalId;
  std::uint32_t correlationId;
};

}  // namespace sonde::preload::cupti
