// Compares Sonde's declarations of CUPTI's binary interface with the headers of the installed
// toolkit. Most differences are compile errors.
#include "collector/preload/cuda/activity/cupti_records.h"
#include "tests/preload/same_field.h"

#include <cupti.h>
#include <gtest/gtest.h>

namespace sonde::preload::cupti {
namespace {

#define SAME_KERNEL(Theirs)                                                     \
  SAME_FIELD(KernelRecord, registersPerThread, Theirs, registersPerThread);     \
  SAME_FIELD(KernelRecord, start, Theirs, start);                               \
  SAME_FIELD(KernelRecord, end, Theirs, end);                                   \
  SAME_FIELD(KernelRecord, deviceId, Theirs, deviceId);                         \
  SAME_FIELD(KernelRecord, contextId, Theirs, contextId);                       \
  SAME_FIELD(KernelRecord, streamId, Theirs, streamId);                         \
  SAME_FIELD(KernelRecord, grid[0], Theirs, gridX);                             \
  SAME_FIELD(KernelRecord, grid[2], Theirs, gridZ);                             \
  SAME_FIELD(KernelRecord, block[0], Theirs, blockX);                           \
  SAME_FIELD(KernelRecord, block[2], Theirs, blockZ);                           \
  SAME_FIELD(KernelRecord, staticSharedMemory, Theirs, staticSharedMemory);     \
  SAME_FIELD(KernelRecord, dynamicSharedMemory, Theirs, dynamicSharedMemory);   \
  SAME_FIELD(KernelRecord, localMemoryPerThread, Theirs, localMemoryPerThread); \
  SAME_FIELD(KernelRecord, correlationId, Theirs, correlationId);               \
  SAME_FIELD(KernelRecord, name, Theirs, name);                                 \
  SAME_FIELD(KernelRecord, queued, Theirs, queued);                             \
  SAME_FIELD(KernelRecord, submitted, Theirs, submitted);                       \
  SAME_FIELD(KernelRecord, graphNodeId, Theirs, graphNodeId);                   \
  SAME_FIELD(KernelRecord, graphId, Theirs, graphId)

#define SAME_COPY(Ours, Theirs)                 \
  SAME_FIELD(Ours, copyKind, Theirs, copyKind); \
  SAME_FIELD(Ours, srcKind, Theirs, srcKind);   \
  SAME_FIELD(Ours, dstKind, Theirs, dstKind);   \
  SAME_WORK(Ours, Theirs)
#define SAME_WORK(Ours, Theirs)                           \
  SAME_FIELD(Ours, bytes, Theirs, bytes);                 \
  SAME_FIELD(Ours, start, Theirs, start);                 \
  SAME_FIELD(Ours, end, Theirs, end);                     \
  SAME_FIELD(Ours, deviceId, Theirs, deviceId);           \
  SAME_FIELD(Ours, contextId, Theirs, contextId);         \
  SAME_FIELD(Ours, streamId, Theirs, streamId);           \
  SAME_FIELD(Ours, correlationId, Theirs, correlationId); \
  SAME_FIELD(Ours, graphNodeId, Theirs, graphNodeId);     \
  SAME_FIELD(Ours, graphId, Theirs, graphId)

SAME_KERNEL(CUpti_ActivityKernel8);
SAME_KERNEL(CUpti_ActivityKernel9);
SAME_COPY(MemcpyRecord, CUpti_ActivityMemcpy5);
SAME_COPY(MemcpyPeerRecord, CUpti_ActivityMemcpyPtoP4);
SAME_FIELD(MemcpyPeerRecord, dstDeviceId, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME_WORK(MemsetRecord, CUpti_ActivityMemset4);
SAME_FIELD(MemsetRecord, memoryKind, CUpti_ActivityMemset4, memoryKind);

static_assert(sizeof(ApiRecord) == sizeof(CUpti_ActivityAPI));
SAME_FIELD(ApiRecord, cbid, CUpti_ActivityAPI, cbid);
SAME_FIELD(ApiRecord, start, CUpti_ActivityAPI, start);
SAME_FIELD(ApiRecord, end, CUpti_ActivityAPI, end);
SAME_FIELD(ApiRecord, threadId, CUpti_ActivityAPI, threadId);
SAME_FIELD(ApiRecord, correlationId, CUpti_ActivityAPI, correlationId);
SAME_FIELD(ApiRecord, returnValue, CUpti_ActivityAPI, returnValue);

#define SAME_SYNC(Theirs)                                                  \
  SAME_FIELD(SynchronizationRecord, type, Theirs, type);                   \
  SAME_FIELD(SynchronizationRecord, start, Theirs, start);                 \
  SAME_FIELD(SynchronizationRecord, end, Theirs, end);                     \
  SAME_FIELD(SynchronizationRecord, correlationId, Theirs, correlationId); \
  SAME_FIELD(SynchronizationRecord, contextId, Theirs, contextId);         \
  SAME_FIELD(SynchronizationRecord, streamId, Theirs, streamId);           \
  SAME_FIELD(SynchronizationRecord, cudaEventId, Theirs, cudaEventId)
#define SAME_EVENT(Theirs)                                           \
  SAME_FIELD(CudaEventRecord, correlationId, Theirs, correlationId); \
  SAME_FIELD(CudaEventRecord, contextId, Theirs, contextId);         \
  SAME_FIELD(CudaEventRecord, streamId, Theirs, streamId);           \
  SAME_FIELD(CudaEventRecord, eventId, Theirs, eventId)
SAME_SYNC(CUpti_ActivitySynchronization);
SAME_EVENT(CUpti_ActivityCudaEvent);
#if CUPTI_API_VERSION >= 26
SAME_SYNC(CUpti_ActivitySynchronization2);
SAME_FIELD(SynchronizationRecord, cudaEventSyncId, CUpti_ActivitySynchronization2, cudaEventSyncId);
SAME_EVENT(CUpti_ActivityCudaEvent2);
SAME_FIELD(CudaEventRecord, cudaEventSyncId, CUpti_ActivityCudaEvent2, cudaEventSyncId);
SAME_COPY(MemcpyRecord, CUpti_ActivityMemcpy6);
#endif
#if CUPTI_API_VERSION >= 130000
SAME_KERNEL(CUpti_ActivityKernel10);
#endif

#define SAME_OVERHEAD(Theirs)                                                 \
  SAME_FIELD(OverheadRecord, overheadKind, Theirs, overheadKind);             \
  SAME_FIELD(OverheadRecord, objectKind, Theirs, objectKind);                 \
  SAME_FIELD(OverheadRecord, objectProcessId, Theirs, objectId.pt.processId); \
  SAME_FIELD(OverheadRecord, objectThreadId, Theirs, objectId.pt.threadId);   \
  SAME_FIELD(OverheadRecord, start, Theirs, start);                           \
  SAME_FIELD(OverheadRecord, end, Theirs, end)
SAME_OVERHEAD(CUpti_ActivityOverhead);
SAME_OVERHEAD(CUpti_ActivityOverhead2);

#define SAME_MEMORY(Theirs)                                         \
  SAME_FIELD(MemoryRecord, operation, Theirs, memoryOperationType); \
  SAME_FIELD(MemoryRecord, memoryKind, Theirs, memoryKind);         \
  SAME_FIELD(MemoryRecord, correlationId, Theirs, correlationId);   \
  SAME_FIELD(MemoryRecord, address, Theirs, address);               \
  SAME_FIELD(MemoryRecord, bytes, Theirs, bytes);                   \
  SAME_FIELD(MemoryRecord, timestamp, Theirs, timestamp);           \
  SAME_FIELD(MemoryRecord, deviceId, Theirs, deviceId)
#define SAME_POOL_OF_MEMORY(Theirs)                                            \
  SAME_FIELD(MemoryRecord, poolType, Theirs, memoryPoolConfig.memoryPoolType); \
  SAME_FIELD(MemoryRecord, poolAddress, Theirs, memoryPoolConfig.address);     \
  SAME_FIELD(MemoryRecord, poolSize, Theirs, memoryPoolConfig.pool.size);      \
  SAME_FIELD(MemoryRecord, poolUtilizedSize, Theirs, memoryPoolConfig.utilizedSize)
SAME_POOL_OF_MEMORY(CUpti_ActivityMemory3);
SAME_POOL_OF_MEMORY(CUpti_ActivityMemory4);
#define SAME_POOL(Theirs)                                                   \
  SAME_FIELD(MemoryPoolRecord, operation, Theirs, memoryPoolOperationType); \
  SAME_FIELD(MemoryPoolRecord, poolType, Theirs, memoryPoolType);           \
  SAME_FIELD(MemoryPoolRecord, correlationId, Theirs, correlationId);       \
  SAME_FIELD(MemoryPoolRecord, deviceId, Theirs, deviceId);                 \
  SAME_FIELD(MemoryPoolRecord, address, Theirs, address);                   \
  SAME_FIELD(MemoryPoolRecord, size, Theirs, size);                         \
  SAME_FIELD(MemoryPoolRecord, timestamp, Theirs, timestamp);               \
  SAME_FIELD(MemoryPoolRecord, utilizedSize, Theirs, utilizedSize)
SAME_POOL(CUpti_ActivityMemoryPool2);
#if CUPTI_API_VERSION >= 130000
SAME_POOL(CUpti_ActivityMemoryPool3);
#endif
SAME_MEMORY(CUpti_ActivityMemory3);
SAME_MEMORY(CUpti_ActivityMemory4);

#define SAME_DEVICE(Theirs)                                             \
  SAME_FIELD(DeviceRecord, globalMemorySize, Theirs, globalMemorySize); \
  SAME_FIELD(DeviceRecord, id, Theirs, id);                             \
  SAME_FIELD(DeviceRecord, uuid, Theirs, uuid);                         \
  SAME_FIELD(DeviceRecord, name, Theirs, name)
SAME_DEVICE(CUpti_ActivityDevice4);
SAME_DEVICE(CUpti_ActivityDevice5);

SAME_FIELD(ContextRecord, contextId, CUpti_ActivityContext2, contextId);
SAME_FIELD(ContextRecord, deviceId, CUpti_ActivityContext2, deviceId);
SAME_FIELD(StreamRecord, contextId, CUpti_ActivityStream, contextId);
SAME_FIELD(StreamRecord, streamId, CUpti_ActivityStream, streamId);
SAME_FIELD(StreamRecord, priority, CUpti_ActivityStream, priority);
SAME_FIELD(GraphTraceRecord, correlationId, CUpti_ActivityGraphTrace, correlationId);
SAME_FIELD(GraphTraceRecord, start, CUpti_ActivityGraphTrace, start);
SAME_FIELD(GraphTraceRecord, deviceId, CUpti_ActivityGraphTrace, deviceId);
SAME_FIELD(GraphTraceRecord, graphId, CUpti_ActivityGraphTrace, graphId);
SAME_FIELD(GraphTraceRecord, streamId, CUpti_ActivityGraphTrace, streamId);
#define SAME_UNIFIED(Theirs)                                         \
  SAME_FIELD(UnifiedMemoryRecord, counterKind, Theirs, counterKind); \
  SAME_FIELD(UnifiedMemoryRecord, value, Theirs, value);             \
  SAME_FIELD(UnifiedMemoryRecord, start, Theirs, start);             \
  SAME_FIELD(UnifiedMemoryRecord, end, Theirs, end);                 \
  SAME_FIELD(UnifiedMemoryRecord, address, Theirs, address);         \
  SAME_FIELD(UnifiedMemoryRecord, srcId, Theirs, srcId);             \
  SAME_FIELD(UnifiedMemoryRecord, dstId, Theirs, dstId);             \
  SAME_FIELD(UnifiedMemoryRecord, flags, Theirs, flags)
SAME_UNIFIED(CUpti_ActivityUnifiedMemoryCounter2);
#if CUPTI_API_VERSION >= 130000
SAME_UNIFIED(CUpti_ActivityUnifiedMemoryCounter3);
#endif
static_assert(sizeof(UnifiedMemoryConfig) == sizeof(CUpti_ActivityUnifiedMemoryCounterConfig));
SAME_FIELD(UnifiedMemoryConfig, kind, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME_FIELD(UnifiedMemoryConfig, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
SAME_FIELD(ExternalCorrelationRecord,
           externalKind,
           CUpti_ActivityExternalCorrelation,
           externalKind);
SAME_FIELD(ExternalCorrelationRecord, externalId, CUpti_ActivityExternalCorrelation, externalId);
SAME_FIELD(ExternalCorrelationRecord,
           correlationId,
           CUpti_ActivityExternalCorrelation,
           correlationId);
SAME_FIELD(JitRecord, start, CUpti_ActivityJit2, start);
SAME_FIELD(JitRecord, end, CUpti_ActivityJit2, end);
SAME_FIELD(JitRecord, correlationId, CUpti_ActivityJit2, correlationId);
SAME_FIELD(JitRecord, threadId, CUpti_ActivityJit2, threadId);
SAME_FIELD(CallbackData, callbackSite, CUpti_CallbackData, callbackSite);
SAME_FIELD(CallbackData, functionReturnValue, CUpti_CallbackData, functionReturnValue);
SAME_FIELD(CallbackData, functionParams, CUpti_CallbackData, functionParams);
SAME_FIELD(CallbackData, context, CUpti_CallbackData, context);
SAME_FIELD(CallbackData, correlationId, CUpti_CallbackData, correlationId);
SAME_FIELD(ResourceData, context, CUpti_ResourceData, context);
SAME_FIELD(ResourceData, stream, CUpti_ResourceData, resourceHandle.stream);

SAME_NUMBER(Kind::Memcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME_NUMBER(Kind::Memset, CUPTI_ACTIVITY_KIND_MEMSET);
SAME_NUMBER(Kind::Kernel, CUPTI_ACTIVITY_KIND_KERNEL);
SAME_NUMBER(Kind::Driver, CUPTI_ACTIVITY_KIND_DRIVER);
SAME_NUMBER(Kind::Runtime, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME_NUMBER(Kind::Device, CUPTI_ACTIVITY_KIND_DEVICE);
SAME_NUMBER(Kind::Context, CUPTI_ACTIVITY_KIND_CONTEXT);
SAME_NUMBER(Kind::ConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME_NUMBER(Kind::Overhead, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME_NUMBER(Kind::MemcpyPeer, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME_NUMBER(Kind::UnifiedMemoryCounter, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
SAME_NUMBER(Kind::CudaEvent, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
SAME_NUMBER(Kind::Stream, CUPTI_ACTIVITY_KIND_STREAM);
SAME_NUMBER(Kind::Synchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME_NUMBER(Kind::Memory, CUPTI_ACTIVITY_KIND_MEMORY2);
SAME_NUMBER(Kind::MemoryPool, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
SAME_NUMBER(Kind::ExternalCorrelation, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
SAME_NUMBER(MemoryPoolOperation::Destruction, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED);
SAME_NUMBER(MemoryPoolOperation::Trim, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED);
SAME_NUMBER(MemoryPoolType::Imported, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED);
SAME_NUMBER(UnifiedMemoryConfig::kAllDevices,
            CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES);
SAME_NUMBER(kStreamDestroyStarting, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
SAME_NUMBER(UnifiedMemoryKind::RemoteMap, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP);
SAME_NUMBER(UnifiedMemoryKind::BytesBetweenDevices,
            CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD);
SAME_NUMBER(Kind::GraphTrace, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
SAME_NUMBER(Kind::Jit, CUPTI_ACTIVITY_KIND_JIT);
SAME_NUMBER(Status::OutOfMemory, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(Status::NotInitialized, CUPTI_ERROR_NOT_INITIALIZED);
SAME_NUMBER(Status::MultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_NUMBER(Status::Unknown, CUPTI_ERROR_UNKNOWN);
SAME_NUMBER(Domain::Driver, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_NUMBER(Domain::Runtime, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME_NUMBER(Domain::Resource, CUPTI_CB_DOMAIN_RESOURCE);
SAME_NUMBER(kContextCreated, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
SAME_NUMBER(kContextDestroyStarting, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME_NUMBER(kCudaDeviceReset, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020);
SAME_NUMBER(kPrimaryContextReset, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset);
SAME_NUMBER(kPrimaryContextReset2, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2);
SAME_NUMBER(kCudaBeginCapture, CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCapture_v10000);
SAME_NUMBER(kCudaBeginCapturePtsz, CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCapture_ptsz_v10000);
SAME_NUMBER(kCudaBeginCaptureToGraph,
            CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCaptureToGraph_v12030);
SAME_NUMBER(kCudaBeginCaptureToGraphPtsz,
            CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCaptureToGraph_ptsz_v12030);
SAME_NUMBER(kCudaEndCapture, CUPTI_RUNTIME_TRACE_CBID_cudaStreamEndCapture_v10000);
SAME_NUMBER(kCudaEndCapturePtsz, CUPTI_RUNTIME_TRACE_CBID_cudaStreamEndCapture_ptsz_v10000);
SAME_NUMBER(kBeginCapture, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture);
SAME_NUMBER(kBeginCapturePtsz, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz);
SAME_NUMBER(kBeginCapture2, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2);
SAME_NUMBER(kBeginCapture2Ptsz, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz);
SAME_NUMBER(kBeginCaptureToGraph, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph);
SAME_NUMBER(kBeginCaptureToGraphPtsz, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz);
SAME_NUMBER(kEndCapture, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture);
SAME_NUMBER(kEndCapturePtsz, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz);
SAME_NUMBER(kCudaMemcpy, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020);
SAME_NUMBER(kCudaMemcpyPtds, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000);
SAME_NUMBER(kCudaStreamSynchronize, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020);
SAME_NUMBER(kCudaStreamSynchronizePtsz, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000);
SAME_NUMBER(kCudaEventSynchronize, CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020);
SAME_NUMBER(kCudaDeviceSynchronize, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020);
SAME_NUMBER(kContextSynchronize, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize);
SAME_NUMBER(kEventSynchronize, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize);
SAME_NUMBER(kStreamSynchronize, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize);
SAME_NUMBER(kStreamSynchronizePtsz, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz);
SAME_NUMBER(kMemcpyToHost, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2);
SAME_NUMBER(kMemcpyToHostPtds, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds);
SAME_NUMBER(kInvalid, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
SAME_NUMBER(kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME_NUMBER(kSystemThreadIds, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
SAME_NUMBER(MemcpyKind::PeerToPeer, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
SAME_NUMBER(SyncType::StreamWait, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
SAME_NUMBER(MemoryOperation::Release, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
SAME_NUMBER(ObjectKind::Thread, CUPTI_ACTIVITY_OBJECT_THREAD);
SAME_NUMBER(OverheadKind::BufferFlush, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
SAME_NUMBER(OverheadKind::FunctionLoading, CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING);
SAME_NUMBER(UnifiedMemoryKind::BytesToHost,
            CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);

TEST(CuptiAbi, IsThatOfTheToolkit) {
  EXPECT_GE(CUPTI_API_VERSION, static_cast<int>(kCuda120)) << "Sonde knows CUDA 12 and 13";
  EXPECT_LT(CUPTI_API_VERSION, static_cast<int>(kCuda140)) << "Sonde knows CUDA 12 and 13";
}

}  // namespace
}  // namespace sonde::preload::cupti
