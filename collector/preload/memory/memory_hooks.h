// The interface between libsonde_preload.so and libsonde_memory.so, which intercepts the functions
// that allocate memory. When libsonde_preload.so is loaded, it looks up the other library's
// function and passes it this table. Any thread; no function locks, blocks or changes errno.
#pragma once

#include "collector/wire/memory_records.h"

#include <cstdint>

namespace sonde::preload::memory {

inline constexpr std::uint32_t kHooksVersion = 1;

struct Hooks {
  std::uint32_t version;
  bool (*records)();
  std::uint64_t (*ticks)();
  // False: it could not be recorded, and was counted. `record` has everything except the header's
  // size and kind.
  bool (*allocated)(const wire::Allocation& record);
  void (*released)(const wire::Release& record);
  // Counts an allocation for which the table has no room.
  void (*lose)();
  // Reports a fact of the process in the trace.
  void (*say)(const char* text);
};

// "sonde_memory_begin": called once. `threshold`: malloc blocks from this size on are recorded.
using Begin = void (*)(const Hooks* hooks, std::uint64_t threshold);

}  // namespace sonde::preload::memory
