#include "collector/preload/nccl/nccl_lanes.h"

#include "collector/core/communication.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/thread_state.h"
#include "collector/preload/nccl/nccl_communicators.h"

#include <bit>
#include <cinttypes>
#include <cstdio>

namespace sonde::preload::nccl {
namespace {

constexpr std::uint32_t kMaxLanes = 32768;  // a power of 2
constexpr std::uint32_t kMaxTurns = 64;
constexpr std::uint64_t kRemoved = 1;
// Never part of a whole key: being taken over, still with the old counts.
constexpr std::uint64_t kTaking = 1;
constexpr std::uint64_t kCallOrder = 0xff;  // instead of a channel; NCCL has at most 64

constinit Lane gLanes[kMaxLanes]{};

constexpr std::uint64_t kForeignGeneration = 0xffc;

// The key for another process's communicator: its 10 highest bits are 0. There is no room for a
// whole name, so one of 2^42 numbers represents it. The key also has the generation of its
// communicator, because the next communicator with the same index has another one. Its end is never
// reported here.
std::uint64_t foreignKey(const LaneName& name, std::uint64_t end) noexcept {
  std::uint64_t hash = end;
  Handle communicator = name.communicator;
  const bool hasGeneration = communicator.kind == HandleKind::Communicator;
  if (hasGeneration)
    communicator.generation = 0;
  for (const std::uint64_t part : {std::bit_cast<std::uint64_t>(communicator.opaque()),
                                   std::uint64_t{static_cast<std::uint32_t>(name.pid)} << 32 |
                                       static_cast<std::uint32_t>(name.rank)}) {
    hash = (hash ^ part) * 0x9e37'79b9'7f4a'7c15;
    hash ^= hash >> 29;
  }
  const std::uint64_t generation =
      hasGeneration ? std::uint64_t{name.communicator.generation} << 1 & kForeignGeneration : 0;
  return hash >> 22 << 12 | generation | 2;
}

bool isForeign(std::uint64_t key) noexcept {
  return key >> 54 == 0;
}

std::uint64_t withoutGeneration(std::uint64_t key) noexcept {
  return isForeign(key) ? key & ~kForeignGeneration : key;
}

// Another process has replaced the communicator of this lane. False: another thread is doing this.
bool takeOver(Lane& lane, std::uint64_t before, std::uint64_t key) noexcept {
  if ((before & kTaking) != 0 || !lane.key.compare_exchange_strong(before, key | kTaking))
    return before == key;
  lane.defined.store(0, std::memory_order_relaxed);
  lane.count.store(0, std::memory_order_relaxed);
  lane.key.store(key, std::memory_order_release);
  return true;
}

std::uint64_t laneKey(const LaneName& name, std::uint64_t channel) noexcept {
  const std::uint64_t end = std::uint64_t{static_cast<std::uint32_t>(name.peer) & 0xff'ffff} << 17 |
                            channel << 9 | std::uint64_t{name.send} << 8 |
                            std::uint64_t{name.peerToPeer} << 7 | 2;
  if (name.pid != 0)
    return foreignKey(name, end);
  return std::uint64_t{name.communicator.index + 1} << 54 |
         std::uint64_t{name.communicator.generation & 0x1fff} << 41 | end;
}

Lane* findLaneOf(std::uint64_t key) noexcept {
  Lane* reusable = nullptr;
  const std::uint64_t name = withoutGeneration(key);
  const std::uint64_t start = name * 0x9e37'79b9'7f4a'7c15 >> 32;
  for (std::uint64_t tries = 0; tries < kMaxTurns; ++tries) {
    Lane& lane = gLanes[(start + tries) % kMaxLanes];
    std::uint64_t there = lane.key.load(std::memory_order_acquire);
    if (there == key)
      return &lane;
    if (withoutGeneration(there & ~kTaking) == name)
      return takeOver(lane, there, key) ? &lane : nullptr;
    if (there == kRemoved && reusable == nullptr)
      reusable = &lane;
    if (there != 0)
      continue;
    Lane& free = reusable != nullptr ? *reusable : lane;
    std::uint64_t expected = reusable != nullptr ? kRemoved : 0;
    if (free.key.compare_exchange_strong(expected, key) || expected == key)
      return &free;
    reusable = nullptr;
    if (lane.key.compare_exchange_strong(there, key) || there == key)
      return &lane;
  }
  std::uint64_t expected = kRemoved;
  return reusable != nullptr && reusable->key.compare_exchange_strong(expected, key) ? reusable
                                                                                     : nullptr;
}

void ownerKeyOf(const LaneName& name, char (&key)[kKeyBytes]) noexcept {
  const Communicator* const communicator =
      name.pid == 0 ? findCommunicator(name.communicator) : nullptr;
  if (communicator != nullptr)
    keyOf(*communicator, key);
  else
    std::snprintf(key,
                  sizeof key,
                  "nccl:process %d:%" PRIx64,
                  name.pid != 0 ? name.pid : static_cast<int>(core::rawSyscall(SYS_getpid)),
                  std::bit_cast<std::uint64_t>(name.communicator.opaque()));
}

Lane* findCallLane(Handle communicator, std::int32_t peer, bool send) noexcept {
  LaneName name;
  name.communicator = communicator;
  name.peer = peer;
  name.send = send;
  return findLaneOf(laneKey(name, kCallOrder));
}

}  // namespace

Lane* findLane(const LaneName& name) noexcept {
  return findLaneOf(laneKey(name, name.channel));
}

std::uint32_t channelId(Lane& lane, const LaneName& name) noexcept {
  const std::uint32_t image = core::imageGeneration();
  if (const std::uint32_t id = idIn(image, lane.defined); id != 0)
    return id;
  char key[kKeyBytes];
  ownerKeyOf(name, key);
  char sender[wire::kMaxAddressBytes];
  char receiver[wire::kMaxAddressBytes];
  const char* const kind = name.peerToPeer ? "p2p/" : "";
  const std::int32_t from = name.send ? name.rank : name.peer;
  const std::int32_t to = name.send ? name.peer : name.rank;
  std::snprintf(sender, sizeof sender, "%s/%s%d/%d>%d/send", key, kind, name.channel, from, to);
  std::snprintf(
      receiver, sizeof receiver, "%s/%s%d/%d>%d/receive", key, kind, name.channel, from, to);
  if (image == 0)
    return 0;
  return keep(lane.defined,
              image,
              core::defineChannel(wire::ChannelKind::Nccl,
                                  0,
                                  name.send ? sender : receiver,
                                  name.send ? receiver : sender));
}

std::int64_t countPeerCall(Handle communicator, std::int32_t peer, bool send) noexcept {
  Lane* const lane = findCallLane(communicator, peer, send);
  return lane == nullptr
             ? -1
             : static_cast<std::int64_t>(lane->count.fetch_add(1, std::memory_order_relaxed));
}

void giveBackPeerCall(Handle communicator,
                      std::int32_t peer,
                      bool send,
                      std::uint64_t before) noexcept {
  std::uint64_t after = before + 1;
  if (Lane* const lane = findCallLane(communicator, peer, send); lane != nullptr)
    lane->count.compare_exchange_strong(after, before, std::memory_order_relaxed);
}

void removeLanes(std::uint32_t index) noexcept {
  for (Lane& lane : gLanes) {
    if (lane.key.load(std::memory_order_relaxed) >> 54 != index + 1)
      continue;
    lane.defined.store(0, std::memory_order_relaxed);
    lane.count.store(0, std::memory_order_relaxed);
    lane.key.store(kRemoved, std::memory_order_release);
  }
}

}  // namespace sonde::preload::nccl
