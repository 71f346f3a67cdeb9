// The events that NCCL reports to a profiler plugin, independent of the interface's version;
// nccl_plugin.cpp handles the versions.
//
// Threads: calls come from the host's threads, proxy events from NCCL's proxy threads, and those of
// a captured graph from the driver's callback thread. No function here locks, allocates or fails.
// An event without room gets a handle of kind None, which every function accepts, and counts as
// lost.
//
// The end of a collective: NCCL stops its event when it has been enqueued. Its children are proxy
// operations and, on request, kernel channels; they may begin before or after that stop. Each time
// none of them runs any more and the collective has been enqueued, the last child's stop is written
// as the collective's end. The latest one is valid. A collective without children (inside a node,
// without kernel channels) has no known end. Neither has one whose children still ran when its
// communicator was finalized.
//
// A reported call is matched with the call that the program made (nccl_api.h): from version 5 on by
// its parent, before that by its function, size and buffers (nccl_same_call.h), because NCCL sorts
// the calls of a group. Work that NCCL derives from the call is part of it: in 2.28 an AlltoAll
// becomes sends and receives.
//
// The begin and end of a step. Send: from SendWait, when the data was passed to the network, to the
// step's stop. Without SendWait it begins at the step's start, when its buffer was posted to the
// device. Receive: from RecvWait, when the buffer was posted to the network (else the step's
// start), to RecvFlushWait, when the data had arrived (else RecvGPUWait, else the step's stop). All
// versions have these states. From version 4 on, SendWait and RecvFlushWait report the size. Before
// that a network plugin of version 3 reports it for sends; otherwise the operation's chunk size is
// used, the maximum that a step moves.
#pragma once

#include "collector/preload/nccl/nccl_communicators.h"
#include "collector/preload/nccl/nccl_pool.h"
#include "collector/preload/nccl/nccl_words.h"

#include <cstdint>

namespace sonde::preload::nccl {

struct CallFacts {
  const Function* function = nullptr;
  const char* name = nullptr;  // the API function; nullptr: reported by the plugin interface
  std::uint64_t count = 0;     // of elements, as NCCL counts them
  ElementType element{};
  std::uint64_t trafficBytes = 0;  // versions 1 and 2; 0: unknown
  std::int32_t root = -1;
  std::int32_t peer = -1;
  const char* algorithm = nullptr;
  const char* protocol = nullptr;
  std::uint8_t channels = 0;
  bool byCopyEngine = false;
  std::uint64_t number = 0;  // NCCL's number for the function; unset for sends and receives
  Launch launch = Launch::Unknown;
  Handle parent;               // from version 5 on: the result of startApi() for the call
  const void* send = nullptr;  // buffers; a send or receive has only one
  const void* receive = nullptr;
};

struct ProxyOpFacts {
  std::int32_t pid = 0;  // the process that owns the operation and its parent
  std::int32_t rank = -1;
  std::int32_t peer = -1;
  std::uint8_t channel = 0;
  std::int32_t chunkBytes = 0;
  bool send = false;
  bool peerToPeer = false;  // a send or receive, as NCCL reported for its parent
};

// The states of a proxy step that mark its begin and end.
enum class StepState : std::uint8_t { SendWait, ReceiveWait, ReceiveFlushWait, ReceiveDeviceWait };

Handle startCall(Handle communicator, const CallFacts& facts) noexcept;
Handle startProxyOp(Handle communicator, Handle parent, const ProxyOpFacts& facts) noexcept;
Handle startStep(Handle proxyOp, std::int32_t step) noexcept;
Handle startKernelChannel(Handle communicator, Handle parent) noexcept;

// `bytes` -1: unknown.
void reach(Handle step, StepState state, std::int64_t bytes) noexcept;
// A network plugin moves `bytes` for a step.
void addNetworkBytes(Handle step, std::uint64_t bytes) noexcept;
void stop(Handle event) noexcept;

// The communicator is being destroyed: open calls are written without an end.
void finalize(Handle communicator) noexcept;

}  // namespace sonde::preload::nccl
