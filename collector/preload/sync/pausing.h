// What the wrappers of the functions that block without another thread's doing share: descriptors,
// time, child processes, signals. Any thread; keeps errno. A call that is cancelled, or left by
// longjmp, is not recorded.
#pragma once

#include "collector/preload/sync/waiting.h"

namespace sonde::preload::sync {

// block(), which may wait. One that returns within microseconds has not waited.
template <typename Block>
[[gnu::always_inline]] inline auto pausing(const char* call, Block block) {
  const std::uint64_t begin = isOn() && gHooks->records() ? gHooks->ticks() : 0;
  const auto result = block();
  if (begin != 0)
    gHooks->paused(call, begin);
  return result;
}

}  // namespace sonde::preload::sync
