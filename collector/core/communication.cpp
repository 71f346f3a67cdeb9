#include "collector/core/communication.h"

#include "collector/core/definitions.h"
#include "collector/core/emit.h"
#include "collector/core/platform/clock.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/record_place.h"
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"

#include <string.h>

namespace sonde::core {
namespace {

// Yields before giving up on a thread that was stopped while it wrote.
constexpr int kPatience = 200;

// A writer makes `version` odd. A reader that finds it changed discards what it has read.
struct HintCell {
  std::atomic<std::uint32_t> version;
  std::atomic<std::int32_t> size;
  std::atomic<char> key[CommunicatorHint::kKeyBytes];
  std::atomic<std::int32_t> ranks[CommunicatorHint::kMaxRanks];
};
HintCell gHint;

// Acquire: the version is read again after all these loads.
void copyHint(CommunicatorHint& hint) noexcept {
  hint.size = gHint.size.load(std::memory_order_acquire);
  for (std::size_t at = 0; at < CommunicatorHint::kKeyBytes; ++at)
    hint.key[at] = gHint.key[at].load(std::memory_order_acquire);
  for (std::int32_t at = 0; at < hint.size && at < CommunicatorHint::kMaxRanks; ++at)
    hint.ranks[at] = gHint.ranks[at].load(std::memory_order_acquire);
}

// Claims room for a definition; nullptr if there is no spool or no room in it.
template <typename Definition>
Definition* claim(wire::DefinitionKind kind, std::size_t bytes) noexcept {
  return attached() ? reinterpret_cast<Definition*>(claimDefinition(gSpool, kind, bytes)) : nullptr;
}

}  // namespace

std::uint32_t defineChannel(wire::ChannelKind kind,
                            std::uint8_t flags,
                            const char* local,
                            const char* remote) noexcept {
  static std::atomic<std::uint32_t> nextId{1};
  const WriteMark mark;
  const std::size_t localBytes = strnlen(local, wire::kMaxAddressBytes);
  const std::size_t remoteBytes = strnlen(remote, wire::kMaxAddressBytes);
  auto* channel = claim<wire::ChannelDefinition>(
      wire::DefinitionKind::Channel, sizeof(wire::ChannelDefinition) + localBytes + remoteBytes);
  if (channel == nullptr)
    return 0;
  const std::uint32_t id = nextId.fetch_add(1, std::memory_order_relaxed);
  channel->id = id;
  channel->kind = kind;
  channel->flags = flags;
  channel->localBytes = static_cast<std::uint16_t>(localBytes);
  channel->remoteBytes = static_cast<std::uint16_t>(remoteBytes);
  char* addresses = reinterpret_cast<char*>(channel + 1);
  memcpy(addresses, local, localBytes);
  memcpy(addresses + localBytes, remote, remoteBytes);
  channel->openTicks = readTicks();
  commitDefinition(&channel->header);
  return id;
}

std::uint32_t defineCommunicator(const char* key,
                                 const std::int32_t* ranks,
                                 std::int32_t size,
                                 std::int32_t position,
                                 wire::Probe probe) noexcept {
  static std::atomic<std::uint32_t> nextId{1};
  const WriteMark mark;
  const std::uint32_t keyId = intern(key);
  const std::size_t members = size > 0 && size <= CommunicatorHint::kMaxRanks && ranks != nullptr
                                  ? static_cast<std::size_t>(size)
                                  : 0;
  const std::size_t bytes = sizeof(wire::CommunicatorDefinition) + members * sizeof *ranks;
  auto* communicator =
      claim<wire::CommunicatorDefinition>(wire::DefinitionKind::Communicator, bytes);
  if (communicator == nullptr)
    return 0;
  const std::uint32_t id = nextId.fetch_add(1, std::memory_order_relaxed);
  communicator->id = id;
  communicator->key = keyId;
  communicator->size = size;
  communicator->position = position;
  communicator->probe = probe;
  if (members > 0)
    memcpy(communicator + 1, ranks, members * sizeof *ranks);
  commitDefinition(&communicator->header);
  return id;
}

bool emitCollectiveEnd(wire::CollectiveEnd record, wire::Probe probe) noexcept {
  record.header.detail = wire::CollectiveEnd::kDetail;
  return emit(record, wire::RecordKind::CollectivePart, probe) != 0;
}

bool emitCollectivePlan(wire::CollectivePlan record, wire::Probe probe) noexcept {
  record.header.detail = wire::CollectivePlan::kDetail;
  return emit(record, wire::RecordKind::CollectivePart, probe) != 0;
}

bool emitCommunicatorAbort(wire::CommunicatorAbort record, wire::Probe probe) noexcept {
  record.header.detail = wire::CommunicatorAbort::kDetail;
  return emit(record, wire::RecordKind::CollectivePart, probe) != 0;
}

bool emitProxyStep(wire::ProxyStep record, wire::Probe probe) noexcept {
  record.header.detail |= wire::ProxyStep::kDetail;
  return emit(record, wire::RecordKind::CollectivePart, probe) != 0;
}

bool readCommunicatorHint(CommunicatorHint& hint) noexcept {
  for (int tries = 0; tries < kPatience; ++tries) {
    const std::uint32_t before = gHint.version.load(std::memory_order_acquire);
    if (before % 2 == 0) {
      copyHint(hint);
      if (gHint.version.load(std::memory_order_relaxed) == before)
        return hint.size > 0;
    }
    rawSyscall(SYS_sched_yield);
  }
  return false;
}

// Release: a reader that sees any of these stores sees the odd version.
void setCommunicatorHint(const char* key, const std::int32_t* ranks, std::int32_t count) noexcept {
  std::uint32_t version = gHint.version.load(std::memory_order_relaxed);
  if (version % 2 != 0 ||
      !gHint.version.compare_exchange_strong(version, version + 1, std::memory_order_acq_rel))
    return;
  const std::size_t length = key == nullptr ? 0 : strlen(key);
  const bool fits = key != nullptr && length < CommunicatorHint::kKeyBytes;
  gHint.size.store(fits ? count : 0, std::memory_order_release);
  for (std::size_t at = 0; fits && at <= length; ++at)
    gHint.key[at].store(key[at], std::memory_order_release);
  for (std::int32_t at = 0; fits && at < count && at < CommunicatorHint::kMaxRanks; ++at)
    gHint.ranks[at].store(ranks == nullptr ? -1 : ranks[at], std::memory_order_release);
  gHint.version.store(version + 2, std::memory_order_release);
}

}  // namespace sonde::core
