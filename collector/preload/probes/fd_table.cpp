#include "collector/preload/probes/fd_table.h"

#include "collector/core/syscalls.h"

#include <sys/mman.h>

namespace sonde::preload {
namespace fd_table {

std::atomic<Directory*> gDirectory{nullptr};

namespace {

using core::rawSyscall;

// Zeroed by the kernel in every child (MADV_WIPEONFORK).
struct Witness {
  std::atomic<std::uint32_t> here;
};

struct Pool {
  std::atomic<std::uint32_t>
      next;  // where to look for a free endpoint: the one freed longest ago, more or less
  Endpoint endpoints[kEndpoints];
};

constexpr std::uint32_t kTries = 4096;
constexpr std::uint64_t kUnknownWord = 0;

Witness* gWitness;
Pool* gPool;
std::atomic<std::uint16_t> gLineage{0};

void* map(std::size_t bytes, int kind) noexcept {
  const long address = rawSyscall(SYS_mmap,
                                  0,
                                  static_cast<long>(bytes),
                                  PROT_READ | PROT_WRITE,
                                  kind | MAP_ANONYMOUS | MAP_NORESERVE,
                                  -1,
                                  0);
  return address < 0 && address >= -4095 ? nullptr : reinterpret_cast<void*>(address);
}

void unmap(void* address, std::size_t bytes) noexcept {
  if (address != nullptr)
    rawSyscall(SYS_munmap, core::asLong(address), static_cast<long>(bytes));
}

bool tracks(int fd) noexcept {
  return gDirectory.load(std::memory_order_acquire) != nullptr &&
         static_cast<std::uint32_t>(fd) < kPages * kPageFds;
}

// The cell of `fd`, its page made when there is none yet; nullptr when there is no memory.
// Requires: tracks(fd).
std::atomic<std::uint64_t>* cellOf(int fd) noexcept {
  const auto number = static_cast<std::uint32_t>(fd);
  std::atomic<Page*>& slot = gDirectory.load(std::memory_order_relaxed)->pages[number / kPageFds];
  Page* page = slot.load(std::memory_order_acquire);
  if (page == nullptr) {
    auto* made = static_cast<Page*>(map(sizeof(Page), MAP_PRIVATE));
    if (made == nullptr)
      return nullptr;
    if (slot.compare_exchange_strong(page, made, std::memory_order_acq_rel))
      page = made;
    else
      unmap(made, sizeof(Page));
  }
  return &page->entries[number % kPageFds];
}

void reset(Endpoint& endpoint, FdKind kind, bool inherited) noexcept {
  endpoint.references.store(1, std::memory_order_relaxed);
  endpoint.pinned.store(0, std::memory_order_relaxed);
  endpoint.kind = kind;
  endpoint.inherited = inherited;
  endpoint.lineage = gLineage.load(std::memory_order_relaxed);
  endpoint.peerInode.store(0, std::memory_order_relaxed);
  for (Direction& way : endpoint.ways) {
    way.offset.store(0, std::memory_order_relaxed);
    way.running.store(0, std::memory_order_relaxed);
    way.inexact.store(0, std::memory_order_relaxed);
  }
}

FdEntry allocate(FdKind kind, bool inherited) noexcept {
  for (std::uint32_t tries = 0; tries < kTries; ++tries) {
    const std::uint32_t index = gPool->next.fetch_add(1, std::memory_order_relaxed) % kEndpoints;
    Endpoint& endpoint = gPool->endpoints[index];
    std::uint32_t generation = endpoint.generation.load(std::memory_order_relaxed);
    if (generation % 2 != 0 || !endpoint.generation.compare_exchange_strong(
                                   generation, generation + 1, std::memory_order_acquire))
      continue;
    reset(endpoint, kind, inherited);
    return {kind, index, generation + 1};
  }
  return {FdKind::Other, 0, 0};
}

void release(FdEntry entry) noexcept {
  Endpoint* endpoint = endpointOf(entry);
  if (endpoint == nullptr || endpoint->pinned.load(std::memory_order_acquire) != 0 ||
      endpoint->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  std::uint32_t generation = entry.generation();
  endpoint->generation.compare_exchange_strong(
      generation, generation + 1, std::memory_order_release);
}

void put(int fd, FdEntry entry) noexcept {
  std::atomic<std::uint64_t>* cell = tracks(fd) ? cellOf(fd) : nullptr;
  release(cell == nullptr ? entry
                          : FdEntry(cell->exchange(entry.word(), std::memory_order_acq_rel)));
}

// Calls `visit(cell)` for each cell of [first, last] whose page is there.
template <typename Visit>
void forEachCell(std::uint32_t first, std::uint32_t last, Visit visit) noexcept {
  Directory* directory = gDirectory.load(std::memory_order_acquire);
  if (directory == nullptr)
    return;
  if (last >= kPages * kPageFds)
    last = kPages * kPageFds - 1;
  for (std::uint32_t number = first / kPageFds; number < kPages && number <= last / kPageFds;
       ++number) {
    Page* page = directory->pages[number].load(std::memory_order_acquire);
    if (page == nullptr)
      continue;
    for (std::uint32_t at = 0; at < kPageFds; ++at) {
      if (number * kPageFds + at >= first && number * kPageFds + at <= last)
        visit(page->entries[at]);
    }
  }
}

void pinAll() noexcept {
  forEachCell(0, kPages * kPageFds - 1, [](std::atomic<std::uint64_t>& cell) {
    const FdEntry entry(cell.load(std::memory_order_acquire));
    if (Endpoint* endpoint = endpointOf(entry); endpoint != nullptr)
      endpoint->pinned.store(1, std::memory_order_release);
  });
}

}  // namespace

bool start() noexcept {
  auto* directory = static_cast<Directory*>(map(sizeof(Directory), MAP_PRIVATE));
  auto* pool = static_cast<Pool*>(map(sizeof(Pool), MAP_SHARED));
  auto* witness = static_cast<Witness*>(map(4096, MAP_PRIVATE));
  if (directory == nullptr || pool == nullptr || witness == nullptr ||
      rawSyscall(SYS_madvise, core::asLong(witness), 4096, MADV_WIPEONFORK) != 0) {
    unmap(directory, sizeof(Directory));
    unmap(pool, sizeof(Pool));
    unmap(witness, 4096);
    return false;
  }
  witness->here.store(1, std::memory_order_relaxed);
  gPool = pool;
  gWitness = witness;
  gDirectory.store(directory, std::memory_order_release);
  return true;
}

void settle() noexcept {
  if (gDirectory.load(std::memory_order_acquire) == nullptr ||
      __builtin_expect(gWitness->here.load(std::memory_order_relaxed) != 0, 1))
    return;
  gLineage.fetch_add(1, std::memory_order_relaxed);
  pinAll();
  gWitness->here.store(1, std::memory_order_relaxed);
}

Endpoint* endpointOf(FdEntry entry) noexcept {
  if (!entry.hasEndpoint() || entry.index() >= kEndpoints)
    return nullptr;
  Endpoint& endpoint = gPool->endpoints[entry.index()];
  return endpoint.generation.load(std::memory_order_acquire) == entry.generation() ? &endpoint
                                                                                   : nullptr;
}

FdEntry openEndpoint(int fd, FdKind kind, bool inherited) noexcept {
  settle();
  if (!tracks(fd))
    return {FdKind::Other, 0, 0};
  const FdEntry entry = allocate(kind, inherited);
  put(fd, entry);
  return entry;
}

void setPlain(int fd, FdKind kind) noexcept {
  settle();
  // A descriptor that was never looked at needs no page of its own to stay so.
  if (kind != FdKind::Unknown || entryOf(fd).kind() != FdKind::Unknown)
    put(fd, FdEntry(kind, 0, 0));
}

void duplicate(int fd, int copy) noexcept {
  settle();
  if (fd == copy)
    return;
  FdEntry entry = entryOf(fd);
  if (Endpoint* endpoint = endpointOf(entry); endpoint != nullptr)
    endpoint->references.fetch_add(1, std::memory_order_acq_rel);
  else if (entry.hasEndpoint())
    entry = FdEntry();
  put(copy, entry);
}

void forgetRange(unsigned first, unsigned last) noexcept {
  settle();
  forEachCell(first, last, [](std::atomic<std::uint64_t>& cell) {
    if (cell.load(std::memory_order_relaxed) != kUnknownWord)
      release(FdEntry(cell.exchange(kUnknownWord, std::memory_order_acq_rel)));
  });
}

bool mayBeLastReference(FdEntry entry) noexcept {
  settle();
  const Endpoint* endpoint = endpointOf(entry);
  return endpoint != nullptr && (endpoint->pinned.load(std::memory_order_relaxed) != 0 ||
                                 endpoint->references.load(std::memory_order_relaxed) == 1);
}

void beforeFork() noexcept {
  settle();
  pinAll();
}

std::uint16_t lineage() noexcept {
  return gLineage.load(std::memory_order_relaxed);
}

}  // namespace fd_table

void beginCrossing(Direction& direction) noexcept {
  const std::uint64_t before = direction.running.fetch_add(1, std::memory_order_acq_rel);
  if ((before & ~Direction::kOverlap) != 0)
    direction.running.fetch_or(Direction::kOverlap, std::memory_order_acq_rel);
}

Crossing endCrossing(Direction& direction, std::uint64_t bytes) noexcept {
  const std::uint64_t offset = direction.offset.fetch_add(bytes, std::memory_order_acq_rel);
  std::uint64_t before = direction.running.load(std::memory_order_acquire);
  std::uint64_t after = 0;
  do {
    // The last one out clears the mark: by then all that went is in the offset.
    after = (before & ~Direction::kOverlap) <= 1 ? 0 : before - 1;
  } while (!direction.running.compare_exchange_weak(before, after, std::memory_order_acq_rel));
  const bool exact =
      (before & Direction::kOverlap) == 0 && direction.inexact.load(std::memory_order_relaxed) == 0;
  return {offset, exact};
}

}  // namespace sonde::preload
