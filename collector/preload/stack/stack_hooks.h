// The interface between libsonde_preload.so and libsonde_stack.so, which copies threads' stacks.
// When libsonde_preload.so is loaded, it looks up the other library's functions and passes it this
// table.
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
  // Call these with signals blocked, as in the handler, which must not interrupt itself. reserve()
  // returns the place for a record of `bytes`, nullptr if nothing is recorded now or there is no
  // room. publish() makes the record visible.
  char* (*reserve)(std::size_t bytes);
  void (*publish)(std::size_t bytes);
  std::uint64_t (*ticks)();
  // Counts `count` missing samples.
  void (*lose)(std::uint32_t count);
  // Lines of /proc/self/maps.
  void (*defineCode)(const char* lines, std::size_t length);
  std::uint32_t (*intern)(const char* text, std::size_t length);
  // Reports a fact of the process in the trace.
  void (*say)(const char* text);
  // Whether this is a child that runs in its parent's memory.
  bool (*inVforkChild)();
  // Gives a forked child its spool, if it has none. The spool's files are opened while the child
  // has one thread, because they briefly take descriptor numbers that other threads could get.
  void (*attach)();
};

// The calls of libsonde_preload.so to the other library, after that has started.
struct Sampler {
  void (*childBegins)();  // in a forked child, on its only thread
  // The process ends or becomes another program: stores what the recorder cannot find out later.
  void (*processEnds)();
  // Stops interrupting threads.
  void (*stop)();
  core::TakeStack take;
};

// "sonde_stack_begin": called once, if stacks are requested. nullptr: the table has another
// version.
using Begin = const Sampler* (*)(const Hooks* hooks);

}  // namespace sonde::preload::stack
