// What each file descriptor of the process leads to, for the wrappers in fd_calls*.cpp. Every
// function may be called from any thread and from signal handlers, takes no lock and keeps errno.
//
// A descriptor has an entry in a two-level table that is private to the process. What it leads to
// is an Endpoint: the open file description as far as its bytes are counted, shared by all
// descriptors that were dup'ed from one another. Endpoints lie in memory that forked children
// share, because they share the open file description: a byte that a child writes moves the offset
// that its parent sees. Entries name an endpoint by index and generation, so an entry that outlived
// its endpoint is recognised.
//
// At a fork every endpoint in use is pinned, that is, never recycled: nobody counts how many
// processes still have it. fork() pins before; a child of raw clone does so itself as soon as it
// gets here, and what its parent has given up by then it sees as unknown.
#pragma once

#include <atomic>
#include <cstdint>

namespace sonde::preload {

enum class FdKind : std::uint8_t {
  Unknown = 0,
  Other = 1,
  File = 2,
  Tcp = 3,
  Unix = 4,
  Pipe = 5,
  Count = 6
};

enum class Way : std::uint8_t { Send = 0, Receive = 1 };

// One direction of a byte stream.
struct Direction {
  static constexpr std::uint64_t kOverlap = std::uint64_t{1} << 63;
  std::atomic<std::uint64_t> offset;  // bytes that went this way so far
  std::atomic<std::uint64_t>
      running;  // calls in flight, and kOverlap since two of them were at once
  std::atomic<std::uint32_t> inexact;  // 1: bytes went this way that nobody counted
};

struct Endpoint {
  std::atomic<std::uint32_t> generation;  // odd: in use
  std::atomic<std::uint32_t> references;  // descriptors of the process that made it
  std::atomic<std::uint32_t> pinned;
  FdKind kind;
  bool inherited;                        // was there before the image that first saw it
  std::uint16_t lineage;                 // how many forks after the image's start it was made
  std::atomic<std::uint64_t> peerInode;  // of a socketpair's other end; 0: unknown
  Direction ways[2];
};

// The word of a table entry.
class FdEntry {
 public:
  constexpr FdEntry() noexcept = default;
  constexpr explicit FdEntry(std::uint64_t word) noexcept : word_(word) {}
  constexpr FdEntry(FdKind kind, std::uint32_t index, std::uint32_t generation) noexcept
      : word_(static_cast<std::uint64_t>(kind) | std::uint64_t{index} << 8 |
              std::uint64_t{generation} << 32) {}
  constexpr FdKind kind() const noexcept { return static_cast<FdKind>(word_ & 0xff); }
  constexpr std::uint32_t index() const noexcept { return static_cast<std::uint32_t>(word_) >> 8; }
  constexpr std::uint32_t generation() const noexcept {
    return static_cast<std::uint32_t>(word_ >> 32);
  }
  constexpr std::uint64_t word() const noexcept { return word_; }
  constexpr bool hasEndpoint() const noexcept { return kind() >= FdKind::File; }

 private:
  std::uint64_t word_ = 0;
};

namespace fd_table {

inline constexpr std::uint32_t kPageFds = 1024;
inline constexpr std::uint32_t kPages = 1024;  // 1 Mi descriptors; higher ones are not followed
inline constexpr std::uint32_t kEndpoints = 1 << 16;

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
Endpoint* endpointOf(FdEntry entry) noexcept;

// Gives `fd` an endpoint of its own, from offset 0. An entry without endpoint when there is no
// room.
FdEntry openEndpoint(int fd, FdKind kind, bool inherited) noexcept;

// `fd` leads to nothing that is followed, or (Unknown) has to be looked at when it is next used.
void setPlain(int fd, FdKind kind) noexcept;

// `copy` now leads to where `fd` does.
void duplicate(int fd, int copy) noexcept;

// Forgets all of [first, last] that the table knows.
void forgetRange(unsigned first, unsigned last) noexcept;

// False when another descriptor certainly leads to the same endpoint; of pinned ones nobody knows.
bool mayBeLastReference(FdEntry entry) noexcept;

// In the parent, before a fork.
void beforeFork() noexcept;

// Notices that this process is a new child. Every function above but entryOf() calls it first.
void settle() noexcept;

// How many forks this process is away from the start of its image.
std::uint16_t lineage() noexcept;

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
