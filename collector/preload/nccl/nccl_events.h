// What NCCL tells a profiler plugin, whatever the version of the interface: nccl_plugin.cpp takes
// the versions apart.
//
// Threads: calls come from the host's threads, proxy events from NCCL's proxy threads, those of a
// captured graph from the driver's callback thread. Nothing here locks, allocates or fails: what
// finds no room gets a handle of kind None, which every function takes, and counts as lost.
//
// When a collective ends. NCCL stops its event when it has been enqueued. What follows are proxy
// operations and, when asked for, kernel channels, which are its children; they may begin before or
// after that stop. Each time none of them runs any more and the collective has been enqueued, the
// last one's stop is written as the collective's end; the latest holds. A collective without
// children (inside a node, without kernel channels) has no known end, nor has one whose children
// still ran when its communicator was finalized.
//
// A call that was seen when the program made it (nccl_api.h) is this one: from version 5 on by its
// parent, before that by its function, size and buffers (nccl_same_call.h); NCCL sorts the calls of
// a group. What NCCL makes of it (an AlltoAll of 2.28 is sends and receives) then is part of it.
//
// When a step begins and ends. Send: from SendWait, when the data was handed to the network (when
// that never came, from the step's start, which is when its buffer was posted to the device), to
// the step's stop. Receive: from RecvWait, when the buffer was posted to the network (else the
// step's start), to RecvFlushWait, when the data was there (else RecvGPUWait, else the step's
// stop). These states exist in all versions. The size comes with SendWait and RecvFlushWait from
// version 4 on; before that from a network plugin of version 3 (sends), else the operation's chunk
// size stands for it, which is the most that a step moves.
#pragma once

#include "collector/preload/nccl/nccl_communicators.h"
#include "collector/preload/nccl/nccl_pool.h"
#include "collector/preload/nccl/nccl_words.h"

#include <cstdint>

namespace sonde::preload::nccl {

struct CallFacts {
  const Function* function = nullptr;
  const char* name = nullptr;  // of the function of the API; nullptr: told by the plugin interface
  std::uint64_t count = 0;     // of elements, as NCCL counts them
  ElementType element{};
  std::uint64_t trafficBytes = 0;  // versions 1 and 2; 0: unknown
  std::int32_t root = -1;
  std::int32_t peer = -1;
  const char* algorithm = nullptr;
  const char* protocol = nullptr;
  std::uint8_t channels = 0;
  bool byCopyEngine = false;
  std::uint64_t number = 0;  // NCCL's, of the function; not of sends and receives
  Launch launch = Launch::Unknown;
  Handle parent;               // from version 5 on, what startApi() gave for the call
  const void* send = nullptr;  // buffers; of a send or receive only its own
  const void* receive = nullptr;
};

struct ProxyOpFacts {
  std::int32_t pid = 0;  // of the process that the operation, and its parent, is of
  std::int32_t rank = -1;
  std::int32_t peer = -1;
  std::uint8_t channel = 0;
  std::int32_t chunkBytes = 0;
  bool send = false;
  bool peerToPeer = false;  // of a send or receive, as NCCL has told of its parent
};

// The states of a proxy step that say when it begins and ends.
enum class StepState : std::uint8_t { SendWait, ReceiveWait, ReceiveFlushWait, ReceiveDeviceWait };

Handle startCall(Handle communicator, const CallFacts& facts) noexcept;
Handle startProxyOp(Handle communicator, Handle parent, const ProxyOpFacts& facts) noexcept;
Handle startStep(Handle proxyOp, std::int32_t step) noexcept;
Handle startKernelChannel(Handle communicator, Handle parent) noexcept;

// `bytes` -1: not said.
void reach(Handle step, StepState state, std::int64_t bytes) noexcept;
// A network plugin moves so many bytes for a step.
void addNetworkBytes(Handle step, std::uint64_t bytes) noexcept;
void stop(Handle event) noexcept;

// The communicator goes: what is still open is written without an end.
void finalize(Handle communicator) noexcept;

}  // namespace sonde::preload::nccl
