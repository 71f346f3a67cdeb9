#include "collector/preload/cuda/activity/cuda_decode.h"

#include "collector/core/device_work.h"
#include "collector/core/emit.h"
#include "collector/preload/cuda/activity/cuda_words.h"

#include <cstring>

namespace sonde::preload::cuda {
namespace {

using Fate = Launches::Fate;
using wire::DeviceCallKind;
using wire::DeviceCopyKind;
using wire::DeviceSyncKind;

template <typename Target>
const Target& as(const cupti::Record* record) noexcept {
  return *reinterpret_cast<const Target*>(record);
}

std::uint32_t known(std::uint32_t value) noexcept {
  return value == cupti::kInvalid ? 0 : value;
}

}  // namespace

bool Decoder::begin(std::uint32_t version, CallbackName callbackName) noexcept {
  const bool is12 = version >= cupti::kCuda120 && version <= cupti::kLastOfCuda12;
  const bool is13 = version >= cupti::kCuda130 && version < cupti::kCuda140;
  version_ = version;
  names_.begin(callbackName);
  return is12 || is13;
}

void Decoder::decode(const cupti::Record* record) noexcept {
  using cupti::Kind;
  switch (record->kind) {
    case Kind::Kernel:
    case Kind::ConcurrentKernel:
      return kernel(as<cupti::KernelRecord>(record));
    case Kind::Memcpy:
      return memcpy(as<cupti::MemcpyRecord>(record));
    case Kind::MemcpyPeer:
      return memcpyPeer(as<cupti::MemcpyPeerRecord>(record));
    case Kind::Memset:
      return memset(as<cupti::MemsetRecord>(record));
    case Kind::Runtime:
      return api(as<cupti::ApiRecord>(record), cupti::Domain::Runtime);
    case Kind::Driver:
      return api(as<cupti::ApiRecord>(record), cupti::Domain::Driver);
    case Kind::Synchronization:
      return synchronization(as<cupti::SynchronizationRecord>(record));
    case Kind::CudaEvent:
      return cudaEvent(as<cupti::CudaEventRecord>(record));
    case Kind::Overhead:
      return overhead(as<cupti::OverheadRecord>(record));
    case Kind::Memory:
      return memory(as<cupti::MemoryRecord>(record));
    case Kind::MemoryPool:
      return memoryPool(as<cupti::MemoryPoolRecord>(record));
    case Kind::ExternalCorrelation:
      return externalCorrelation(as<cupti::ExternalCorrelationRecord>(record));
    case Kind::Device:
      return device(as<cupti::DeviceRecord>(record));
    case Kind::Context:
      return context(as<cupti::ContextRecord>(record));
    case Kind::Stream:
      return stream(as<cupti::StreamRecord>(record));
    case Kind::GraphTrace:
      return graphTrace(as<cupti::GraphTraceRecord>(record));
    case Kind::UnifiedMemoryCounter:
      return unifiedMemory(as<cupti::UnifiedMemoryRecord>(record));
    case Kind::Jit:
      return jit(as<cupti::JitRecord>(record));
  }
}

void Decoder::kernel(const cupti::KernelRecord& from) noexcept {
  const Fate fate = launches_.fateOf(from.correlationId, from.start);
  if (fate == Fate::LeftOut)
    return;
  wire::Kernel to{};
  to.header = header(names_.idOf(from.name), 0);
  to.beginTicks = from.start;
  to.endTicks = from.end;
  to.queuedTicks = from.queued;
  to.submittedTicks = from.submitted;
  to.graphNode = from.graphNodeId;
  to.stream = streams_.idOf(from.contextId, from.streamId, from.deviceId);
  to.correlation = from.correlationId;
  to.graph = from.graphId;
  for (int axis = 0; axis < 3; ++axis) {
    to.grid[axis] = from.grid[axis];
    to.block[axis] = from.block[axis];
  }
  to.registers = from.registersPerThread;
  to.staticSharedBytes = from.staticSharedMemory;
  to.dynamicSharedBytes = from.dynamicSharedMemory;
  to.localBytes = from.localMemoryPerThread;
  launches_.write(to, fate);
}

// The common fields of copies, peer copies and memsets.
template <typename Record>
wire::DeviceCopy Decoder::copyOf(const Record& from) noexcept {
  wire::DeviceCopy to{};
  to.beginTicks = from.start;
  to.endTicks = from.end;
  to.bytes = from.bytes;
  to.graphNode = from.graphNodeId;
  to.stream = streams_.idOf(from.contextId, from.streamId, from.deviceId);
  to.correlation = from.correlationId;
  to.graph = from.graphId;
  return to;
}

void Decoder::memcpy(const cupti::MemcpyRecord& from) noexcept {
  const Fate fate = launches_.fateOf(from.correlationId, from.start);
  if (fate == Fate::LeftOut)
    return;
  wire::DeviceCopy to = copyOf(from);
  to.header = header(0, copyKind(from.copyKind));
  to.from = memoryKind(from.srcKind);
  to.to = memoryKind(from.dstKind);
  launches_.write(to, fate);
}

void Decoder::memcpyPeer(const cupti::MemcpyPeerRecord& from) noexcept {
  const Fate fate = launches_.fateOf(from.correlationId, from.start);
  if (fate == Fate::LeftOut)
    return;
  wire::DeviceCopy to = copyOf(from);
  to.header = header(from.dstDeviceId + 1, DeviceCopyKind::PeerToPeer);
  to.from = memoryKind(from.srcKind);
  to.to = memoryKind(from.dstKind);
  launches_.write(to, fate);
}

void Decoder::memset(const cupti::MemsetRecord& from) noexcept {
  const Fate fate = launches_.fateOf(from.correlationId, from.start);
  if (fate == Fate::LeftOut)
    return;
  wire::DeviceCopy to = copyOf(from);
  to.header = header(0, DeviceCopyKind::Set);
  to.to = memoryKind(from.memoryKind);
  launches_.write(to, fate);
}

bool Decoder::isOwnCall(const cupti::ApiRecord& from) const noexcept {
  return static_cast<std::int32_t>(from.threadId) == leftOut_.load(std::memory_order_acquire) &&
         from.start < leftOutUntil_.load(std::memory_order_relaxed);
}

void Decoder::api(const cupti::ApiRecord& from, cupti::Domain domain) noexcept {
  if (!launches_.isCallKept(from.correlationId, from.start) || isOwnCall(from))
    return;
  const bool isRuntime = domain == cupti::Domain::Runtime;
  wire::DeviceCall to{};
  to.header = header(names_.idOf(domain, from.cbid),
                     isRuntime ? DeviceCallKind::Runtime : DeviceCallKind::Driver);
  to.beginTicks = from.start;
  to.endTicks = from.end;
  to.tid = static_cast<std::int32_t>(from.threadId);
  to.correlation = from.correlationId;
  to.result = from.returnValue;
  core::emitDeviceCall(to);
}

void Decoder::synchronization(const cupti::SynchronizationRecord& from) noexcept {
  using cupti::SyncType;
  if (!launches_.isKept(from.start))
    return;
  const DeviceSyncKind kind = from.type == SyncType::Event        ? DeviceSyncKind::Event
                              : from.type == SyncType::StreamWait ? DeviceSyncKind::Wait
                              : from.type == SyncType::Stream     ? DeviceSyncKind::Stream
                                                                  : DeviceSyncKind::Context;
  wire::DeviceSync to{};
  to.header = header(known(from.cudaEventId), kind);
  to.beginTicks = from.start;
  to.endTicks = from.end;
  if (version_ >= cupti::kCuda128 && from.cudaEventSyncId != cupti::kInvalid)
    to.recordId = from.cudaEventSyncId;
  if (from.streamId != cupti::kInvalid)
    to.stream = streams_.idOf(from.contextId, from.streamId);
  to.correlation = from.correlationId;
  core::emitDeviceSync(to);
}

void Decoder::cudaEvent(const cupti::CudaEventRecord& from) noexcept {
  const Fate fate = launches_.fateOf(from.correlationId, 0);
  if (fate == Fate::LeftOut)
    return;
  wire::DeviceSync to{};
  to.header = header(known(from.eventId), DeviceSyncKind::Record);
  if (version_ >= cupti::kCuda128)
    to.recordId = from.cudaEventSyncId;
  to.stream = streams_.idOf(from.contextId, from.streamId);
  to.correlation = from.correlationId;
  launches_.write(to, fate);
}

void Decoder::overhead(const cupti::OverheadRecord& from) noexcept {
  if (!launches_.isKept(from.start))
    return;
  wire::DeviceCall to{};
  to.header = header(core::intern(overheadName(from.overheadKind)), DeviceCallKind::Overhead);
  to.beginTicks = from.start;
  to.endTicks = from.end;
  if (from.objectKind == cupti::ObjectKind::Thread)  // else the main thread
    to.tid = static_cast<std::int32_t>(from.objectThreadId);
  core::emitDeviceCall(to);
}

void Decoder::device(const cupti::DeviceRecord& from) noexcept {
  wire::DeviceDefinition to{};
  to.ordinal = from.id;
  to.name = from.name == nullptr ? 0 : core::intern(from.name);
  to.memoryBytes = from.globalMemorySize;
  std::memcpy(to.uuid, from.uuid, sizeof to.uuid);
  core::defineDevice(to);
}

void Decoder::context(const cupti::ContextRecord& from) noexcept {
  streams_.setDevice(from.contextId, from.deviceId);
}

void Decoder::stream(const cupti::StreamRecord& from) noexcept {
  const std::uint32_t device = streams_.deviceOf(from.contextId);
  wire::StreamDefinition to{};
  to.id = streams_.idOf(from.contextId, from.streamId, device);
  to.device = device;
  to.context = from.contextId;
  to.number = from.streamId;
  to.priority = from.priority;
  to.flags = wire::StreamDefinition::kHasPriority;
  if (to.id != 0)
    core::defineStream(to);
}

void Decoder::graphTrace(const cupti::GraphTraceRecord& from) noexcept {
  const Fate fate = launches_.fateOf(from.correlationId, from.start);
  if (fate == Fate::LeftOut)
    return;
  wire::Kernel to{};
  to.header = header(core::intern("CUDA graph"), wire::Kernel::kWholeGraph);
  to.beginTicks = from.start;
  to.endTicks = from.end;
  to.stream = streams_.idOf(from.contextId, from.streamId, from.deviceId);
  to.correlation = from.correlationId;
  to.graph = from.graphId;
  launches_.write(to, fate);
}

void Decoder::externalCorrelation(const cupti::ExternalCorrelationRecord& from) noexcept {
  wire::DeviceCall to{};
  to.header = header(core::intern(externalIdName(from.externalKind)), DeviceCallKind::ExternalId);
  to.beginTicks = from.externalId;
  to.correlation = from.correlationId;
  core::emitDeviceCall(to);
}

void Decoder::jit(const cupti::JitRecord& from) noexcept {
  if (!launches_.isKept(from.start))
    return;
  wire::DeviceCall to{};
  to.header = header(core::intern("Just-in-time compilation"), DeviceCallKind::Compile);
  to.beginTicks = from.start;
  to.endTicks = from.end;
  to.correlation = from.correlationId;
  if (version_ >= cupti::kCuda124)  // else the main thread
    to.tid = static_cast<std::int32_t>(from.threadId);
  core::emitDeviceCall(to);
}

}  // namespace sonde::preload::cuda
