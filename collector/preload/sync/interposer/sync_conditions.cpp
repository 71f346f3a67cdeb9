// Condition variables. libc for x86-64 has two kinds. Programs linked before 2003 call functions of
// version GLIBC_2.2.5, whose variable is a pointer to another variable. All other programs call
// those of GLIBC_2.3.2. Each program gets the version that it is bound to.
//
// The wait includes the time until the thread has its mutex again. The thread that held the mutex
// meanwhile is not reported: the waker is the one that signalled.

#include "collector/core/platform/hooks.h"
#include "collector/preload/sync/interposer/waiting.h"

#include <pthread.h>

namespace sonde::preload::sync {
namespace {

using core::Real;

using WaitCall = int (*)(pthread_cond_t*, pthread_mutex_t*);
using UntilCall = int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*);
using ClockCall = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
using WakeCall = int (*)(pthread_cond_t*);

// The functions of one version.
struct Functions {
  Real<WaitCall> wait;
  Real<UntilCall> until;
  Real<WakeCall> signal;
  Real<WakeCall> broadcast;
  bool tells;  // the variable itself reports its users and how many have queued

  constexpr Functions(const char* version, bool itTells) noexcept
      : wait("pthread_cond_wait", version),
        until("pthread_cond_timedwait", version),
        signal("pthread_cond_signal", version),
        broadcast("pthread_cond_broadcast", version),
        tells(itTells) {}

  void resolve() noexcept {
    wait();
    until();
    signal();
    broadcast();
  }
};

#if defined(__x86_64__)
constinit Functions gNew{"GLIBC_2.3.2", true};
constinit Functions gOld{"GLIBC_2.2.5", false};
#else
constinit Functions gNew{nullptr, true};
#endif
constinit Real<ClockCall> gClockWait{"pthread_cond_clockwait"};

__attribute__((constructor(102))) void resolve() {
  gNew.resolve();
#if defined(__x86_64__)
  gOld.resolve();
#endif
  gClockWait();
}

bool isShared(const pthread_cond_t* condition) noexcept {
  return (condition->__data.__wrefs & 1) != 0;
}

// Returns the number of threads that have queued at a condition so far. Since 2.25 glibc counts
// them in its first word, above one bit. A thread that is about to wait holds the mutex, so none
// queues before it.
std::uint64_t turnOf(const pthread_cond_t* condition) noexcept {
  std::uint64_t queued = 0;
  __atomic_load(reinterpret_cast<const std::uint64_t*>(condition), &queued, __ATOMIC_ACQUIRE);
  return queued >> 1;
}

// The constants of all waits at conditions of one version.
struct Condition {
  pthread_cond_t* object;
  bool shared;
  std::uint64_t turn;
};

Condition conditionOf(pthread_cond_t* object, bool tells) noexcept {
  return {object, tells && isShared(object), tells ? turnOf(object) : 0};
}

template <typename Block>
int waitAt(const char* name, const Condition& condition, pthread_mutex_t* mutex, Block block) {
  if (!isOn())
    return block();
  const Call call = {name, wire::SyncObject::Condition, Rule::Any};
  const Wait wait = beginWait(call, {idOf(condition.object), condition.shared, condition.turn});
  // libc releases the mutex inside this call.
  const Post released = isAwaited(idOf(mutex)) ? beginPost(idOf(mutex)) : Post{};
  const int result = block();
  endPost(released, result != EINVAL && result != EPERM);
  endWait(wait, outcomeOf(result));
  return result;
}

int waitWith(Functions& real, pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return waitAt("pthread_cond_wait", conditionOf(condition, real.tells), mutex, [&] {
    return real.wait()(condition, mutex);
  });
}

int waitUntil(Functions& real,
              pthread_cond_t* condition,
              pthread_mutex_t* mutex,
              const timespec* until) {
  return waitAt("pthread_cond_timedwait", conditionOf(condition, real.tells), mutex, [&] {
    return real.until()(condition, mutex, until);
  });
}

int signalWith(Functions& real, pthread_cond_t* condition) {
  return posting(
      idOf(condition),
      [&] {
        return PostKind{0, real.tells ? turnOf(condition) : kNoTurn};
      },
      [&] { return real.signal()(condition); });
}

int broadcastWith(Functions& real, pthread_cond_t* condition) {
  return posting(
      idOf(condition),
      [&] {
        return PostKind{kWakesAll, real.tells ? turnOf(condition) : kNoTurn};
      },
      [&] { return real.broadcast()(condition); });
}

}  // namespace
}  // namespace sonde::preload::sync

using namespace sonde::preload::sync;

// Defines a function of this file under libc's name; the second version is the default.
#if defined(__x86_64__)
#define SONDE_TWO_VERSIONS(name)               \
  __asm__(".symver sonde_new_" #name "," #name \
          "@@GLIBC_2.3.2\n.symver "            \
          "sonde_old_" #name "," #name "@GLIBC_2.2.5")
#define SONDE_NEW(name) sonde_new_##name
#else
#define SONDE_NEW(name) name
#endif

SONDE_EXPORT int SONDE_NEW(pthread_cond_wait)(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return waitWith(gNew, condition, mutex);
}

SONDE_EXPORT int SONDE_NEW(pthread_cond_timedwait)(pthread_cond_t* condition,
                                                   pthread_mutex_t* mutex,
                                                   const timespec* until) {
  return waitUntil(gNew, condition, mutex, until);
}

SONDE_EXPORT int SONDE_NEW(pthread_cond_signal)(pthread_cond_t* condition) noexcept {
  return signalWith(gNew, condition);
}

SONDE_EXPORT int SONDE_NEW(pthread_cond_broadcast)(pthread_cond_t* condition) noexcept {
  return broadcastWith(gNew, condition);
}

SONDE_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition,
                                        pthread_mutex_t* mutex,
                                        clockid_t clock,
                                        const timespec* until) {
  const ClockCall real = gClockWait();
  if (real == nullptr)
    return EINVAL;
  return waitAt("pthread_cond_clockwait", conditionOf(condition, true), mutex, [=] {
    return real(condition, mutex, clock, until);
  });
}

#if defined(__x86_64__)
SONDE_EXPORT int sonde_old_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return waitWith(gOld, condition, mutex);
}

SONDE_EXPORT int sonde_old_pthread_cond_timedwait(pthread_cond_t* condition,
                                                  pthread_mutex_t* mutex,
                                                  const timespec* until) {
  return waitUntil(gOld, condition, mutex, until);
}

SONDE_EXPORT int sonde_old_pthread_cond_signal(pthread_cond_t* condition) noexcept {
  return signalWith(gOld, condition);
}

SONDE_EXPORT int sonde_old_pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  return broadcastWith(gOld, condition);
}

SONDE_TWO_VERSIONS(pthread_cond_wait);
SONDE_TWO_VERSIONS(pthread_cond_timedwait);
SONDE_TWO_VERSIONS(pthread_cond_signal);
SONDE_TWO_VERSIONS(pthread_cond_broadcast);
#endif
