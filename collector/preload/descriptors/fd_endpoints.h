// The open file descriptions that a process and its forked relatives follow, and which of these
// processes hold each. Every function may be called from any thread and from signal handlers, takes
// no lock and keeps errno.
//
// An Endpoint is the open file description as far as its bytes are counted, shared by all
// descriptors that were dup'ed from one another. Endpoints lie in memory that forked children
// share, because they share the open file description: a byte that a child writes moves the offset
// that its parent sees.
//
//   private to a process     shared with its relatives
//   table of descriptors     Endpoint: generation | number of holders
//   references[endpoint]     Holder (a process): one bit for each endpoint that it holds
//
// A process holds an endpoint while any of its descriptors leads there; without holders it is free.
// Before a fork the parent makes the child a holder of all that it holds itself. A process that
// ends without closing leaves its bits behind: they are cleared by a relative that runs out of
// endpoints or of holders and finds the process dead. (What an exec drops is given up only then,
// too.) A killed process can lose the endpoint that it was about to take or to give up, never more.
//
// A process that cannot be a holder, because there are too many or because it has just been made
// by a raw clone, sees what it inherited for as long as a relative holds it, and opens none of its
// own.
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
  std::atomic<std::uint64_t> life;  // generation << 32 | holders; odd generations are in use
  FdKind kind;
  bool inherited;                        // was there before the image that first saw it
  std::uint16_t lineage;                 // how many forks after the image's start it was made
  std::atomic<std::uint64_t> peerInode;  // of a socketpair's other end; 0: unknown
  Direction ways[2];
};

// What a descriptor leads to. It names its endpoint by index and generation, so one that outlived
// its endpoint is recognised.
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
  constexpr bool hasEndpoint() const noexcept { return kind() > FdKind::File; }
  // Calls on it are bracketed: it has an endpoint, or is a file that is recorded.
  constexpr bool isFollowed() const noexcept { return kind() >= FdKind::File; }

 private:
  std::uint64_t word_ = 0;
};

namespace fd_endpoints {

inline constexpr std::uint32_t kEndpoints = 1 << 16;
// The rest stays free, so that a free one is never far.
inline constexpr std::uint32_t kMostInUse = kEndpoints / 16 * 15;
inline constexpr std::uint32_t kHolders = 512;  // processes alive at once

// A process as a holder; kNobody: none.
using HolderId = std::uint32_t;
inline constexpr HolderId kNobody = ~HolderId{0};

// Maps the memory and makes this process its first holder. False when there is no memory for it.
bool start() noexcept;

// nullptr when the entry has none or outlived it. Requires: start().
Endpoint* find(FdEntry entry) noexcept;

// An endpoint at offset 0 that one descriptor leads to. An entry without endpoint when there is
// none free.
FdEntry allocate(FdKind kind, bool inherited) noexcept;

// One descriptor of this process more leads to the entry's endpoint; false when it is gone.
bool addReference(FdEntry entry) noexcept;
void dropReference(FdEntry entry) noexcept;
// Whether one descriptor of this process leads there, at most. Relatives may have others.
bool mayBeLastReference(FdEntry entry) noexcept;

// In the parent, before a fork: a holder for the child, of all that this process holds.
HolderId makeHolder() noexcept;
// Gives up all that `holder` holds. kNobody is ignored.
void removeHolder(HolderId holder) noexcept;

// Whether this process is a new child, which has to call enter().
bool isNewChild() noexcept;
// In a new child: becomes `holder`, or with kNobody one of its own that holds nothing yet. False
// when another thread or an interrupted call is at it already, or there is no holder to be had.
bool enter(HolderId holder) noexcept;
// This process has a descriptor that leads to the entry's endpoint, if that is still there.
void hold(FdEntry entry) noexcept;

// How many forks this process is away from the start of its image.
std::uint16_t lineage() noexcept;

}  // namespace fd_endpoints
}  // namespace sonde::preload
