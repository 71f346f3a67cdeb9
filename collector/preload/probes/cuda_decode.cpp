#include "collector/preload/probes/cuda_decode.h"

#include "collector/core/device_work.h"
#include "collector/core/emit.h"
#include "collector/preload/probes/cuda_words.h"

#include <cstring>

namespace sonde::preload::cuda {
namespace {

using wire::DeviceCallKind;
using wire::DeviceCopyKind;
using wire::DeviceSyncKind;
using wire::MemoryKind;

// What unified memory moves is on no stream of the program's.
constexpr std::uint32_t kUnifiedMemoryStream = 0xffff'fffe;

template <typename Target>
const Target& as(const cupti::Record* record) noexcept {
  return *reinterpret_cast<const Target*>(record);
}

template <typename Detail>
wire::RecordHeader header(std::uint32_t subject, Detail detail) noexcept {
  return {0, wire::RecordKind::Count, static_cast<std::uint8_t>(detail), subject};
}

std::uint32_t known(std::uint32_t value) noexcept {
  return value == cupti::kInvalid ? 0 : value;
}

}  // namespace

bool Decoder::begin(std::uint32_t version, CallbackName callbackName) noexcept {
  const bool is12 = version >= cupti::kCuda120 && version <= cupti::kLastOfCuda12;
  const bool is13 = version >= cupti::kCuda130 && version < cupti::kCuda140;
  version_ = version;
  callbackName_ = callbackName;
  return is12 || is13;
}

void Decoder::forgetNames() noexcept {
  std::memset(names_, 0, sizeof names_);
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
  wire::Kernel to{};
  to.header = header(nameOf(from.name), 0);
  to.beginTicks = from.start;
  to.endTicks = from.end;
  to.queuedTicks = from.queued;
  to.submittedTicks = from.submitted;
  to.graphNode = from.graphNodeId;
  to.stream = streamOf(from.contextId, from.streamId, from.deviceId);
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
  core::emitKernel(to);
}

// What copies, peer copies and sets have in common.
template <typename Record>
wire::DeviceCopy Decoder::copyOf(const Record& from) noexcept {
  wire::DeviceCopy to{};
  to.beginTicks = from.start;
  to.endTicks = from.end;
  to.bytes = from.bytes;
  to.graphNode = from.graphNodeId;
  to.stream = streamOf(from.contextId, from.streamId, from.deviceId);
  to.correlation = from.correlationId;
  to.graph = from.graphId;
  return to;
}

void Decoder::memcpy(const cupti::MemcpyRecord& from) noexcept {
  wire::DeviceCopy to = copyOf(from);
  to.header = header(0, copyKind(from.copyKind));
  to.from = memoryKind(from.srcKind);
  to.to = memoryKind(from.dstKind);
  core::emitDeviceCopy(to);
}

void Decoder::memcpyPeer(const cupti::MemcpyPeerRecord& from) noexcept {
  wire::DeviceCopy to = copyOf(from);
  to.header = header(from.dstDeviceId + 1, DeviceCopyKind::PeerToPeer);
  to.from = memoryKind(from.srcKind);
  to.to = memoryKind(from.dstKind);
  core::emitDeviceCopy(to);
}

void Decoder::memset(const cupti::MemsetRecord& from) noexcept {
  wire::DeviceCopy to = copyOf(from);
  to.header = header(0, DeviceCopyKind::Set);
  to.to = memoryKind(from.memoryKind);
  core::emitDeviceCopy(to);
}

void Decoder::api(const cupti::ApiRecord& from, cupti::Domain domain) noexcept {
  const bool isRuntime = domain == cupti::Domain::Runtime;
  wire::DeviceCall to{};
  to.header = header(callbackOf(domain, from.cbid),
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
    to.stream = streamOf(from.contextId, from.streamId, deviceOf(from.contextId));
  to.correlation = from.correlationId;
  core::emitDeviceSync(to);
}

void Decoder::cudaEvent(const cupti::CudaEventRecord& from) noexcept {
  wire::DeviceSync to{};
  to.header = header(known(from.eventId), DeviceSyncKind::Record);
  if (version_ >= cupti::kCuda128)
    to.recordId = from.cudaEventSyncId;
  to.stream = streamOf(from.contextId, from.streamId, deviceOf(from.contextId));
  to.correlation = from.correlationId;
  core::emitDeviceSync(to);
}

void Decoder::overhead(const cupti::OverheadRecord& from) noexcept {
  wire::DeviceCall to{};
  to.header = header(core::intern(overheadName(from.overheadKind)), DeviceCallKind::Overhead);
  to.beginTicks = from.start;
  to.endTicks = from.end;
  if (from.objectKind == cupti::ObjectKind::Thread)  // else the main thread
    to.tid = static_cast<std::int32_t>(from.objectThreadId);
  core::emitDeviceCall(to);
}

void Decoder::memory(const cupti::MemoryRecord& from) noexcept {
  const bool isHost = memoryKind(from.memoryKind) == MemoryKind::Pinned;
  const bool isFree = from.operation == cupti::MemoryOperation::Release;
  wire::DeviceMemory to{};
  to.header =
      header(isHost ? 0 : from.deviceId + 1,
             (isFree ? wire::DeviceMemory::kFree : 0) | (isHost ? wire::DeviceMemory::kHost : 0));
  to.ticks = from.timestamp;
  to.address = from.address;
  to.bytes = from.bytes;
  to.correlation = from.correlationId;
  core::emitDeviceMemory(to);
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
  contexts_[from.contextId % kContexts] = {from.contextId, from.deviceId + 1};
}

void Decoder::stream(const cupti::StreamRecord& from) noexcept {
  const std::uint32_t device = deviceOf(from.contextId);
  wire::StreamDefinition to{};
  to.id = streamOf(from.contextId, from.streamId, device);
  to.device = device;
  to.context = from.contextId;
  to.number = from.streamId;
  to.priority = from.priority;
  to.flags = wire::StreamDefinition::kHasPriority;
  if (to.id != 0)
    core::defineStream(to);
}

void Decoder::graphTrace(const cupti::GraphTraceRecord& from) noexcept {
  wire::Kernel to{};
  to.header = header(core::intern("CUDA graph"), wire::Kernel::kWholeGraph);
  to.beginTicks = from.start;
  to.endTicks = from.end;
  to.stream = streamOf(from.contextId, from.streamId, from.deviceId);
  to.correlation = from.correlationId;
  to.graph = from.graphId;
  core::emitKernel(to);
}

void Decoder::unifiedMemory(const cupti::UnifiedMemoryRecord& from) noexcept {
  using cupti::UnifiedMemoryKind;
  const bool toDevice = from.counterKind == UnifiedMemoryKind::BytesToDevice;
  const bool toHost = from.counterKind == UnifiedMemoryKind::BytesToHost;
  if (!toDevice && !toHost && from.counterKind != UnifiedMemoryKind::BytesBetweenDevices)
    return;
  const std::uint32_t device = toDevice ? from.dstId : from.srcId;
  wire::DeviceCopy to{};
  to.header = header(toDevice || toHost ? 0 : from.dstId + 1,
                     toDevice ? DeviceCopyKind::HostToDevice
                     : toHost ? DeviceCopyKind::DeviceToHost
                              : DeviceCopyKind::PeerToPeer);
  to.beginTicks = from.start;
  to.endTicks = from.end;
  to.bytes = from.value;
  to.stream = streamOf(device, kUnifiedMemoryStream, device);
  to.from = MemoryKind::Managed;
  to.to = MemoryKind::Managed;
  core::emitDeviceCopy(to);
}

void Decoder::jit(const cupti::JitRecord& from) noexcept {
  wire::DeviceCall to{};
  to.header = header(core::intern("Just-in-time compilation"), DeviceCallKind::Compile);
  to.beginTicks = from.start;
  to.endTicks = from.end;
  to.correlation = from.correlationId;
  core::emitDeviceCall(to);
}

// Kernels of one name share its text while their module is there, so a pointer stands for it within
// a buffer.
std::uint32_t Decoder::nameOf(const char* text) noexcept {
  if (text == nullptr)
    return 0;
  const auto address = reinterpret_cast<std::uintptr_t>(text);
  NameEntry& entry = names_[(address >> 4 ^ address >> 15) % kNames];
  if (entry.text != text)
    entry = {text, core::intern(text)};
  return entry.id;
}

std::uint32_t Decoder::callbackOf(cupti::Domain domain, std::uint32_t cbid) noexcept {
  std::uint32_t spare = 0;
  std::uint32_t& id =
      cbid < kCallbacks ? callbacks_[domain == cupti::Domain::Runtime ? 1 : 0][cbid] : spare;
  if (id == 0) {
    const char* const name = callbackName_(domain, cbid);
    // "cudaLaunchKernel_v7000": which version of a function was called helps nobody.
    const char* const end = name == nullptr ? nullptr : std::strstr(name, "_v");
    const bool hasVersion = end != nullptr && end[2] >= '1' && end[2] <= '9' && end[3] != '\0';
    id = name == nullptr ? core::intern("(unknown CUDA function)")
         : hasVersion    ? core::intern(name, static_cast<std::size_t>(end - name))
                         : core::intern(name);
  }
  return id;
}

// The table begins anew when it is three quarters full: what was in it is defined again, and is the
// same stream to the recorder.
Decoder::StreamEntry& Decoder::entryOf(std::uint32_t context, std::uint32_t number) noexcept {
  if (usedStreams_ > kStreams / 4 * 3) {
    std::memset(streams_, 0, sizeof streams_);
    usedStreams_ = 0;
  }
  const std::size_t hash = (std::size_t{context} * 40503 + number) * 2654435761U;
  for (std::size_t probe = 0;; ++probe) {
    StreamEntry& entry = streams_[(hash + probe) % kStreams];
    if (entry.id == 0 || (entry.context == context && entry.number == number))
      return entry;
  }
}

// Defined again when its device shows.
std::uint32_t Decoder::streamOf(std::uint32_t context,
                                std::uint32_t number,
                                std::uint32_t device) noexcept {
  const bool isLast = last_ != nullptr && last_->context == context && last_->number == number;
  StreamEntry* const entry = isLast ? last_ : &entryOf(context, number);
  last_ = entry;
  const bool isKnown =
      entry->id != 0 && (device == entry->device || device == wire::StreamDefinition::kNoDevice);
  if (isKnown)
    return entry->id;
  const std::uint32_t id = entry->id != 0 ? entry->id : lastStream_ + 1;
  wire::StreamDefinition definition{};
  definition.id = id;
  definition.device = device;
  definition.context = context;
  definition.number = number;
  if (!core::defineStream(definition))
    return 0;
  lastStream_ += entry->id == 0 ? 1 : 0;
  usedStreams_ += entry->id == 0 ? 1 : 0;
  *entry = {context, number, device, id};
  return id;
}

std::uint32_t Decoder::deviceOf(std::uint32_t context) const noexcept {
  const ContextEntry& entry = contexts_[context % kContexts];
  const bool isKnown = entry.device != 0 && entry.context == context;
  return isKnown ? entry.device - 1 : wire::StreamDefinition::kNoDevice;
}

}  // namespace sonde::preload::cuda
