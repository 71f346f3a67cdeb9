#include "collector/preload/descriptors/fd_table.h"

#include "collector/core/platform/bounded.h"
#include "collector/preload/descriptors/fd_memory.h"

namespace sonde::preload {
namespace fd_table {

std::atomic<Directory*> gDirectory{nullptr};

namespace {

constexpr std::uint64_t kUnknownWord = 0;

// Returns the cell of `fd` and creates its page if needed; nullptr if there is no memory.
// Requires: tracks(fd).
std::atomic<std::uint64_t>* cellOf(int fd) noexcept {
  const auto number = static_cast<std::uint32_t>(fd);
  std::atomic<Page*>& slot = gDirectory.load(std::memory_order_relaxed)->pages[number / kPageFds];
  Page* page = slot.load(std::memory_order_acquire);
  if (page == nullptr) {
    auto* made = static_cast<Page*>(mapMemory(sizeof(Page), MAP_PRIVATE));
    if (made == nullptr)
      return nullptr;
    if (slot.compare_exchange_strong(page, made, std::memory_order_acq_rel))
      page = made;
    else
      unmapMemory(made, sizeof(Page));
  }
  return &page->entries[number % kPageFds];
}

void put(int fd, FdEntry entry) noexcept {
  std::atomic<std::uint64_t>* cell = tracks(fd) ? cellOf(fd) : nullptr;
  fd_endpoints::dropReference(
      cell == nullptr ? entry : FdEntry(cell->exchange(entry.word(), std::memory_order_acq_rel)));
}

// Calls `visit(cell)` for each cell of [first, last] whose page exists.
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

// If this is a new child, becomes a holder of its descriptors' endpoints.
void enter(fd_endpoints::HolderId holder) noexcept {
  if (fd_endpoints::enter(holder))
    forEachCell(0, kPages * kPageFds - 1, [](std::atomic<std::uint64_t>& cell) {
      fd_endpoints::hold(FdEntry(cell.load(std::memory_order_acquire)));
    });
}

}  // namespace

bool start() noexcept {
  auto* directory = static_cast<Directory*>(mapMemory(sizeof(Directory), MAP_PRIVATE));
  if (directory == nullptr || !fd_endpoints::start()) {
    unmapMemory(directory, sizeof(Directory));
    return false;
  }
  gDirectory.store(directory, std::memory_order_release);
  return true;
}

void stop() noexcept {
  gDirectory.store(nullptr, std::memory_order_release);
}

bool settle() noexcept {
  if (gDirectory.load(std::memory_order_acquire) == nullptr || !fd_endpoints::isNewChild())
    return false;
  enter(fd_endpoints::kNobody);
  forgetRange(0, 2);
  return true;
}

FdEntry openEndpoint(int fd, FdKind kind, bool inherited) noexcept {
  settle();
  if (!tracks(fd))
    return {FdKind::Other, 0, 0};
  const FdEntry entry = fd_endpoints::allocate(kind, inherited);
  put(fd, entry);
  return entry;
}

void setPlain(int fd, FdKind kind) noexcept {
  settle();
  // A descriptor that was never inspected needs no page to remain Unknown.
  if (kind != FdKind::Unknown || entryOf(fd).kind() != FdKind::Unknown)
    put(fd, FdEntry(kind, 0, 0));
}

void setFile(int fd, FdEntry entry) noexcept {
  settle();
  put(fd, entry);
}

bool replacePlain(int fd, FdEntry before, FdEntry after) noexcept {
  settle();
  std::atomic<std::uint64_t>* cell = tracks(fd) ? cellOf(fd) : nullptr;
  std::uint64_t word = before.word();
  return cell != nullptr &&
         cell->compare_exchange_strong(word, after.word(), std::memory_order_acq_rel);
}

void duplicate(int fd, int copy) noexcept {
  settle();
  if (fd == copy)
    return;
  FdEntry entry = entryOf(fd);
  if (entry.hasEndpoint() && !fd_endpoints::addReference(entry))
    entry = FdEntry();
  put(copy, entry);
}

void forgetRange(unsigned first, unsigned last) noexcept {
  settle();
  forEachCell(first, last, [](std::atomic<std::uint64_t>& cell) {
    if (cell.load(std::memory_order_relaxed) != kUnknownWord)
      fd_endpoints::dropReference(FdEntry(cell.exchange(kUnknownWord, std::memory_order_acq_rel)));
  });
}

bool mayBeLastReference(FdEntry entry) noexcept {
  settle();
  return fd_endpoints::mayBeLastReference(entry);
}

fd_endpoints::HolderId beforeFork() noexcept {
  settle();
  return started() ? fd_endpoints::makeHolder() : fd_endpoints::kNobody;
}

void afterFork(fd_endpoints::HolderId holder, long child) noexcept {
  if (child == 0 && started())
    enter(holder);
  else if (child < 0)
    fd_endpoints::removeHolder(holder);
}

}  // namespace fd_table

void beginCrossing(Direction& direction) noexcept {
  const std::uint64_t before = direction.running.fetch_add(1, std::memory_order_acq_rel);
  if ((before & ~Direction::kOverlap) != 0)
    direction.running.fetch_or(Direction::kOverlap, std::memory_order_acq_rel);
}

Crossing endCrossing(Direction& direction, std::uint64_t bytes) noexcept {
  const std::uint64_t offset = direction.offset.fetch_add(bytes, std::memory_order_acq_rel);
  std::uint64_t before = 0;
  const bool isOut = core::exchangeWith(direction.running, before, [](std::uint64_t calls) {
    // The last call to end clears the mark: the offset then includes all bytes.
    return (calls & ~Direction::kOverlap) <= 1 ? 0 : calls - 1;
  });
  // If the exchange gives up, the call counts as in flight for ever, and later ones as inexact.
  const bool exact = isOut && (before & Direction::kOverlap) == 0 &&
                     direction.inexact.load(std::memory_order_relaxed) == 0;
  return {offset, exact};
}

}  // namespace sonde::preload
