// Where threads begin: each gets its timer before it runs what it is for.

#include "collector/core/hooks.h"
#include "collector/preload/stack/sampling.h"

#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

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

template <typename Routine>
struct Start {
  Routine routine;
  void* argument;
};

// Runs on the new thread, whose exceptions and cancellation pass through it.
template <typename Result, typename Routine>
Result begin(void* pointer) {
  const auto start = *static_cast<Start<Routine>*>(pointer);
  free(pointer);
  beginThread();
  const Result result = start.routine(start.argument);
  endThread();  // before its state ends
  return result;
}

// What the new thread begins with; nullptr: with its own routine.
template <typename Routine>
Start<Routine>* startOf(Routine routine, void* argument) {
  if (!samplesNewThreads())
    return nullptr;
  auto* start = static_cast<Start<Routine>*>(malloc(sizeof(Start<Routine>)));
  if (start != nullptr)
    *start = {routine, argument};
  return start;
}

}  // namespace
}  // namespace sonde::preload::stack

using namespace sonde::preload::stack;

SONDE_EXPORT int pthread_create(pthread_t* thread,
                                const pthread_attr_t* attributes,
                                void* (*routine)(void*),
                                void* argument) noexcept {
  auto* start = startOf(routine, argument);
  if (start == nullptr)
    return gCreate()(thread, attributes, routine, argument);
  const int result = gCreate()(thread, attributes, begin<void*, void* (*)(void*)>, start);
  if (result != 0)
    free(start);
  return result;
}

SONDE_EXPORT int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  auto* start = startOf(routine, argument);
  if (start == nullptr)
    return gThrdCreate()(thread, routine, argument);
  const int result = gThrdCreate()(thread, begin<int, thrd_start_t>, start);
  if (result != thrd_success)
    free(start);
  return result;
}
