// CUPTI's records → Sonde's. One decoder for a process; its caller holds a lock.
#pragma once

#include "collector/preload/probes/cupti_abi.h"
#include "collector/wire/device_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

// The name of a callback id, valid for ever; nullptr: there is none.
using CallbackName = const char* (*)(cupti::Domain domain, std::uint32_t cbid);

class Decoder {
 public:
  constexpr Decoder() noexcept = default;

  // `version`: cuptiGetVersion's. False: its layouts are not known here.
  bool begin(std::uint32_t version, CallbackName callbackName) noexcept;

  // Between two buffers: what a name stood for may have gone.
  void forgetNames() noexcept;

  // Records one. What Sonde has no use for is passed over.
  void decode(const cupti::Record* record) noexcept;

 private:
  struct StreamEntry {
    std::uint32_t context;
    std::uint32_t number;
    std::uint32_t device;
    std::uint32_t id;  // 0: the entry is free
  };
  struct ContextEntry {
    std::uint32_t context;
    std::uint32_t device;  // its ordinal + 1
  };
  struct NameEntry {
    const char* text;
    std::uint32_t id;
  };
  static constexpr std::size_t kStreams = 4096;
  static constexpr std::size_t kContexts = 256;
  static constexpr std::size_t kNames = 2048;
  static constexpr std::size_t kCallbacks = 1024;

  void kernel(const cupti::KernelRecord& from) noexcept;
  template <typename Record>
  wire::DeviceCopy copyOf(const Record& from) noexcept;
  void memcpy(const cupti::MemcpyRecord& from) noexcept;
  void memcpyPeer(const cupti::MemcpyPeerRecord& from) noexcept;
  void memset(const cupti::MemsetRecord& from) noexcept;
  void api(const cupti::ApiRecord& from, cupti::Domain domain) noexcept;
  void synchronization(const cupti::SynchronizationRecord& from) noexcept;
  void cudaEvent(const cupti::CudaEventRecord& from) noexcept;
  void overhead(const cupti::OverheadRecord& from) noexcept;
  void memory(const cupti::MemoryRecord& from) noexcept;
  static void device(const cupti::DeviceRecord& from) noexcept;
  void context(const cupti::ContextRecord& from) noexcept;
  void stream(const cupti::StreamRecord& from) noexcept;
  void graphTrace(const cupti::GraphTraceRecord& from) noexcept;
  void unifiedMemory(const cupti::UnifiedMemoryRecord& from) noexcept;
  static void jit(const cupti::JitRecord& from) noexcept;

  std::uint32_t nameOf(const char* text) noexcept;
  std::uint32_t callbackOf(cupti::Domain domain, std::uint32_t cbid) noexcept;
  StreamEntry& entryOf(std::uint32_t context, std::uint32_t number) noexcept;
  std::uint32_t streamOf(std::uint32_t context,
                         std::uint32_t number,
                         std::uint32_t device) noexcept;
  std::uint32_t deviceOf(std::uint32_t context) const noexcept;

  std::uint32_t version_ = 0;
  CallbackName callbackName_ = nullptr;
  std::uint32_t lastStream_ = 0;
  std::size_t usedStreams_ = 0;
  ContextEntry contexts_[kContexts] = {};  // the latest of those that share a place
  StreamEntry streams_[kStreams] = {};
  StreamEntry* last_ = nullptr;
  NameEntry names_[kNames] = {};
  std::uint32_t callbacks_[2][kCallbacks] = {};
};

}  // namespace sonde::preload::cuda
