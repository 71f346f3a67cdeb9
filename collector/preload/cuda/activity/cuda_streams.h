// The streams of this process, which CUPTI names by context and number and the spool by ids of
// definitions. Its owner holds a lock.
#pragma once

#include "collector/wire/definitions.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

class StreamTable {
 public:
  constexpr StreamTable() noexcept = default;

  // The id of a stream, which is defined when it shows first, and again when its device does. 0:
  // there is no room for its definition. `device`: its ordinal, or kNoDevice.
  std::uint32_t idOf(std::uint32_t context, std::uint32_t number, std::uint32_t device) noexcept;
  // The same, on the context's device.
  std::uint32_t idOf(std::uint32_t context, std::uint32_t number) noexcept {
    return idOf(context, number, deviceOf(context));
  }

  void setDevice(std::uint32_t context, std::uint32_t device) noexcept;
  // The ordinal, or kNoDevice.
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
  Context contexts_[kContexts] = {};  // the latest of those that share a place
  Stream streams_[kStreams] = {};
  Stream* last_ = nullptr;
};

}  // namespace sonde::preload::cuda
