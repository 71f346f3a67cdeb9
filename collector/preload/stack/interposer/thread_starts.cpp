// Intercepts the start of threads: each gets its timer before its routine runs.

#include "collector/core/platform/hooks.h"
#include "collector/preload/stack/interposer/sampling.h"
#include "collector/preload/stack/interposer/thread_copy.h"

#include <pthread.h>
#include <threads.h>

#include <atomic>
#include <cstddef>

namespace sonde::preload::stack {
namespace {

using CreateCall = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
using ThrdCall = int (*)(thrd_t*, thrd_start_t, void*);

constinit core::Real<CreateCall> gCreate{"pthread_create"};
constinit core::Real<ThrdCall> gThrdCreate{"thrd_create"};

__attribute__((constructor(102))) void resolve() {
  gCreate();
  gThrdCreate();
}

// Passes a new thread its routine. Does not use malloc(): a child of _Fork() may have inherited
// malloc's locks, and a new thread there would wait for them for ever.
struct Start {
  std::atomic<bool> isTaken;
  void (*routine)();
  void* argument;
  std::size_t stackBytes;
};
constexpr std::size_t kMostStarts = 512;  // threads being created at the same time
constinit Start gStarts[kMostStarts];

void giveBack(Start* start) noexcept {
  start->isTaken.store(false, std::memory_order_release);
}

// Runs on the new thread, whose exceptions and cancellation pass through it.
template <typename Result, typename Routine>
Result begin(void* pointer) {
  auto* const start = static_cast<Start*>(pointer);
  const auto routine = reinterpret_cast<Routine>(start->routine);
  void* const argument = start->argument;
  const std::size_t bytes = start->stackBytes;
  giveBack(start);
  beginThread(bytes);
  const Result result = routine(argument);
  endThread();  // before its state ends
  return result;
}

// nullptr: the thread starts with its own routine and is not sampled.
template <typename Routine>
Start* startOf(Routine routine, void* argument, const pthread_attr_t* attributes) noexcept {
  if (!samplesNewThreads())
    return nullptr;
  for (Start& start : gStarts) {
    if (start.isTaken.load(std::memory_order_relaxed) ||
        start.isTaken.exchange(true, std::memory_order_acquire))
      continue;
    start.routine = reinterpret_cast<void (*)()>(routine);
    start.argument = argument;
    start.stackBytes = stackBytes(attributes);
    return &start;
  }
  return nullptr;
}

}  // namespace
}  // namespace sonde::preload::stack

using namespace sonde::preload::stack;

SONDE_EXPORT int pthread_create(pthread_t* thread,
                                const pthread_attr_t* attributes,
                                void* (*routine)(void*),
                                void* argument) noexcept {
  Start* const start = startOf(routine, argument, attributes);
  if (start == nullptr)
    return gCreate()(thread, attributes, routine, argument);
  const int result = gCreate()(thread, attributes, begin<void*, void* (*)(void*)>, start);
  if (result != 0)
    giveBack(start);
  return result;
}

SONDE_EXPORT int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  Start* const start = startOf(routine, argument, nullptr);
  if (start == nullptr)
    return gThrdCreate()(thread, routine, argument);
  const int result = gThrdCreate()(thread, begin<int, thrd_start_t>, start);
  if (result != thrd_success)
    giveBack(start);
  return result;
}
