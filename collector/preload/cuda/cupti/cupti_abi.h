// The part of CUPTI's binary interface that Sonde uses. With it Sonde builds without a CUDA toolkit
// and runs with any CUPTI of CUDA 12 and 13. tests/preload compares it with NVIDIA's headers where
// these are installed. The records are in cupti_records.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cupti {

// CUpti_ActivityKind
enum class Kind : std::uint32_t {
  Memcpy = 1,
  Memset = 2,
  Kernel = 3,
  Driver = 4,
  Runtime = 5,
  Device = 8,
  Context = 9,
  ConcurrentKernel = 10,
  Overhead = 17,
  MemcpyPeer = 22,
  UnifiedMemoryCounter = 25,
  CudaEvent = 36,
  Stream = 37,
  Synchronization = 38,
  ExternalCorrelation = 39,
  Memory = 49,
  MemoryPool = 50,
  GraphTrace = 51,
  Jit = 52,
};

// CUptiResult
enum class Status : int {
  Success = 0,
  OutOfMemory = 8,
  MaxLimitReached = 12,  // no more records in a buffer
  NotInitialized = 15,
  MultipleSubscribers = 39,
  Unknown = 999,  // for example, there is no driver
};

// CUpti_CallbackDomain and those of its callbacks that Sonde enables.
enum class Domain : std::uint32_t { Driver = 1, Runtime = 2, Resource = 3 };
inline constexpr std::uint32_t kContextCreated = 1;
inline constexpr std::uint32_t kContextDestroyStarting = 2;
inline constexpr std::uint32_t kStreamDestroyStarting = 4;
inline constexpr std::uint32_t kCudaDeviceReset = 164;
inline constexpr std::uint32_t kPrimaryContextReset = 389;
inline constexpr std::uint32_t kPrimaryContextReset2 = 545;
// Captures of streams into graphs; Ptsz: with a default stream per thread.
inline constexpr std::uint32_t kCudaBeginCapture = 315;
inline constexpr std::uint32_t kCudaBeginCapturePtsz = 316;
inline constexpr std::uint32_t kCudaBeginCaptureToGraph = 452;
inline constexpr std::uint32_t kCudaBeginCaptureToGraphPtsz = 453;
inline constexpr std::uint32_t kCudaEndCapture = 319;
inline constexpr std::uint32_t kCudaEndCapturePtsz = 320;
inline constexpr std::uint32_t kBeginCapture = 495;
inline constexpr std::uint32_t kBeginCapturePtsz = 496;
inline constexpr std::uint32_t kBeginCapture2 = 539;
inline constexpr std::uint32_t kBeginCapture2Ptsz = 540;
inline constexpr std::uint32_t kBeginCaptureToGraph = 720;
inline constexpr std::uint32_t kBeginCaptureToGraphPtsz = 721;
inline constexpr std::uint32_t kEndCapture = 497;
inline constexpr std::uint32_t kEndCapturePtsz = 498;

// Calls in which the host waits for a device.
inline constexpr std::uint32_t kCudaMemcpy = 31;
inline constexpr std::uint32_t kCudaMemcpyPtds = 215;
inline constexpr std::uint32_t kCudaStreamSynchronize = 131;
inline constexpr std::uint32_t kCudaStreamSynchronizePtsz = 239;
inline constexpr std::uint32_t kCudaEventSynchronize = 137;
inline constexpr std::uint32_t kCudaDeviceSynchronize = 165;
inline constexpr std::uint32_t kContextSynchronize = 17;
inline constexpr std::uint32_t kContextSynchronize2 = 800;
inline constexpr std::uint32_t kEventSynchronize = 121;
inline constexpr std::uint32_t kStreamSynchronize = 126;
inline constexpr std::uint32_t kStreamSynchronizePtsz = 440;
inline constexpr std::uint32_t kMemcpyToHost = 278;
inline constexpr std::uint32_t kMemcpyToHostPtds = 398;

// cuptiGetVersion's numbers
inline constexpr std::uint32_t kCuda120 = 19;
inline constexpr std::uint32_t kCuda124 = 22;
inline constexpr std::uint32_t kCuda128 = 26;
inline constexpr std::uint32_t kLastOfCuda12 = 99;  // 12.9 Update 1 is 28
inline constexpr std::uint32_t kCuda130 = 130000;   // xxyyzz from here on
inline constexpr std::uint32_t kCuda140 = 140000;

inline constexpr std::uint32_t kInvalid = 0xffff'ffff;
inline constexpr std::uint32_t kFlushForced = 1;
inline constexpr std::uint32_t kSystemThreadIds = 1;

enum class MemcpyKind : std::uint8_t {
  HostToDevice = 1,
  DeviceToHost = 2,
  HostToArray = 3,
  ArrayToHost = 4,
  ArrayToArray = 5,
  ArrayToDevice = 6,
  DeviceToArray = 7,
  DeviceToDevice = 8,
  HostToHost = 9,
  PeerToPeer = 10,
};

enum class SyncType : std::uint32_t { Event = 1, StreamWait = 2, Stream = 3, Context = 4 };
enum class MemoryOperation : std::uint32_t { Allocation = 1, Release = 2 };
enum class ObjectKind : std::uint32_t { Process = 1, Thread = 2 };

enum class OverheadKind : std::uint32_t {
  DriverCompiler = 1,
  BufferFlush = 1 << 16,
  Instrumentation = 2 << 16,
  Resource = 3 << 16,
  ModuleLoading = 4 << 16,
  FunctionLoading = 5 << 16,
  CommandBufferFull = 6 << 16,
  BufferRequest = 7 << 16,
  UnifiedMemoryInit = 8 << 16,
};

enum class UnifiedMemoryKind : std::uint32_t {
  BytesToDevice = 1,
  BytesToHost = 2,
  CpuPageFaults = 3,
  GpuPageFaults = 4,
  Thrashing = 5,
  Throttling = 6,
  RemoteMap = 7,
  BytesBetweenDevices = 8,
};

enum class MemoryPoolOperation : std::uint32_t { Creation = 1, Destruction = 2, Trim = 3 };
enum class MemoryPoolType : std::uint32_t { Local = 1, Imported = 2 };

// CUpti_ActivityUnifiedMemoryCounterConfig
struct UnifiedMemoryConfig {
  static constexpr std::uint32_t kAllDevices = 2;
  std::uint32_t scope;
  UnifiedMemoryKind kind;
  std::uint32_t deviceId;
  std::uint32_t enable;
};

struct Record {
  Kind kind;
};

// CUpti_CallbackData of a runtime or driver call, its first fields
struct CallbackData {
  std::uint32_t callbackSite;  // 0 on entry, 1 on exit
  const char* functionName;
  const void* functionParams;
  void* functionReturnValue;  // on exit: points to a cudaError_t or CUresult
  const char* symbolName;
  void* context;
  std::uint32_t contextUid;
  std::uint64_t* correlationData;
  std::uint32_t correlationId;  // the same as in the call's record
};
inline int resultOf(const CallbackData& call) noexcept {
  return call.functionReturnValue == nullptr ? 0
                                             : *static_cast<const int*>(call.functionReturnValue);
}

// The first parameter of a call that takes a stream.
inline void* streamOf(const CallbackData& call) noexcept {
  return call.functionParams == nullptr ? nullptr : *static_cast<void* const*>(call.functionParams);
}

// CUpti_ResourceData, its first fields
struct ResourceData {
  void* context;
  void* stream;  // for resources that are about a stream
};

using Subscriber = void*;
using Callback = void (*)(void* user, Domain domain, std::uint32_t cbid, const void* data);
using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords);
using BufferCompleted = void (*)(
    void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size, std::size_t valid);
using Timestamp = std::uint64_t (*)();

}  // namespace sonde::preload::cupti
