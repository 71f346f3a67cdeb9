// Semaphores and barriers. sem_post stays safe in signal handlers.

#include "collector/core/platform/hooks.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/preload/sync/interposer/waiting.h"

#include <pthread.h>
#include <semaphore.h>

#include <cstring>

SONDE_OLD_SYMBOL(pthread_testcancel);

namespace sonde::preload::sync {
namespace {

using core::Real;

using SemaphoreCall = int (*)(sem_t*);
using SemaphoreUntil = int (*)(sem_t*, const timespec*);
using SemaphoreClock = int (*)(sem_t*, clockid_t, const timespec*);
using BarrierCall = int (*)(pthread_barrier_t*);

constinit Real<SemaphoreCall> gWait{"sem_wait"};
constinit Real<SemaphoreCall> gTryWait{"sem_trywait"};
constinit Real<SemaphoreCall> gPost{"sem_post"};
constinit Real<SemaphoreUntil> gTimedWait{"sem_timedwait"};
constinit Real<SemaphoreClock> gClockWait{"sem_clockwait"};
constinit Real<BarrierCall> gBarrier{"pthread_barrier_wait"};

__attribute__((constructor(102))) void resolve() {
  gWait();
  gTryWait();
  gPost();
  gTimedWait();
  gClockWait();
  gBarrier();
}

constexpr Call kAtBarrier = {"pthread_barrier_wait", wire::SyncObject::Barrier, Rule::Arrival};

// Offsets of the shared flag since glibc 2.21 and 2.25; 0: private to the process.
constexpr std::size_t kSharedOfSemaphore = 8;
constexpr std::size_t kSharedOfBarrier = 12;

bool isShared(const void* object, std::size_t place) noexcept {
  int shared = 0;
  memcpy(&shared, static_cast<const char*>(object) + place, sizeof shared);
  return shared != 0;
}

Outcome outcomeOfSemaphore(int result) noexcept {
  return outcomeOf(result == 0 ? 0 : errno);
}

// Keeps errno unchanged except by the wait itself.
template <typename Block>
int waitAt(const char* name, sem_t* semaphore, Block block) {
  if (!isOn())
    return block();
  pthread_testcancel();  // sem_wait is a cancellation point even if it does not wait
  const int error = errno;
  if (gTryWait()(semaphore) == 0)
    return 0;
  const Wait wait = beginWait({name, wire::SyncObject::Semaphore, Rule::Any},
                              {idOf(semaphore), isShared(semaphore, kSharedOfSemaphore)});
  const bool taken = gTryWait()(semaphore) == 0;
  errno = error;
  if (taken) {
    dropWait(wait);
    return 0;
  }
  const int result = block();
  endWait(wait, outcomeOfSemaphore(result));
  return result;
}

}  // namespace
}  // namespace sonde::preload::sync

using namespace sonde::preload::sync;

SONDE_EXPORT int sem_wait(sem_t* semaphore) {
  return waitAt("sem_wait", semaphore, [=] { return gWait()(semaphore); });
}

SONDE_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* until) {
  const auto block = [=] { return gTimedWait()(semaphore, until); };
  return isTime(until) ? waitAt("sem_timedwait", semaphore, block) : block();
}

SONDE_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  const SemaphoreClock real = gClockWait();
  if (real == nullptr) {
    errno = EINVAL;
    return -1;
  }
  const auto block = [=] { return real(semaphore, clock, until); };
  return isTime(until) && isClock(clock) ? waitAt("sem_clockwait", semaphore, block) : block();
}

SONDE_EXPORT int sem_post(sem_t* semaphore) noexcept {
  return posting(idOf(semaphore), [=] { return gPost()(semaphore); });
}

// The last thread to arrive continues at once and has not waited.
SONDE_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  if (!isOn())
    return gBarrier()(barrier);
  const Wait wait = beginWait(kAtBarrier, {idOf(barrier), isShared(barrier, kSharedOfBarrier)});
  const std::uint32_t own = arriveAt(wait);
  const int result = gBarrier()(barrier);
  if (wait.begin != 0 && endRound(wait.place) == own + 1)
    dropWait(wait);
  else
    endWait(wait, Outcome::Woken);
  return result;
}
