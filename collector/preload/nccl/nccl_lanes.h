// The ends of NCCL's channels to peers, and the order of the calls to each. Any thread; nothing
// locks or allocates.
#pragma once

#include "collector/preload/nccl/nccl_pool.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload::nccl {

// One end of a channel to a peer, or the order of the calls to it.
struct Lane {
  std::atomic<std::uint64_t> key;      // 0: free; 1: was one of a communicator that has gone
  std::atomic<std::uint64_t> defined;  // as Communicator's
  std::atomic<std::uint64_t> count;    // of bytes, or of calls
};

struct LaneName {
  Handle communicator;
  std::int32_t pid = 0;    // whose the communicator is, which then is none here; 0: this process's
  std::int32_t rank = -1;  // of the process whose communicator it is
  std::int32_t peer = -1;
  std::uint8_t channel = 0;
  bool send = false;
  bool peerToPeer = false;  // NCCL has connections of their own for sends and receives
};

// nullptr: there are more than the table holds, or another thread makes this one anew just now.
Lane* findLane(const LaneName& name) noexcept;
// The id of the channel in the spool of this process image; 0: there is no room.
std::uint32_t channelId(Lane& lane, const LaneName& name) noexcept;

// How many sends, or receives, there were before with the peer in this communicator, in the order
// of the host's calls: the n-th send here is the n-th receive there. -1: there is no room to count.
std::int64_t countPeerCall(Handle communicator, std::int32_t peer, bool send) noexcept;
void giveBackPeerCall(Handle communicator,
                      std::int32_t peer,
                      bool send,
                      std::uint64_t before) noexcept;

// Those of the communicator of this index, which goes.
void removeLanes(std::uint32_t index) noexcept;

}  // namespace sonde::preload::nccl
