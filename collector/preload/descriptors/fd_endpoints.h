// The open file descriptions that a process and its forked relatives follow, and which of these
// processes hold each. Any thread and signal handlers may call every function; none takes a lock or
// changes errno.
//
// An Endpoint represents the open file description for the counting of bytes. All descriptors that
// were dup'ed from one another share it. Endpoints lie in memory that forked children share,
// because they share the open file description: a byte that a child writes moves the offset that
// its parent sees.
//
//   private to a process     shared with its relatives
//   table of descriptors     Endpoint: generation | number of holders
//   references[endpoint]     Holder (a process): one bit for each endpoint that it holds
//
// A process holds an endpoint while any of its descriptors leads there; without holders it is free.
// Before a fork the parent makes the child a holder of everything that it holds itself. A process
// that ends without closing leaves its bits behind. A relative that runs out of endpoints or
// holders clears them if it finds the process dead. (Endpoints that an exec drops are also freed
// only then.) A killed process can lose at most the one endpoint that it was about to take or give
// up.
//
// A process cannot be a holder if there are too many, or if a raw clone has just created it. It
// then sees inherited endpoints only as long as a relative holds them, and opens none of its own.
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
  std::atomic<std::uint32_t> inexact;  // 1: bytes went this way that no wrapper counted
};

struct Endpoint {
  std::atomic<std::uint64_t> life;  // generation << 32 | holders; odd generations are in use
  FdKind kind;
  bool inherited;         // existed before the image that first saw it
  std::uint16_t lineage;  // number of forks between the image's start and its creation
  std::atomic<std::uint64_t> peerInode;  // of a socketpair's other end; 0: unknown
  Direction ways[2];
};

// The target of a descriptor. An entry refers to its endpoint by index and generation, so it is
// recognised as stale when the endpoint is gone.
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
  // Calls on it are bracketed: it has an endpoint, or is a recorded file.
  constexpr bool isFollowed() const noexcept { return kind() >= FdKind::File; }

 private:
  std::uint64_t word_ = 0;
};

namespace fd_endpoints {

inline constexpr std::uint32_t kEndpoints = 1 << 16;
// The rest stays free, so that a search for a free endpoint is short.
inline constexpr std::uint32_t kMostInUse = kEndpoints / 16 * 15;
inline constexpr std::uint32_t kHolders = 512;  // processes alive at once

// A process as a holder; kNobody: none.
using HolderId = std::uint32_t;
inline constexpr HolderId kNobody = ~HolderId{0};

// Maps the memory and makes this process its first holder. False if there is no memory.
bool start() noexcept;

// nullptr if the entry has no endpoint or is stale. Requires: start().
Endpoint* find(FdEntry entry) noexcept;

// Returns an entry with an endpoint at offset 0 and one reference, or, if none is free, an entry
// without endpoint.
FdEntry allocate(FdKind kind, bool inherited) noexcept;

// One more descriptor of this process leads to the entry's endpoint. False if it is gone.
bool addReference(FdEntry entry) noexcept;
void dropReference(FdEntry entry) noexcept;
// False if other descriptors of this process lead there. Ignores those of relatives.
bool mayBeLastReference(FdEntry entry) noexcept;

// Call in the parent, before a fork. Creates a holder for the child, of everything that this
// process holds.
HolderId makeHolder() noexcept;
// Gives up everything that `holder` holds. Ignores kNobody.
void removeHolder(HolderId holder) noexcept;

// Whether this process is a new child that must call enter().
bool isNewChild() noexcept;
// Call in a new child. It becomes `holder` or, with kNobody, a new holder that holds nothing yet.
// False if another thread or an interrupted call is already doing this, or no holder is free.
bool enter(HolderId holder) noexcept;
// This process has a descriptor that leads to the entry's endpoint, if that is still there.
void hold(FdEntry entry) noexcept;

// The number of forks since the start of this image.
std::uint16_t lineage() noexcept;

}  // namespace fd_endpoints
}  // namespace sonde::preload
