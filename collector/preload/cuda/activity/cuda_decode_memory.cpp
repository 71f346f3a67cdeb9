// The Decoder's records of memory: allocations, pools, and unified memory.
#include "collector/core/device_work.h"
#include "collector/preload/cuda/activity/cuda_decode.h"
#include "collector/preload/cuda/activity/cuda_words.h"

namespace sonde::preload::cuda {
namespace {

using wire::DeviceCopyKind;
using wire::DeviceMemoryKind;
using wire::MemoryKind;

// CUPTI's processor ids are device ids. A CPU has no device id.
constexpr std::uint32_t kMostDevices = 1024;

}  // namespace

// A release is always recorded: its allocation may have been recorded. With closed gates only what
// identifies the allocation is written.
void Decoder::memory(const cupti::MemoryRecord& from) noexcept {
  const MemoryKind kind = memoryKind(from.memoryKind);
  const bool isFree = from.operation == cupti::MemoryOperation::Release;
  const bool isKept = launches_.isKept(from.timestamp);
  if (kind == MemoryKind::Managed)
    hasManagedMemory_.store(true, std::memory_order_relaxed);
  if (!isKept && !isFree)
    return;
  wire::DeviceMemory to{};
  to.header = header(kind == MemoryKind::Pinned ? 0 : from.deviceId + 1,
                     isFree ? DeviceMemoryKind::Free : DeviceMemoryKind::Allocate);
  to.beginTicks = from.timestamp;
  to.endTicks = from.timestamp;
  to.address = from.address;
  to.value = from.bytes;
  to.correlation = from.correlationId;
  if (isKept && from.poolType == cupti::MemoryPoolType::Local) {
    to.poolBytes = from.poolSize;
    to.poolUsedBytes = from.poolUtilizedSize;
  }
  if (isKept && (from.poolType == cupti::MemoryPoolType::Local ||
                 from.poolType == cupti::MemoryPoolType::Imported))
    to.pool = from.poolAddress;
  core::emitDeviceMemory(to);
}

// The end of a pool is always recorded: another pool may get its address later.
void Decoder::memoryPool(const cupti::MemoryPoolRecord& from) noexcept {
  const bool isEnd = from.operation == cupti::MemoryPoolOperation::Destruction;
  if (from.poolType != cupti::MemoryPoolType::Local ||
      (!isEnd && !launches_.isKept(from.timestamp)))
    return;
  wire::DeviceMemory to{};
  to.header = header(from.deviceId + 1, poolKind(from.operation));
  to.beginTicks = from.timestamp;
  to.endTicks = from.timestamp;
  to.pool = from.address;
  to.poolBytes = from.size;
  to.poolUsedBytes = from.utilizedSize;
  to.correlation = from.correlationId;
  core::emitDeviceMemory(to);
}

void Decoder::unifiedMemory(const cupti::UnifiedMemoryRecord& from) noexcept {
  if (!launches_.isKept(from.start))
    return;
  using cupti::UnifiedMemoryKind;
  switch (from.counterKind) {
    case UnifiedMemoryKind::BytesToDevice:
      return migration(from, DeviceCopyKind::UnifiedHostToDevice, from.dstId);
    case UnifiedMemoryKind::BytesToHost:
      return migration(from, DeviceCopyKind::UnifiedDeviceToHost, from.srcId);
    case UnifiedMemoryKind::BytesBetweenDevices:
      return migration(from, DeviceCopyKind::UnifiedPeerToPeer, from.srcId);
    case UnifiedMemoryKind::CpuPageFaults:
      return managedMemory(from, DeviceMemoryKind::CpuPageFault);
    case UnifiedMemoryKind::GpuPageFaults:
      return managedMemory(from, DeviceMemoryKind::GpuPageFault);
    case UnifiedMemoryKind::Thrashing:
      return managedMemory(from, DeviceMemoryKind::Thrashing);
    case UnifiedMemoryKind::Throttling:
      return managedMemory(from, DeviceMemoryKind::Throttling);
    case UnifiedMemoryKind::RemoteMap:
      return managedMemory(from, DeviceMemoryKind::RemoteMap);
  }
}

void Decoder::migration(const cupti::UnifiedMemoryRecord& from,
                        DeviceCopyKind kind,
                        std::uint32_t device) noexcept {
  wire::DeviceCopy to{};
  to.header = header(kind == DeviceCopyKind::UnifiedPeerToPeer ? from.dstId + 1 : 0, kind);
  to.beginTicks = from.start;
  to.endTicks = from.end;
  to.bytes = from.value;
  to.stream = streams_.idOf(device, wire::StreamDefinition::kUnifiedMemory, device);
  to.from = MemoryKind::Managed;
  to.to = MemoryKind::Managed;
  to.cause = migrationCause(from.flags);
  core::emitDeviceCopy(to);
}

void Decoder::managedMemory(const cupti::UnifiedMemoryRecord& from,
                            DeviceMemoryKind kind) noexcept {
  const bool lasts = kind == DeviceMemoryKind::GpuPageFault || kind == DeviceMemoryKind::Throttling;
  const bool isOfDevice =
      kind != DeviceMemoryKind::CpuPageFault && kind != DeviceMemoryKind::Thrashing;
  const bool hasCause = kind != DeviceMemoryKind::Thrashing && kind != DeviceMemoryKind::Throttling;
  wire::DeviceMemory to{};
  to.header =
      header(isOfDevice && from.srcId < kMostDevices ? from.srcId + 1 : 0, kind);  // else a CPU's
  to.beginTicks = from.start;
  to.endTicks = lasts ? from.end : from.start;
  to.address = from.address;
  to.value = kind == DeviceMemoryKind::Throttling ? 0 : from.value;
  to.cause = hasCause ? from.flags : 0;
  core::emitDeviceMemory(to);
}

}  // namespace sonde::preload::cuda
