// Converts CUPTI's records to Sonde's. Keeps those from times in which the gates (core/capture.h)
// were open, and all records that define or end something. One decoder per process; the caller
// holds a lock.
#pragma once

#include "collector/preload/cuda/activity/cuda_launches.h"
#include "collector/preload/cuda/activity/cuda_names.h"
#include "collector/preload/cuda/activity/cuda_streams.h"
#include "collector/preload/cuda/activity/cupti_records.h"
#include "collector/wire/device_records.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::cuda {

class Decoder {
 public:
  constexpr Decoder() noexcept = default;

  // `version`: from cuptiGetVersion. False: Sonde does not know its layouts. Calls `callbackName`
  // now, and never later.
  bool begin(std::uint32_t version, CallbackName callbackName) noexcept;

  // A buffer of records begins. Names may have become invalid since the previous buffer.
  void beginBuffer() noexcept { names_.forgetTexts(); }
  void endBuffer() noexcept { launches_.settle(); }
  // Records one record. Ignores kinds that Sonde does not use.
  void decode(const cupti::Record* record) noexcept;
  // There are no more records for now.
  void end() noexcept { launches_.end(); }

  // Leaves out calls of this thread that began before this time. Call it without the lock.
  void leaveOutCallsOf(std::int32_t tid, std::uint64_t untilTicks) noexcept {
    leftOutUntil_.store(untilTicks, std::memory_order_relaxed);
    leftOut_.store(tid, std::memory_order_release);
  }

  // Managed memory, whose pages move by themselves, was allocated. Call it without the lock.
  bool hasManagedMemory() const noexcept {
    return hasManagedMemory_.load(std::memory_order_relaxed);
  }

 private:
  void kernel(const cupti::KernelRecord& from) noexcept;
  template <typename Record>
  wire::DeviceCopy copyOf(const Record& from) noexcept;
  void memcpy(const cupti::MemcpyRecord& from) noexcept;
  void memcpyPeer(const cupti::MemcpyPeerRecord& from) noexcept;
  void memset(const cupti::MemsetRecord& from) noexcept;
  bool isOwnCall(const cupti::ApiRecord& from) const noexcept;
  void api(const cupti::ApiRecord& from, cupti::Domain domain) noexcept;
  void synchronization(const cupti::SynchronizationRecord& from) noexcept;
  void cudaEvent(const cupti::CudaEventRecord& from) noexcept;
  void overhead(const cupti::OverheadRecord& from) noexcept;
  void memory(const cupti::MemoryRecord& from) noexcept;
  void memoryPool(const cupti::MemoryPoolRecord& from) noexcept;
  static void device(const cupti::DeviceRecord& from) noexcept;
  void context(const cupti::ContextRecord& from) noexcept;
  void stream(const cupti::StreamRecord& from) noexcept;
  void graphTrace(const cupti::GraphTraceRecord& from) noexcept;
  void unifiedMemory(const cupti::UnifiedMemoryRecord& from) noexcept;
  void migration(const cupti::UnifiedMemoryRecord& from,
                 wire::DeviceCopyKind kind,
                 std::uint32_t device) noexcept;
  static void managedMemory(const cupti::UnifiedMemoryRecord& from,
                            wire::DeviceMemoryKind kind) noexcept;
  static void externalCorrelation(const cupti::ExternalCorrelationRecord& from) noexcept;
  void jit(const cupti::JitRecord& from) noexcept;

  std::uint32_t version_ = 0;
  std::atomic<bool> hasManagedMemory_{false};
  std::atomic<std::int32_t> leftOut_{0};  // thread; 0: none
  std::atomic<std::uint64_t> leftOutUntil_{0};
  Launches launches_;
  StreamTable streams_;
  NameTable names_;
};

}  // namespace sonde::preload::cuda
