// CUPTI's records → Sonde's: of those times in which the gates (core/capture.h) were open, and what
// defines or ends something whenever it was. One decoder for a process; its caller holds a lock.
#pragma once

#include "collector/preload/cuda/activity/cuda_launches.h"
#include "collector/preload/cuda/activity/cuda_streams.h"
#include "collector/preload/cuda/activity/cupti_records.h"
#include "collector/wire/device_records.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

// The name of a callback id, valid for ever; nullptr: there is none.
using CallbackName = const char* (*)(cupti::Domain domain, std::uint32_t cbid);

class Decoder {
 public:
  constexpr Decoder() noexcept = default;

  // `version`: cuptiGetVersion's. False: its layouts are not known here. All names are asked for
  // now, so that nothing of CUPTI is called, whose locks a caller may hold, while records are
  // decoded.
  bool begin(std::uint32_t version, CallbackName callbackName) noexcept;

  // Of records. What a name stood for may have gone since the last one.
  void beginBuffer() noexcept;
  void endBuffer() noexcept { launches_.settle(); }
  // Records one. What Sonde has no use for is passed over.
  void decode(const cupti::Record* record) noexcept;
  // There are no more, for now.
  void end() noexcept { launches_.end(); }

  // Calls of this thread that began before this time are not recorded. Without the lock.
  void leaveOutCallsOf(std::int32_t tid, std::uint64_t untilTicks) noexcept {
    leftOutUntil_.store(untilTicks, std::memory_order_relaxed);
    leftOut_.store(tid, std::memory_order_release);
  }

  // Memory was allocated whose pages move on their own. Without the lock.
  bool hasManagedMemory() const noexcept {
    return hasManagedMemory_.load(std::memory_order_relaxed);
  }

 private:
  struct NameEntry {
    const char* text;
    std::uint32_t id;
  };
  struct Callback {
    const char* name;  // nullptr: it has none
    std::uint32_t id;  // 0: not used yet
  };
  static constexpr std::size_t kNames = 2048;
  static constexpr std::size_t kCallbacks = 1024;

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

  std::uint32_t nameOf(const char* text) noexcept;
  std::uint32_t nameOf(cupti::Domain domain, std::uint32_t cbid) noexcept;
  Callback& callbackOf(cupti::Domain domain, std::uint32_t cbid) noexcept;

  std::uint32_t version_ = 0;
  std::atomic<bool> hasManagedMemory_{false};
  std::atomic<std::int32_t> leftOut_{0};  // thread; 0: none
  std::atomic<std::uint64_t> leftOutUntil_{0};
  Launches launches_;
  StreamTable streams_;
  NameEntry names_[kNames] = {};
  Callback callbacks_[2][kCallbacks] = {};
};

}  // namespace sonde::preload::cuda
