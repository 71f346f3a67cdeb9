// The communicators of this process, and how many messages went which way through them.
//
// Every rank knows a communicator by the same key: which ranks of MPI_COMM_WORLD its members are,
// and how many communicators had the same ones before. Any thread; nothing locks, and memory comes
// from mmap when a communicator is first used.
#pragma once

#include "collector/preload/mpi/interposer/mpi_abi.h"
#include "collector/preload/mpi/interposer/mpi_neighbors.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::mpi {

// The messages of one way and tag between this process and one peer.
struct MessageCount {
  static constexpr std::uint64_t kReady = std::uint64_t{1} << 32;
  std::atomic<std::uint64_t> next;
  std::atomic<std::uint64_t> tagged;  // kReady | tag; 0: none yet. Of a table's first ones
  std::atomic<bool> spoilt;           // numbers from here on may be off

  static std::uint64_t tagOf(int tag) noexcept { return kReady | static_cast<std::uint32_t>(tag); }
  bool isOf(int tag) const noexcept { return tagged.load(std::memory_order_relaxed) == tagOf(tag); }
  bool isSpoilt() const noexcept { return spoilt.load(std::memory_order_relaxed); }
  void spoil() noexcept { spoilt.store(true, std::memory_order_relaxed); }

  // The next message's number. `shared`: several threads may ask at a time.
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
  MessageCount first[2];               // by Way, of the tag that came first
  bool foreign;                        // it is of another MPI_COMM_WORLD
};

struct Communicator {
  std::atomic<Handle> handle;  // 0: free
  std::uint32_t id;            // of its definition; 0: it could not be defined
  std::int32_t rank;           // of this process
  std::int32_t size;           // of this process's group
  std::int32_t peers;          // whom it can talk to: of two groups the other one
  bool inter;
  Neighbors neighbors;    // in its topology
  std::uint64_t members;  // their hash
  char key[40];
  char side[2];                         // of two groups this process's and …
  char otherSide[2];                    // … the peers'; else empty
  std::atomic<std::uint64_t> seq;       // of the next collective
  std::atomic<std::uint32_t> moreTags;  // counts that are not in `table`
  std::atomic<std::uint32_t> requests;  // that are kept of it
  std::atomic<bool> untold;             // nobody knows from whom one that was received came
  Peer* table;                          // `peers` of them; nullptr: there is no memory

  bool has(int peer) const noexcept { return peer >= 0 && peer < peers && table != nullptr; }
};

// MPI has begun. `world`: MPI_COMM_WORLD, 0: there is none yet; `parent`: MPI_Comm_get_parent's, 0:
// there is none. They are made known now, when every rank does so.
void beginCommunicators(Handle world, Handle parent) noexcept;

// The communicator behind a valid handle of the program's; nullptr: there is no room for more. One
// that came by a way that is not seen is known from here on.
Communicator* communicatorOf(Handle handle) noexcept;

// The same, of a handle that may mean nothing: nullptr, too, when it was never asked for.
Communicator* knownCommunicator(Handle handle) noexcept;

// A request of it was added, has gone: a communicator that the program frees before lasts until
// then, as it does in MPI.
void holdCommunicator(Communicator* communicator) noexcept;
void letCommunicatorGo(Communicator* communicator) noexcept;

// A copy of this one will be there later: its place among those of the same members is taken now,
// when every rank asks for it in the same order.
std::uint32_t reserveCopy(const Communicator& of) noexcept;

// It was just made, by a call that all its members make (`reserved`: and whose place was taken
// before); it is about to go.
void addCommunicator(Handle handle, const std::uint32_t* reserved = nullptr) noexcept;
void removeCommunicator(Handle handle) noexcept;

// Both require has(peer). The channel: 0 when it cannot be defined; the count: nullptr when there
// are more tags than the table holds.
std::uint32_t defineChannelTo(Communicator& communicator, int peer) noexcept;
MessageCount* findCount(Communicator& communicator, int peer, Way way, int tag) noexcept;

inline std::uint32_t channelTo(Communicator& communicator, int peer) noexcept {
  const std::uint32_t known = communicator.table[peer].channel.load(std::memory_order_relaxed);
  return __builtin_expect(known != 0, 1) ? known : defineChannelTo(communicator, peer);
}

// Whether a number that was taken of it may be off.
inline bool isOff(const Communicator& communicator, const MessageCount* count, Way way) noexcept {
  return count == nullptr || count->isSpoilt() ||
         (way == Way::Receive && communicator.untold.load(std::memory_order_relaxed));
}

inline MessageCount* countOf(Communicator& communicator, int peer, Way way, int tag) noexcept {
  MessageCount& first = communicator.table[peer].first[static_cast<int>(way)];
  return __builtin_expect(first.isOf(tag), 1) ? &first : findCount(communicator, peer, way, tag);
}

}  // namespace sonde::preload::mpi
