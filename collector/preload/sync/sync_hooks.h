// The functions of libsonde_preload.so for libsonde_sync.so, which intercepts the functions that
// threads wait in. It looks the table up once, with dlsym("sonde_sync_hooks"), when it is loaded,
// and ignores a table of another version. Any thread; no function locks, allocates or changes
// errno.
#pragma once

#include "collector/wire/records.h"

#include <cstdint>

namespace sonde::preload::sync {

inline constexpr std::uint32_t kHooksVersion = 4;

// Identifies a wait that is shown to the recorder while it lasts.
using OpenWait = std::uint32_t;
inline constexpr OpenWait kNotShown = ~OpenWait{0};

struct Hooks {
  std::uint32_t version;
  bool (*records)();
  // The same; call it once per wait. If only the calibration mask keeps the probe off, the wait is
  // counted.
  bool (*admits)();
  std::uint64_t (*ticks)();
  // Registers the calling thread and returns its kernel id; 0: it cannot be registered.
  std::int32_t (*thread)();
  // `record` has everything except the header's size, kind and subject.
  void (*waited)(const char* call, const wire::Handoff& record);
  // The calling thread was in `call` since `begin` (ticks), without waiting for a thread of this
  // process.
  void (*paused)(const char* call, std::uint64_t begin);
  // The calling thread is about to wait in `call`. `record` has begin, object and kind, and as
  // waker the thread that holds the object. Without an object it is a pause that began then.
  // `frame`: as in core/open_calls.h. Call goesOn() when the wait is over.
  OpenWait (*waits)(const char* call, const wire::Handoff& record, const void* frame);
  void (*goesOn)(OpenWait wait);
};

// Called on each registered thread, last of its own code.
using ThreadEnds = void (*)();
using FindHooks = const Hooks* (*)(std::uint32_t version, ThreadEnds threadEnds);

}  // namespace sonde::preload::sync
