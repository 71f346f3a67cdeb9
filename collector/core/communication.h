// Who talks to whom: the definitions of channels and communicators, and what the program says about
// the communicators that it is about to create. Any thread; no function allocates, locks, throws or
// changes errno. Of libsonde_preload.so alone, as emit.h.
#pragma once

#include "collector/wire/definitions.h"
#include "collector/wire/nccl_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::core {

// The id of a new channel or communicator. 0 when it could not be defined: what its caller then
// cannot record is the caller's to count.
std::uint32_t defineChannel(wire::ChannelKind kind,
                            std::uint8_t flags,
                            const char* local,
                            const char* remote) noexcept;
std::uint32_t defineCommunicator(const char* key,
                                 const std::int32_t* ranks,
                                 std::int32_t size,
                                 std::int32_t position,
                                 wire::Probe probe) noexcept;

// The caller fills in everything but the header, of which it fills in subject and, for a step, the
// flags of detail. False: it was not written, and counted.
bool emitCollectiveEnd(wire::CollectiveEnd record, wire::Probe probe) noexcept;
bool emitCollectivePlan(wire::CollectivePlan record, wire::Probe probe) noexcept;
bool emitCommunicatorAbort(wire::CommunicatorAbort record, wire::Probe probe) noexcept;
bool emitProxyStep(wire::ProxyStep record, wire::Probe probe) noexcept;

// What sonde_api's communicator_hint said last in this process. `ranks` has room for what a job of
// this size needs; larger groups carry a key alone.
struct CommunicatorHint {
  static constexpr std::int32_t kMaxRanks = 4096;
  static constexpr std::size_t kKeyBytes = 128;
  char key[kKeyBytes];
  std::int32_t size;
  std::int32_t ranks[kMaxRanks];
};

// False when there is no hint, or when one is just being given.
bool readCommunicatorHint(CommunicatorHint& hint) noexcept;
// `key` nullptr: no hint from now on. Of several callers at a time one is heard.
void setCommunicatorHint(const char* key, const std::int32_t* ranks, std::int32_t count) noexcept;

}  // namespace sonde::core
