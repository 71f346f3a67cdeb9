// The streams of this process. CUPTI names them by context and number, the spool by ids of
// definitions. The owner of an instance holds a lock.
#pragma once

#include "collector/wire/definitions.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

class StreamTable {
 public:
  constexpr StreamTable() noexcept = default;

  // Returns the id of a stream. Defines the stream at its first use, and again when its device is
  // known. 0: no room for the definition. `device`: its ordinal, or kNoDevice.
  std::uint32_t idOf(std::uint32_t context, std::uint32_t number, std::uint32_t device) noexcept;
  // The same, on the context's device.
  std::uint32_t idOf(std::uint32_t context, std::uint32_t number) noexcept {
    return idOf(context, number, deviceOf(context));
  }

  void setDevice(std::uint32_t context, std::uint32_t device) noexcept;
  // The device's ordinal, or kNoDevice.
  std::uint32_t deviceOf(std::uint32_t context) const noexcept;

 private:
  struct Stream {
    std::uint32_t context;
    std::uint32_t number;
    std::uint32_t device;
    std::uint32_t id;  // 0: the entry is free
  };
  struct Context {
    std::uint32_t context;
    std::uint32_t device;  // its ordinal + 1
  };
  static constexpr std::size_t kStreams = 4096;
  static constexpr std::size_t kContexts = 256;

  Stream& entryOf(std::uint32_t context, std::uint32_t number) noexcept;

  std::uint32_t lastId_ = 0;
  std::size_t used_ = 0;
  Context contexts_[kContexts] = {};  // the latest context of those that share a place
  Stream streams_[kStreams] = {};
  Stream* last_ = nullptr;
};

}  // namespace sonde::preload::cuda
