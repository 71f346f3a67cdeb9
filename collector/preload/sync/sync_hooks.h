// What libsonde_sync.so, which stands in front of the functions that threads wait in, needs of
// libsonde_preload.so. It asks for this table once, by dlsym("sonde_sync_hooks"), when it is
// loaded, and a table of another version is none. Any thread; nothing here locks, allocates or
// changes errno.
#pragma once

#include "collector/wire/records.h"

#include <cstdint>

namespace sonde::preload::sync {

inline constexpr std::uint32_t kHooksVersion = 4;

// Names a wait that the recorder is shown while it lasts.
using OpenWait = std::uint32_t;
inline constexpr OpenWait kNotShown = ~OpenWait{0};

struct Hooks {
  std::uint32_t version;
  bool (*records)();
  // The same, once for each wait: one that is let pass because the probe is masked is counted.
  bool (*admits)();
  std::uint64_t (*ticks)();
  // The kernel's id of the calling thread, which has a row from then on; 0: it can have none.
  std::int32_t (*thread)();
  // `record` has everything but the header's size, kind and subject.
  void (*waited)(const char* call, const wire::Handoff& record);
  // The calling thread was in `call` since `begin`, in ticks, for nothing that a thread of this
  // process does.
  void (*paused)(const char* call, std::uint64_t begin);
  // The calling thread is about to wait in `call`. `record` has begin, object and kind, and as
  // waker the thread that holds the object. Without an object it is a pause that began then.
  // `frame`: as in core/open_calls.h. goesOn(): it waits no longer.
  OpenWait (*waits)(const char* call, const wire::Handoff& record, const void* frame);
  void (*goesOn)(OpenWait wait);
};

// Called on each thread that has a row as the last of its own code.
using ThreadEnds = void (*)();
using FindHooks = const Hooks* (*)(std::uint32_t version, ThreadEnds threadEnds);

}  // namespace sonde::preload::sync
