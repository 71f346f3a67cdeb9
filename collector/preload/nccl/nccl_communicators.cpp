#include "collector/preload/nccl/nccl_communicators.h"

#include "collector/core/communication.h"
#include "collector/core/emit.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/thread_state.h"
#include "collector/preload/common/job_members.h"
#include "collector/preload/nccl/nccl_lanes.h"

#include <cinttypes>
#include <cstdio>

namespace sonde::preload::nccl {
namespace {

constexpr std::uint32_t kMaxCommunicators = 512;  // each may be there twice

constinit Pool<Communicator, kMaxCommunicators> gCommunicators;

std::uint32_t define(const Communicator& communicator) noexcept {
  char key[kKeyBytes];
  keyOf(communicator, key);
  const std::int32_t size = communicator.size.load(std::memory_order_relaxed);
  const std::int32_t rank = communicator.rank.load(std::memory_order_relaxed);
  if (size <= 0 || size > core::CommunicatorHint::kMaxRanks)
    return core::defineCommunicator(key, nullptr, size, rank, wire::Probe::Nccl);
  std::int32_t members[core::CommunicatorHint::kMaxRanks];
  jobMembers(rank, size, members);
  return core::defineCommunicator(key, members, size, rank, wire::Probe::Nccl);
}

bool mayBe(const Communicator& told, const Communicator& known) noexcept {
  if (told.api.load(std::memory_order_relaxed) != nullptr ||
      told.sameAs.load(std::memory_order_relaxed) != 0 ||
      known.owners.load(std::memory_order_relaxed) != 1)
    return false;
  const std::int32_t rank = told.rank.load(std::memory_order_relaxed);
  const std::int32_t knownRank = known.rank.load(std::memory_order_relaxed);
  return rank < 0 || knownRank < 0 || rank == knownRank;
}

// From version 4 on the size is reported too.
bool isOtherHash(const Communicator& told, const Communicator& known) noexcept {
  const std::uint64_t hash = told.hash.load(std::memory_order_relaxed);
  const std::uint64_t other = known.hash.load(std::memory_order_relaxed);
  return told.size.load(std::memory_order_relaxed) > 0 && hash != 0 && other != 0 &&
         !known.ownHash.load(std::memory_order_relaxed) && hash != other;
}

// Removes one owner. Requires: this owner was not removed before.
void release(Communicator& communicator, std::uint32_t index) noexcept {
  if (communicator.owners.fetch_sub(1, std::memory_order_acq_rel) > 1)
    return;
  const std::uint32_t generation = communicator.generation.load(std::memory_order_acquire);
  if (gCommunicators.claim({HandleKind::Communicator, generation, index}) == nullptr)
    return;
  removeLanes(index);
  // Only one of several threads gets sameAs and releases that communicator.
  const std::uint64_t same = communicator.sameAs.exchange(0, std::memory_order_acq_rel);
  const Handle other = Handle::of(reinterpret_cast<const void*>(same));
  gCommunicators.giveBack(communicator);
  if (Communicator* const second = same == 0 ? nullptr : gCommunicators.find(other);
      second != nullptr)
    release(*second, other.index);
}

}  // namespace

void keyOf(const Communicator& communicator, char (&key)[kKeyBytes]) noexcept {
  const std::uint64_t hash = communicator.hash.load(std::memory_order_relaxed);
  if (hash != 0)
    std::snprintf(key, sizeof key, "nccl:%016" PRIx64, hash);
  else
    std::snprintf(key,
                  sizeof key,
                  "nccl:unknown:%p:%d:%u",
                  static_cast<const void*>(&communicator),
                  static_cast<int>(core::rawSyscall(SYS_getpid)),
                  communicator.generation.load(std::memory_order_relaxed));
}

std::uint32_t idIn(std::uint32_t image, const std::atomic<std::uint64_t>& defined) noexcept {
  const std::uint64_t known = defined.load(std::memory_order_acquire);
  return image != 0 && known >> 32 == image ? static_cast<std::uint32_t>(known) : 0;
}

std::uint32_t keep(std::atomic<std::uint64_t>& defined,
                   std::uint32_t image,
                   std::uint32_t id) noexcept {
  std::uint64_t there = defined.load(std::memory_order_relaxed);
  if (id == 0 || there >> 32 == image)
    return id == 0 ? 0 : static_cast<std::uint32_t>(there);
  return defined.compare_exchange_strong(there, std::uint64_t{image} << 32 | id)
             ? id
             : static_cast<std::uint32_t>(there);
}

Handle addCommunicator(const CommunicatorFacts& facts, const void* api) noexcept {
  Communicator* const communicator = gCommunicators.take();
  if (communicator == nullptr) {
    core::countLoss(wire::Probe::Nccl, wire::RecordKind::Collective, wire::LossReason::Definitions);
    return {};
  }
  communicator->hash.store(facts.hash, std::memory_order_relaxed);
  communicator->size.store(facts.size, std::memory_order_relaxed);
  communicator->rank.store(facts.rank, std::memory_order_relaxed);
  communicator->defined.store(0, std::memory_order_relaxed);
  for (std::size_t function = 0; function < kFunctionCount; ++function) {
    communicator->last[function].store(0, std::memory_order_relaxed);
    communicator->graphs[function].store(0, std::memory_order_relaxed);
    communicator->calls[function].store(0, std::memory_order_relaxed);
  }
  communicator->api.store(api, std::memory_order_relaxed);
  communicator->sameAs.store(0, std::memory_order_relaxed);
  communicator->owners.store(1, std::memory_order_relaxed);
  communicator->ownHash.store(facts.ownHash, std::memory_order_relaxed);
  communicator->splits.store(0, std::memory_order_relaxed);
  if (facts.name != nullptr && *facts.name != '\0') {
    char key[kKeyBytes];
    keyOf(*communicator, key);
    core::emitProcessText(core::intern(key), core::intern(facts.name));
  }
  return gCommunicators.publish(*communicator, HandleKind::Communicator);
}

Handle resolve(Handle handle) noexcept {
  Communicator* const communicator =
      handle.kind == HandleKind::Communicator ? gCommunicators.find(handle) : nullptr;
  const std::uint64_t same =
      communicator == nullptr ? 0 : communicator->sameAs.load(std::memory_order_acquire);
  return same == 0 ? handle : Handle::of(reinterpret_cast<const void*>(same));
}

Communicator* findCommunicator(Handle handle) noexcept {
  return handle.kind == HandleKind::Communicator ? gCommunicators.find(resolve(handle)) : nullptr;
}

Handle findApiCommunicator(const void* api) noexcept {
  Handle found;
  gCommunicators.forEach(HandleKind::Communicator, [&](Handle handle, Communicator& each) {
    if (api != nullptr && each.api.load(std::memory_order_acquire) == api)
      found = handle;
  });
  return found;
}

bool mayBe(Handle told, Handle known) noexcept {
  const Communicator* const first = gCommunicators.find(told);
  const Communicator* const second = gCommunicators.find(known);
  return first != nullptr && second != nullptr && told != known && mayBe(*first, *second) &&
         !isOtherHash(*first, *second);
}

// Either may be removed meanwhile.
void identify(Handle told, Handle known) noexcept {
  Communicator* const first = gCommunicators.find(told);
  Communicator* const second = gCommunicators.find(known);
  if (first == nullptr || second == nullptr || told == known || !mayBe(*first, *second))
    return;
  std::uint32_t alone = 1;
  if (!second->owners.compare_exchange_strong(alone, 2, std::memory_order_acq_rel))
    return;
  if (gCommunicators.find(known) != second)
    return release(*second, known.index);
  const std::uint64_t hash = first->hash.load(std::memory_order_relaxed);
  if (hash != 0 && second->defined.load(std::memory_order_relaxed) == 0) {
    second->hash.store(hash, std::memory_order_relaxed);
    second->defined.store(first->defined.load(std::memory_order_relaxed),
                          std::memory_order_release);
  }
  std::uint64_t same = 0;
  const auto bits = reinterpret_cast<std::uint64_t>(known.opaque());
  if (!first->sameAs.compare_exchange_strong(same, bits))
    return release(*second, known.index);
  same = bits;
  if (gCommunicators.find(told) != first && first->sameAs.compare_exchange_strong(same, 0))
    release(*second, known.index);
}

void removeCommunicator(Handle handle) noexcept {
  Communicator* const found =
      handle.kind == HandleKind::Communicator ? gCommunicators.find(handle) : nullptr;
  if (found == nullptr)
    return;
  release(*found, handle.index);
}

Handle hideApiCommunicator(const void* api) noexcept {
  const Handle found = findApiCommunicator(api);
  Communicator* const communicator =
      found.kind == HandleKind::Communicator ? gCommunicators.find(found) : nullptr;
  return communicator != nullptr && communicator->api.compare_exchange_strong(api, nullptr)
             ? found
             : Handle{};
}

void showApiCommunicator(Handle handle, const void* api) noexcept {
  if (Communicator* const found =
          handle.kind == HandleKind::Communicator ? gCommunicators.find(handle) : nullptr;
      found != nullptr)
    found->api.store(api, std::memory_order_release);
}

void removeApiCommunicator(const void* api) noexcept {
  removeCommunicator(hideApiCommunicator(api));
}

void learn(Communicator& communicator, std::uint64_t hash, std::int32_t rank) noexcept {
  std::uint64_t unknown = 0;
  if (hash != 0)
    communicator.hash.compare_exchange_strong(unknown, hash, std::memory_order_relaxed);
  std::int32_t none = -1;
  communicator.rank.compare_exchange_strong(none, rank, std::memory_order_relaxed);
}

std::uint32_t communicatorId(Communicator& communicator) noexcept {
  const std::uint32_t image = core::imageGeneration();
  if (const std::uint32_t id = idIn(image, communicator.defined); id != 0)
    return id;
  return image == 0 ? 0 : keep(communicator.defined, image, define(communicator));
}

std::uint64_t sequenceOf(Communicator& communicator,
                         std::uint8_t function,
                         std::uint64_t number,
                         Launch launch) noexcept {
  const std::size_t place = function % kFunctionCount;
  // If the API also counts, its numbers are not NCCL's, and it has reported each direct call.
  const bool counted = communicator.api.load(std::memory_order_relaxed) != nullptr;
  if (launch == Launch::Graph || (launch == Launch::Unknown && counted)) {
    const std::uint64_t before = communicator.graphs[place].fetch_add(1, std::memory_order_relaxed);
    return kByGraph | (before * kFunctionCount + function);
  }
  if (launch == Launch::Unknown &&
      communicator.last[place].exchange(number + 1, std::memory_order_relaxed) == number + 1)
    return kNoSequence;
  return std::uint64_t{counted} << 47 | ((number * kFunctionCount + function) & 0x7fff'ffff'ffff);
}

std::uint64_t apiSequenceOf(Communicator& communicator, std::uint8_t function) noexcept {
  const std::uint64_t before =
      communicator.calls[function % kFunctionCount].fetch_add(1, std::memory_order_relaxed);
  return before * kFunctionCount + function;
}

void giveBackApiSequence(Communicator& communicator,
                         std::uint8_t function,
                         std::uint64_t seq) noexcept {
  std::uint64_t after = seq / kFunctionCount + 1;
  communicator.calls[function % kFunctionCount].compare_exchange_strong(
      after, seq / kFunctionCount, std::memory_order_relaxed);
}

}  // namespace sonde::preload::nccl
