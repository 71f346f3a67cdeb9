// Maps each file descriptor of the process to what it leads to, for the wrappers in fd_calls*.cpp.
// Any thread and signal handlers may call every function; none takes a lock or changes errno.
//
// A descriptor has an entry in a two-level table that is private to the process; the entry refers
// to an Endpoint (fd_endpoints.h). fork() makes the child a holder of its parent's endpoints before
// the child exists. A child of raw clone does that itself at its first call here. Endpoints that
// its parent has given up by then are unknown to it.
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

// Allocates the table. Before that every descriptor reads as Other. False if there is no memory.
bool start() noexcept;
inline bool started() noexcept {
  return gDirectory.load(std::memory_order_relaxed) != nullptr;
}

// From now on every descriptor reads as Other, permanently.
void stop() noexcept;

// Whether the table has room for an entry of `fd`. Any other number (negative, or beyond the table)
// reads as Other, and storing an entry for it has no effect.
inline bool tracks(int fd) noexcept {
  return gDirectory.load(std::memory_order_acquire) != nullptr &&
         static_cast<std::uint32_t>(fd) < kPages * kPageFds;
}

// Returns the entry of `fd`; Unknown if it was not inspected yet. Two or three loads.
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

// Returns the endpoint of an entry; nullptr if it has none or is stale.
inline Endpoint* endpointOf(FdEntry entry) noexcept {
  return fd_endpoints::find(entry);
}

// Gives `fd` a new endpoint at offset 0. Returns an entry without endpoint if there is no room.
FdEntry openEndpoint(int fd, FdKind kind, bool inherited) noexcept;

// `fd` leads to nothing that is followed, or (Unknown) is to be inspected at its next use.
void setPlain(int fd, FdKind kind) noexcept;

// `fd` leads to a file; the entry identifies it.
void setFile(int fd, FdEntry entry) noexcept;

// Replaces the entry `before` of `fd` with `after`; neither has an endpoint. False if `fd` has
// another entry by now, which it keeps.
bool replacePlain(int fd, FdEntry before, FdEntry after) noexcept;

// `copy` now leads to the same as `fd`.
void duplicate(int fd, int copy) noexcept;

// Forgets the known descriptors among [first, last].
void forgetRange(unsigned first, unsigned last) noexcept;

// False if another descriptor of this process leads to the same endpoint.
bool mayBeLastReference(FdEntry entry) noexcept;

// Call around a fork: beforeFork() in the parent; afterFork() in parent and child, with the holder
// that beforeFork() returned. `child`: the return value of fork().
fd_endpoints::HolderId beforeFork() noexcept;
void afterFork(fd_endpoints::HolderId holder, long child) noexcept;

// Detects that this process is a new child that no wrapper created; returns whether it has just
// done so. All functions above except entryOf() and endpointOf() call it first. Such a child may
// come from daemon() or forkpty(), which replace descriptors 0 to 2, so these are forgotten.
bool settle() noexcept;

}  // namespace fd_table

// One call that moves bytes.
struct Crossing {
  std::uint64_t offset;
  bool exact;
};

// Bracket a call on `direction`. If an exception or a cancellation passes, the call counts as in
// flight for ever, so all later offsets on this direction are inexact, as they really are.
void beginCrossing(Direction& direction) noexcept;
Crossing endCrossing(Direction& direction, std::uint64_t bytes) noexcept;

}  // namespace sonde::preload
