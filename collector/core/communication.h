// Channels and communicators: their definitions, and the program's hints about communicators that
// it is about to create. Any thread may call; no function allocates, locks, throws or changes
// errno. Linked into libsonde_preload.so only, as emit.h.
#pragma once

#include "collector/wire/definitions.h"
#include "collector/wire/nccl_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::core {

// Returns the id of a new channel or communicator, 0 if it could not be defined. The caller counts
// what it cannot record for that reason.
std::uint32_t defineChannel(wire::ChannelKind kind,
                            std::uint8_t flags,
                            const char* local,
                            const char* remote) noexcept;
std::uint32_t defineCommunicator(const char* key,
                                 const std::int32_t* ranks,
                                 std::int32_t size,
                                 std::int32_t position,
                                 wire::Probe probe) noexcept;

// The caller fills in everything except the header; in the header it sets only subject and, for a
// step, the flags of detail. False: the record was not written, and was counted.
bool emitCollectiveEnd(wire::CollectiveEnd record, wire::Probe probe) noexcept;
bool emitCollectivePlan(wire::CollectivePlan record, wire::Probe probe) noexcept;
bool emitCommunicatorAbort(wire::CommunicatorAbort record, wire::Probe probe) noexcept;
bool emitProxyStep(wire::ProxyStep record, wire::Probe probe) noexcept;

// The latest hint from sonde_api's communicator_hint in this process. `ranks` has room for jobs of
// up to kMaxRanks; larger groups have only a key.
struct CommunicatorHint {
  static constexpr std::int32_t kMaxRanks = 4096;
  static constexpr std::size_t kKeyBytes = 128;
  char key[kKeyBytes];
  std::int32_t size;
  std::int32_t ranks[kMaxRanks];
};

// False if there is no hint, or one is just being written.
bool readCommunicatorHint(CommunicatorHint& hint) noexcept;
// `key` nullptr: clears the hint. If several threads call at once, one hint is kept.
void setCommunicatorHint(const char* key, const std::int32_t* ranks, std::int32_t count) noexcept;

}  // namespace sonde::core
