// Between libsonde_preload.so and libsonde_memory.so, which stands in front of the functions that
// allocate memory: the first looks for the second's function when it is loaded, and brings it what
// it needs. Any thread; nothing of it locks, blocks or changes errno.
#pragma once

#include "collector/wire/memory_records.h"

#include <cstdint>

namespace sonde::preload::memory {

inline constexpr std::uint32_t kHooksVersion = 1;

struct Hooks {
  std::uint32_t version;
  bool (*records)();
  std::uint64_t (*ticks)();
  // False: it could not be recorded, and has been counted. `record` has everything but the header's
  // size and kind.
  bool (*allocated)(const wire::Allocation& record);
  void (*released)(const wire::Release& record);
  // There is no room to remember an allocation.
  void (*lose)();
  // A fact of the process, for the trace.
  void (*say)(const char* text);
};

// "sonde_memory_begin": once. `threshold`: the least bytes of malloc that are recorded.
using Begin = void (*)(const Hooks* hooks, std::uint64_t threshold);

}  // namespace sonde::preload::memory
