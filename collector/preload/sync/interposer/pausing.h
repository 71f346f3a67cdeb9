// What the wrappers of the functions that block without another thread's doing share: descriptors,
// time, child processes, signals. Any thread; keeps errno. A call that is cancelled, or left by
// longjmp, is not recorded.
#pragma once

#include "collector/preload/sync/interposer/waiting.h"

namespace sonde::preload::sync {

// block(), which may wait. One that returns within microseconds has not waited.
template <typename Block>
[[gnu::always_inline]] inline auto pausing(const char* call, Block block) {
  if (!isOn() || !gHooks->records())
    return block();
  wire::Handoff record{};
  record.beginTicks = gHooks->ticks();
  const OpenWait open = gHooks->waits(call, record, __builtin_frame_address(0));
  const auto result = block();
  if (open != kNotShown)
    gHooks->goesOn(open);
  gHooks->paused(call, record.beginTicks);
  return result;
}

}  // namespace sonde::preload::sync
