// Between libsonde_preload.so and libsonde_stack.so, which copies threads' stacks: the first looks
// for the second's functions when it is loaded, and brings it what it needs.
#pragma once

#include "collector/core/stack_events.h"
#include "collector/wire/spool_format.h"
#include "collector/wire/stack_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::stack {

inline constexpr std::uint32_t kHooksVersion = 5;

struct Hooks {
  std::uint32_t version;
  wire::StackRule rule;
  // With signals blocked, as in the handler, which must not interrupt itself: where a record of so
  // many bytes goes, nullptr when nothing is recorded now or there is no room; then that it is
  // there.
  char* (*reserve)(std::size_t bytes);
  void (*publish)(std::size_t bytes);
  std::uint64_t (*ticks)();
  // So many samples will be missing.
  void (*lose)(std::uint32_t count);
  // Lines of /proc/self/maps.
  void (*defineCode)(const char* lines, std::size_t length);
  std::uint32_t (*intern)(const char* text, std::size_t length);
  // A fact of the process, for the trace.
  void (*say)(const char* text);
  // Whether this is a child that runs on its parent's memory.
  bool (*inVforkChild)();
  // A forked child gets its spool, if it has none: its files are opened while it has one thread,
  // whose descriptors' numbers it would otherwise take for moments.
  void (*attach)();
};

// What libsonde_preload.so tells the other, once that has begun.
struct Sampler {
  void (*childBegins)();  // in a forked child, on its only thread
  // The process ends, or becomes another program: what the recorder cannot look at any more.
  void (*processEnds)();
  // No thread is interrupted any more.
  void (*stop)();
  core::TakeStack take;
};

// "sonde_stack_begin": once, where stacks are asked for. nullptr: the table is of another version.
using Begin = const Sampler* (*)(const Hooks* hooks);

}  // namespace sonde::preload::stack
