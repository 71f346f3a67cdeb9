// Shared by the wrappers of functions that wait for something other than a thread: descriptors,
// time, child processes, signals. Any thread; keeps errno. A call that is cancelled, or left by
// longjmp, is not recorded.
#pragma once

#include "collector/preload/sync/interposer/waiting.h"

namespace sonde::preload::sync {

// Calls block(), which may wait. A call that returns within microseconds counts as not having
// waited.
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
