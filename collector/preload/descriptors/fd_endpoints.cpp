#include "collector/preload/descriptors/fd_endpoints.h"

#include "collector/core/platform/bounded.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/descriptors/fd_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace sonde::preload::fd_endpoints {
namespace {

using core::rawSyscall;

constexpr std::uint32_t kWords = kEndpoints / 64;
// Consecutive refusals before dead processes are searched for again.
constexpr std::uint32_t kRetry = 1024;

struct Holder {
  std::atomic<std::uint64_t> owner;  // the process, see identityOfThis(); 0: free
  std::atomic<std::uint64_t> held[kWords];
};

// Shared between relatives.
struct Pool {
  std::atomic<std::uint32_t>
      next;  // where to look for a free endpoint: the one freed longest ago, more or less
  std::atomic<std::uint32_t> used;
  std::atomic<std::uint32_t> refused;  // refusals since there was room last
  Holder holders[kHolders];
  Endpoint endpoints[kEndpoints];
};

// Private: the number of this process's descriptors that lead to each endpoint.
struct References {
  std::atomic<std::uint32_t> of[kEndpoints];
};

// Zeroed by the kernel in every child (MADV_WIPEONFORK).
struct Self {
  std::atomic<std::uint32_t> holder;  // the holder's number + 1, or kNobody; 0: a new child
};

Pool* gPool;
References* gReferences;
Self* gSelf;
std::atomic<std::uint64_t> gIdentity{0};  // in a new child still the parent's
std::atomic<std::uint16_t> gLineage{0};

// Identifies a process: its pid, and the inode of its pid namespace, 0 if unknown.
std::uint64_t identityOfThis() noexcept {
  struct statx info {};
  const bool known = rawSyscall(SYS_statx,
                                AT_FDCWD,
                                core::asLong("/proc/self/ns/pid"),
                                0,
                                STATX_INO,
                                core::asLong(&info)) == 0;
  return (known ? info.stx_ino << 32 : 0) | static_cast<std::uint32_t>(rawSyscall(SYS_getpid));
}

// A new process may have the pid of a dead one; the dead one then counts as alive for longer.
bool isDead(std::uint64_t owner) noexcept {
  const std::uint64_t own = gIdentity.load(std::memory_order_relaxed);
  return owner >> 32 != 0 && owner >> 32 == own >> 32 &&
         rawSyscall(SYS_kill, static_cast<std::int32_t>(owner), 0) == -ESRCH;
}

Holder* self() noexcept {
  const std::uint32_t number = gSelf->holder.load(std::memory_order_relaxed);
  return number == 0 || number == kNobody ? nullptr : &gPool->holders[number - 1];
}

constexpr std::uint64_t bitOf(std::uint32_t index) noexcept {
  return std::uint64_t{1} << index % 64;
}

constexpr std::uint32_t generationOf(std::uint64_t life) noexcept {
  return static_cast<std::uint32_t>(life >> 32);
}

constexpr std::uint64_t lifeOf(std::uint32_t generation, std::uint32_t holders) noexcept {
  // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): 32 of 64 bits
  return static_cast<std::uint64_t>(generation) << 32 | holders;
}

// Removes one holder. Requires: it was counted. If the exchange gives up, the endpoint is lost.
void dropHold(Endpoint& endpoint) noexcept {
  std::uint64_t life = 0;
  const bool dropped = core::exchangeWith(endpoint.life, life, [](std::uint64_t before) {
    const bool last = static_cast<std::uint32_t>(before) == 1;
    return last ? lifeOf(generationOf(before) + 1, 0) : before - 1;
  });
  if (dropped && static_cast<std::uint32_t>(life) == 1)
    gPool->used.fetch_sub(1, std::memory_order_relaxed);
}

// Counts first, then marks: a process killed in between leaves the count one too high.
void holdFor(Holder& holder, std::uint32_t index, std::uint32_t generation) noexcept {
  std::atomic<std::uint64_t>& word = holder.held[index / 64];
  if ((word.load(std::memory_order_relaxed) & bitOf(index)) != 0)
    return;
  Endpoint& endpoint = gPool->endpoints[index];
  std::uint64_t life = 0;
  // If the exchange gives up, the process sees the endpoint only as long as a relative holds it.
  const bool held = core::exchangeWith(endpoint.life, life, [&](std::uint64_t before) {
    return generationOf(before) == generation ? before + 1 : before;
  });
  if (!held)
    return;
  if ((word.fetch_or(bitOf(index), std::memory_order_acq_rel) & bitOf(index)) != 0)
    dropHold(endpoint);
}

// Calls `visit(index)` for each endpoint in `bits`, a copy of word `at`.
template <typename Visit>
void forEachBit(std::uint32_t at, std::uint64_t bits, Visit visit) noexcept {
  for (; bits != 0; bits &= bits - 1)  // clears one bit per round
    visit(at * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits)));
}

void removeDead() noexcept {
  for (std::uint32_t at = 0; at < kHolders; ++at) {
    std::uint64_t owner = gPool->holders[at].owner.load(std::memory_order_acquire);
    // Takes the holder over first, so that only one relative clears it, and another can if this one
    // dies.
    if (owner != 0 && isDead(owner) &&
        gPool->holders[at].owner.compare_exchange_strong(
            owner, gIdentity.load(std::memory_order_relaxed), std::memory_order_acq_rel))
      removeHolder(at);
  }
}

HolderId findFreeHolder() noexcept {
  const std::uint64_t own = gIdentity.load(std::memory_order_relaxed);
  for (std::uint32_t at = 0; at < kHolders; ++at) {
    std::uint64_t nobody = 0;
    if (gPool->holders[at].owner.load(std::memory_order_relaxed) == 0 &&
        gPool->holders[at].owner.compare_exchange_strong(nobody, own, std::memory_order_acq_rel))
      return at;
  }
  return kNobody;
}

HolderId takeHolder() noexcept {
  HolderId holder = findFreeHolder();
  if (holder == kNobody) {
    removeDead();
    holder = findFreeHolder();
  }
  return holder;
}

bool hasRoom() noexcept {
  if (__builtin_expect(gPool->used.load(std::memory_order_relaxed) < kMostInUse, 1)) {
    if (__builtin_expect(gPool->refused.load(std::memory_order_relaxed) != 0, 0))
      gPool->refused.store(0, std::memory_order_relaxed);
    return true;
  }
  if (gPool->refused.fetch_add(1, std::memory_order_relaxed) % kRetry != 0)
    return false;
  removeDead();
  return gPool->used.load(std::memory_order_relaxed) < kMostInUse;
}

void reset(Endpoint& endpoint, FdKind kind, bool inherited) noexcept {
  endpoint.kind = kind;
  endpoint.inherited = inherited;
  endpoint.lineage = lineage();
  endpoint.peerInode.store(0, std::memory_order_relaxed);
  for (Direction& way : endpoint.ways) {
    way.offset.store(0, std::memory_order_relaxed);
    way.running.store(0, std::memory_order_relaxed);
    way.inexact.store(0, std::memory_order_relaxed);
  }
}

}  // namespace

bool start() noexcept {
  auto* pool = static_cast<Pool*>(mapMemory(sizeof(Pool), MAP_SHARED));
  auto* references = static_cast<References*>(mapMemory(sizeof(References), MAP_PRIVATE));
  auto* self = static_cast<Self*>(mapMemory(4096, MAP_PRIVATE));
  if (pool == nullptr || references == nullptr || self == nullptr ||
      rawSyscall(SYS_madvise, core::asLong(self), 4096, MADV_WIPEONFORK) != 0) {
    unmapMemory(pool, sizeof(Pool));
    unmapMemory(references, sizeof(References));
    unmapMemory(self, 4096);
    return false;
  }
  gPool = pool;
  gReferences = references;
  gSelf = self;
  gIdentity.store(identityOfThis(), std::memory_order_relaxed);
  self->holder.store(takeHolder() + 1, std::memory_order_relaxed);
  return true;
}

Endpoint* find(FdEntry entry) noexcept {
  if (!entry.hasEndpoint() || entry.index() >= kEndpoints)
    return nullptr;
  Endpoint& endpoint = gPool->endpoints[entry.index()];
  return generationOf(endpoint.life.load(std::memory_order_acquire)) == entry.generation()
             ? &endpoint
             : nullptr;
}

FdEntry allocate(FdKind kind, bool inherited) noexcept {
  constexpr FdEntry kNone(FdKind::Other, 0, 0);
  Holder* own = self();
  if (own == nullptr || !hasRoom())
    return kNone;
  for (std::uint32_t tries = 0; tries < kEndpoints; ++tries) {
    const std::uint32_t index = gPool->next.fetch_add(1, std::memory_order_relaxed) % kEndpoints;
    Endpoint& endpoint = gPool->endpoints[index];
    std::uint64_t life = endpoint.life.load(std::memory_order_relaxed);
    const std::uint32_t generation = generationOf(life) + 1;
    if (static_cast<std::uint32_t>(life) != 0 ||
        !endpoint.life.compare_exchange_strong(
            life, lifeOf(generation, 1), std::memory_order_acquire))
      continue;
    gPool->used.fetch_add(1, std::memory_order_relaxed);
    reset(endpoint, kind, inherited);
    gReferences->of[index].store(1, std::memory_order_relaxed);
    own->held[index / 64].fetch_or(bitOf(index), std::memory_order_acq_rel);
    return {kind, index, generation};
  }
  return kNone;
}

bool addReference(FdEntry entry) noexcept {
  if (find(entry) == nullptr)
    return false;
  std::atomic<std::uint32_t>& references = gReferences->of[entry.index()];
  std::uint32_t seen = 0;
  return core::exchangeWith(references, seen, [](std::uint32_t before) {
    return before == 0 ? before : before + 1;  // 0: another thread has just closed the last one
  });
}

void dropReference(FdEntry entry) noexcept {
  Endpoint* endpoint = find(entry);
  if (endpoint == nullptr ||
      gReferences->of[entry.index()].fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  Holder* own = self();
  const std::uint64_t bit = bitOf(entry.index());
  if (own != nullptr &&
      (own->held[entry.index() / 64].fetch_and(~bit, std::memory_order_acq_rel) & bit) != 0)
    dropHold(*endpoint);
}

bool mayBeLastReference(FdEntry entry) noexcept {
  return find(entry) != nullptr &&
         gReferences->of[entry.index()].load(std::memory_order_relaxed) <= 1;
}

HolderId makeHolder() noexcept {
  const Holder* own = self();
  const HolderId child = own == nullptr ? kNobody : takeHolder();
  if (child == kNobody)
    return kNobody;
  for (std::uint32_t at = 0; at < kWords; ++at) {
    forEachBit(at, own->held[at].load(std::memory_order_acquire), [&](std::uint32_t index) {
      const std::uint64_t life = gPool->endpoints[index].life.load(std::memory_order_acquire);
      if (generationOf(life) % 2 != 0)
        holdFor(gPool->holders[child], index, generationOf(life));
    });
  }
  return child;
}

void removeHolder(HolderId holder) noexcept {
  if (holder == kNobody)
    return;
  Holder& gone = gPool->holders[holder];
  for (std::uint32_t at = 0; at < kWords; ++at) {
    if (gone.held[at].load(std::memory_order_relaxed) != 0)
      forEachBit(at, gone.held[at].exchange(0, std::memory_order_acq_rel), [](std::uint32_t index) {
        dropHold(gPool->endpoints[index]);
      });
  }
  gone.owner.store(0, std::memory_order_release);
}

bool isNewChild() noexcept {
  return __builtin_expect(gSelf->holder.load(std::memory_order_relaxed) == 0, 0);
}

bool enter(HolderId holder) noexcept {
  std::uint32_t nobody = 0;
  if (!gSelf->holder.compare_exchange_strong(nobody, kNobody, std::memory_order_acq_rel)) {
    removeHolder(holder);
    return false;
  }
  gLineage.fetch_add(1, std::memory_order_relaxed);
  std::uint64_t parent = gIdentity.load(std::memory_order_relaxed);
  const std::uint64_t own = identityOfThis();
  gIdentity.store(own, std::memory_order_relaxed);
  // If the parent has died meanwhile, a relative may have cleared everything that it owned.
  if (holder == kNobody ||
      !gPool->holders[holder].owner.compare_exchange_strong(parent, own, std::memory_order_acq_rel))
    holder = takeHolder();
  if (holder == kNobody)
    return false;
  gSelf->holder.store(holder + 1, std::memory_order_release);
  return true;
}

void hold(FdEntry entry) noexcept {
  Holder* own = self();
  if (own != nullptr && entry.hasEndpoint() && entry.index() < kEndpoints)
    holdFor(*own, entry.index(), entry.generation());
}

std::uint16_t lineage() noexcept {
  return gLineage.load(std::memory_order_relaxed);
}

}  // namespace sonde::preload::fd_endpoints
