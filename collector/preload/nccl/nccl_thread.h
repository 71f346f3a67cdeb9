// State that the probe keeps for each thread, in core's ThreadState. Only that thread may call.
#pragma once

#include "collector/core/thread_state.h"

#include <cstdint>

namespace sonde::preload::nccl {

struct ThreadCalls {
  std::uint32_t groups;  // open on this thread
  std::uint32_t group;   // number of outermost groups that it began
  std::uint64_t before;  // number of the last call when the outermost open group began
  std::uint64_t call;    // the call that the thread is in, as in nccl_api.h; 0: none
};

inline ThreadCalls& callsOf(core::ThreadState& thread) noexcept {
  return core::stateOf<ThreadCalls>(thread, wire::Probe::Nccl);
}
inline const ThreadCalls& callsOf(const core::ThreadState& thread) noexcept {
  return core::stateOf<ThreadCalls>(thread, wire::Probe::Nccl);
}

}  // namespace sonde::preload::nccl
