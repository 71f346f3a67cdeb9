// The communicators of this process, and the number of messages through them in each direction.
//
// Every rank knows a communicator by the same key. It consists of the ranks in MPI_COMM_WORLD of
// the members, and the number of earlier communicators with the same members. Any thread; no
// function locks. Memory comes from mmap when a communicator is first used.
#pragma once

#include "collector/preload/mpi/interposer/mpi_abi.h"
#include "collector/preload/mpi/interposer/mpi_neighbors.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::mpi {

// The messages with one direction and tag between this process and one peer.
struct MessageCount {
  static constexpr std::uint64_t kReady = std::uint64_t{1} << 32;
  std::atomic<std::uint64_t> next;
  std::atomic<std::uint64_t> tagged;  // kReady | tag; 0: none yet. For the first counts of a table
  std::atomic<bool> spoilt;           // later numbers may be wrong

  static std::uint64_t tagOf(int tag) noexcept { return kReady | static_cast<std::uint32_t>(tag); }
  bool isOf(int tag) const noexcept { return tagged.load(std::memory_order_relaxed) == tagOf(tag); }
  bool isSpoilt() const noexcept { return spoilt.load(std::memory_order_relaxed); }
  void spoil() noexcept { spoilt.store(true, std::memory_order_relaxed); }

  // Returns the next message's number. `shared`: several threads may call at once.
  std::uint64_t take(bool shared) noexcept {
    if (shared)
      return next.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t number = next.load(std::memory_order_relaxed);
    next.store(number + 1, std::memory_order_relaxed);
    return number;
  }
};

enum class Way : std::uint8_t { Send, Receive };

struct Peer {
  std::atomic<std::uint32_t> channel;  // 0: not defined yet
  MessageCount first[2];               // by Way, for the first tag used
  bool foreign;                        // in another MPI_COMM_WORLD
};

struct Communicator {
  std::atomic<Handle> handle;  // 0: free
  std::uint32_t id;            // of its definition; 0: it could not be defined
  std::int32_t rank;           // of this process
  std::int32_t size;           // of this process's group
  std::int32_t peers;          // ranks it can talk to: with two groups, the other one's
  bool inter;
  Neighbors neighbors;    // in its topology
  std::uint64_t members;  // their hash
  char key[40];
  char side[2];                         // with two groups: this process's and …
  char otherSide[2];                    // … the peers'; else empty
  std::atomic<std::uint64_t> seq;       // of the next collective
  std::atomic<std::uint32_t> moreTags;  // counts that are not in `table`
  std::atomic<std::uint32_t> requests;  // requests that refer to it
  std::atomic<bool> untold;             // the source of a received message is unknown
  Peer* table;                          // `peers` entries; nullptr: no memory

  bool has(int peer) const noexcept { return peer >= 0 && peer < peers && table != nullptr; }
};

// MPI has started. `world`: MPI_COMM_WORLD, 0: none yet; `parent`: from MPI_Comm_get_parent, 0:
// none. They are registered now, because every rank does so at this point.
void beginCommunicators(Handle world, Handle parent) noexcept;

// Returns the communicator with this valid handle; nullptr: no room for more. Registers a
// communicator whose creation was not seen.
Communicator* communicatorOf(Handle handle) noexcept;

// The same for a handle that may be invalid. Also nullptr if the handle was never looked up.
Communicator* knownCommunicator(Handle handle) noexcept;

// A request of the communicator was added or has ended. A communicator that the program frees
// earlier exists until then, as in MPI.
void holdCommunicator(Communicator* communicator) noexcept;
void letCommunicatorGo(Communicator* communicator) noexcept;

// The communicator is being copied by a nonblocking call. Reserves the copy's ordinal now, because
// every rank requests it in the same order.
std::uint32_t reserveCopy(const Communicator& of) noexcept;

// The communicator was just created by a call of all its members (`reserved`: with this ordinal,
// reserved earlier), or is about to be freed.
void addCommunicator(Handle handle, const std::uint32_t* reserved = nullptr) noexcept;
void removeCommunicator(Handle handle) noexcept;

// Both require has(peer). defineChannelTo() returns 0 if the channel cannot be defined. findCount()
// returns nullptr if there are more tags than the table holds.
std::uint32_t defineChannelTo(Communicator& communicator, int peer) noexcept;
MessageCount* findCount(Communicator& communicator, int peer, Way way, int tag) noexcept;

inline std::uint32_t channelTo(Communicator& communicator, int peer) noexcept {
  const std::uint32_t known = communicator.table[peer].channel.load(std::memory_order_relaxed);
  return __builtin_expect(known != 0, 1) ? known : defineChannelTo(communicator, peer);
}

// Whether a number taken from `count` may be wrong.
inline bool isOff(const Communicator& communicator, const MessageCount* count, Way way) noexcept {
  return count == nullptr || count->isSpoilt() ||
         (way == Way::Receive && communicator.untold.load(std::memory_order_relaxed));
}

inline MessageCount* countOf(Communicator& communicator, int peer, Way way, int tag) noexcept {
  MessageCount& first = communicator.table[peer].first[static_cast<int>(way)];
  return __builtin_expect(first.isOf(tag), 1) ? &first : findCount(communicator, peer, way, tag);
}

}  // namespace sonde::preload::mpi
