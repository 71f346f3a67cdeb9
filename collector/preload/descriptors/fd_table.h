// What each file descriptor of the process leads to, for the wrappers in fd_calls*.cpp. Every
// function may be called from any thread and from signal handlers, takes no lock and keeps errno.
//
// A descriptor has an entry in a two-level table that is private to the process; what it leads to
// is an Endpoint (fd_endpoints.h). fork() makes the child a holder of its parent's endpoints before
// there is a child; one of raw clone does so itself as soon as it gets here, and what its parent
// has given up by then it sees as unknown.
#pragma once

#include "collector/preload/descriptors/fd_endpoints.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload {

namespace fd_table {

inline constexpr std::uint32_t kPageFds = 1024;
inline constexpr std::uint32_t kPages = 1024;  // 1 Mi descriptors; higher ones are not followed

struct Page {
  std::atomic<std::uint64_t> entries[kPageFds];
};
struct Directory {
  std::atomic<Page*> pages[kPages];
};
extern std::atomic<Directory*> gDirectory;  // nullptr until start()

// Allocates the table. Until then every descriptor reads as Other. False when there is no memory
// for it.
bool start() noexcept;
inline bool started() noexcept {
  return gDirectory.load(std::memory_order_relaxed) != nullptr;
}

// Every descriptor reads as Other from now on, for good.
void stop() noexcept;

// Whether the table has room for an entry of `fd`. Any other number (negative, or beyond the table)
// reads as Other, and storing an entry for it does nothing.
inline bool tracks(int fd) noexcept {
  return gDirectory.load(std::memory_order_acquire) != nullptr &&
         static_cast<std::uint32_t>(fd) < kPages * kPageFds;
}

// What `fd` leads to; Unknown when nobody has looked yet. Two or three loads.
inline FdEntry entryOf(int fd) noexcept {
  const Directory* directory = gDirectory.load(std::memory_order_acquire);
  const auto number = static_cast<std::uint32_t>(fd);
  if (directory == nullptr || number >= kPages * kPageFds)
    return {FdKind::Other, 0, 0};
  const Page* page = directory->pages[number / kPageFds].load(std::memory_order_acquire);
  return page == nullptr
             ? FdEntry()
             : FdEntry(page->entries[number % kPageFds].load(std::memory_order_acquire));
}

// The endpoint of an entry; nullptr when it has none or outlived it.
inline Endpoint* endpointOf(FdEntry entry) noexcept {
  return fd_endpoints::find(entry);
}

// Gives `fd` an endpoint of its own, from offset 0. An entry without endpoint when there is no
// room.
FdEntry openEndpoint(int fd, FdKind kind, bool inherited) noexcept;

// `fd` leads to nothing that is followed, or (Unknown) has to be looked at when it is next used.
void setPlain(int fd, FdKind kind) noexcept;

// `fd` leads to a file; the entry says which.
void setFile(int fd, FdEntry entry) noexcept;

// `fd`, whose entry is `before`, has `after` from now on; neither has an endpoint. False when its
// entry is another one by now, which it keeps.
bool replacePlain(int fd, FdEntry before, FdEntry after) noexcept;

// `copy` now leads to where `fd` does.
void duplicate(int fd, int copy) noexcept;

// Forgets all of [first, last] that the table knows.
void forgetRange(unsigned first, unsigned last) noexcept;

// False when another descriptor of this process leads to the same endpoint.
bool mayBeLastReference(FdEntry entry) noexcept;

// Around a fork: the first in the parent; the second, with what the first returned, in both, where
// `child` is what fork() returned.
fd_endpoints::HolderId beforeFork() noexcept;
void afterFork(fd_endpoints::HolderId holder, long child) noexcept;

// Notices that this process is a new child that no wrapper made, and whether it has just done so.
// Every function above but entryOf() and endpointOf() calls it first. Such a child may be that of
// daemon() or forkpty(), which has put other files in the place of descriptors 0 to 2: these are
// forgotten.
bool settle() noexcept;

}  // namespace fd_table

// One call that moves bytes.
struct Crossing {
  std::uint64_t offset;
  bool exact;
};

// Brackets a call on `direction`. An exception or a cancellation that passes leaves the call in
// flight for ever, so that what follows on this direction is inexact, which it is.
void beginCrossing(Direction& direction) noexcept;
Crossing endCrossing(Direction& direction, std::uint64_t bytes) noexcept;

}  // namespace sonde::preload
