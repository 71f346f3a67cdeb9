// The ends of NCCL's channels to peers, and the order of the calls to each peer. Any thread; no
// function locks or allocates.
#pragma once

#include "collector/preload/nccl/nccl_pool.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::nccl {

// One end of a channel to a peer, or the order of the calls to that peer.
struct Lane {
  std::atomic<std::uint64_t> key;      // 0: free; 1: belonged to a communicator that was destroyed
  std::atomic<std::uint64_t> defined;  // as Communicator's
  std::atomic<std::uint64_t> count;    // bytes, or calls
};

struct LaneName {
  Handle communicator;
  std::int32_t pid = 0;    // the process that owns the communicator; 0: this process
  std::int32_t rank = -1;  // rank of the process that owns the communicator
  std::int32_t peer = -1;
  std::uint8_t channel = 0;
  bool send = false;
  bool peerToPeer = false;  // NCCL has separate connections for sends and receives
};

// nullptr: the table is full, or another thread is just reusing this lane.
Lane* findLane(const LaneName& name) noexcept;
// The channel's id in this process image's spool; 0: no room.
std::uint32_t channelId(Lane& lane, const LaneName& name) noexcept;

// Returns the number of earlier sends, or receives, with the peer in this communicator, in the
// order of the host's calls: the n-th send here is the n-th receive there. -1: no room to count.
std::int64_t countPeerCall(Handle communicator, std::int32_t peer, bool send) noexcept;
void giveBackPeerCall(Handle communicator,
                      std::int32_t peer,
                      bool send,
                      std::uint64_t before) noexcept;

// Removes the lanes of the communicator with this index, which is being destroyed.
void removeLanes(std::uint32_t index) noexcept;

}  // namespace sonde::preload::nccl
