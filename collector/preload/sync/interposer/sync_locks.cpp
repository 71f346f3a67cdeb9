// Mutexes and reader-writer locks. Each wrapper first tries the lock. A free one is taken as
// without Sonde, and not recorded.

#include "collector/core/platform/hooks.h"
#include "collector/preload/sync/interposer/waiting.h"

#include <pthread.h>

namespace sonde::preload::sync {
namespace {

using core::Real;

using MutexCall = int (*)(pthread_mutex_t*);
using MutexUntil = int (*)(pthread_mutex_t*, const timespec*);
using MutexClock = int (*)(pthread_mutex_t*, clockid_t, const timespec*);
using RwlockCall = int (*)(pthread_rwlock_t*);
using RwlockUntil = int (*)(pthread_rwlock_t*, const timespec*);
using RwlockClock = int (*)(pthread_rwlock_t*, clockid_t, const timespec*);

constinit Real<MutexCall> gLock{"pthread_mutex_lock"};
constinit Real<MutexCall> gTryLock{"pthread_mutex_trylock"};
constinit Real<MutexCall> gUnlock{"pthread_mutex_unlock"};
constinit Real<MutexUntil> gTimedLock{"pthread_mutex_timedlock"};
constinit Real<MutexClock> gClockLock{"pthread_mutex_clocklock"};
constinit Real<RwlockCall> gRead{"pthread_rwlock_rdlock"};
constinit Real<RwlockCall> gTryRead{"pthread_rwlock_tryrdlock"};
constinit Real<RwlockUntil> gTimedRead{"pthread_rwlock_timedrdlock"};
constinit Real<RwlockClock> gClockRead{"pthread_rwlock_clockrdlock"};
constinit Real<RwlockCall> gWrite{"pthread_rwlock_wrlock"};
constinit Real<RwlockCall> gTryWrite{"pthread_rwlock_trywrlock"};
constinit Real<RwlockUntil> gTimedWrite{"pthread_rwlock_timedwrlock"};
constinit Real<RwlockClock> gClockWrite{"pthread_rwlock_clockwrlock"};
constinit Real<RwlockCall> gRelease{"pthread_rwlock_unlock"};

// glibc before 2.30 may lose a wake-up if a try meets a wait (its bug 23844). There, recognised by
// the missing functions with a clock, Sonde leaves reader-writer locks to libc.
constinit bool gTriesRwlocks = false;

// Looked up before the program's own code runs, because a lookup takes locks of the loader. glibc
// before 2.30 lacks the functions with a clock; at the first lookup of a missing function the
// loader allocates memory for the error.
__attribute__((constructor(102))) void resolve() {
  gLock();
  gTryLock();
  gUnlock();
  gTimedLock();
  gClockLock();
  gRead();
  gTryRead();
  gTimedRead();
  gClockRead();
  gWrite();
  gTryWrite();
  gTimedWrite();
  gClockWrite();
  gRelease();
  gTriesRwlocks = gClockRead() != nullptr;
}

// A bit of the kind, with which PTHREAD_MUTEX_INITIALIZER starts.
constexpr int kProcessShared = 128;

Call mutexCall(const char* name) noexcept {
  return {name, wire::SyncObject::Mutex, Rule::Holder};
}

Call readCall(const char* name) noexcept {
  return {name, wire::SyncObject::Rwlock, Rule::Writer};
}

Call writeCall(const char* name) noexcept {
  return {name, wire::SyncObject::Rwlock, Rule::Last};
}

// For a lock that the calling thread holds.
PostKind releaseOf(const pthread_rwlock_t* lock) noexcept {
  return {lock->__data.__cur_writer != 0 ? kByWriter : 0, kNoTurn};
}

template <typename Block>
[[gnu::always_inline]] inline int lockMutex(const char* name, pthread_mutex_t* mutex, Block block) {
  return waiting(
      mutexCall(name),
      [=] {
        const bool shared = (mutex->__data.__kind & kProcessShared) != 0;
        return Awaited{idOf(mutex), shared, 0, shared ? 0 : mutex->__data.__owner};
      },
      [=] { return gTryLock()(mutex); },
      block);
}

template <typename Block>
[[gnu::always_inline]] inline int lockRwlock(const Call& call,
                                             pthread_rwlock_t* lock,
                                             Real<RwlockCall>& tryIt,
                                             Block block) {
  if (!gTriesRwlocks)
    return block();
  return waiting(
      call,
      [=] {
        const bool shared = lock->__data.__shared != 0;
        return Awaited{idOf(lock), shared, 0, shared ? 0 : lock->__data.__cur_writer};
      },
      [&] { return tryIt()(lock); },
      block);
}

// For functions that only a later libc has.
template <typename Function, typename... Arguments>
int callIfThere(Function real, Arguments... arguments) {
  return real == nullptr ? EINVAL : real(arguments...);
}

}  // namespace
}  // namespace sonde::preload::sync

using namespace sonde::preload::sync;

SONDE_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  return lockMutex("pthread_mutex_lock", mutex, [=] { return gLock()(mutex); });
}

SONDE_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  return lockMutex("pthread_mutex_timedlock", mutex, [=] { return gTimedLock()(mutex, until); });
}

SONDE_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex,
                                         clockid_t clock,
                                         const timespec* until) noexcept {
  const auto block = [=] { return callIfThere(gClockLock(), mutex, clock, until); };
  return isClock(clock) ? lockMutex("pthread_mutex_clocklock", mutex, block) : block();
}

SONDE_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  return posting(idOf(mutex), [=] { return gUnlock()(mutex); });
}

SONDE_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return lockRwlock(
      readCall("pthread_rwlock_rdlock"), lock, gTryRead, [=] { return gRead()(lock); });
}

SONDE_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock,
                                            const timespec* until) noexcept {
  const auto block = [=] { return gTimedRead()(lock, until); };
  return isTime(until) ? lockRwlock(readCall("pthread_rwlock_timedrdlock"), lock, gTryRead, block)
                       : block();
}

SONDE_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock,
                                            clockid_t clock,
                                            const timespec* until) noexcept {
  const auto block = [=] { return callIfThere(gClockRead(), lock, clock, until); };
  return isTime(until) && isClock(clock)
             ? lockRwlock(readCall("pthread_rwlock_clockrdlock"), lock, gTryRead, block)
             : block();
}

SONDE_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return lockRwlock(
      writeCall("pthread_rwlock_wrlock"), lock, gTryWrite, [=] { return gWrite()(lock); });
}

SONDE_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock,
                                            const timespec* until) noexcept {
  const auto block = [=] { return gTimedWrite()(lock, until); };
  return isTime(until) ? lockRwlock(writeCall("pthread_rwlock_timedwrlock"), lock, gTryWrite, block)
                       : block();
}

SONDE_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock,
                                            clockid_t clock,
                                            const timespec* until) noexcept {
  const auto block = [=] { return callIfThere(gClockWrite(), lock, clock, until); };
  return isTime(until) && isClock(clock)
             ? lockRwlock(writeCall("pthread_rwlock_clockwrlock"), lock, gTryWrite, block)
             : block();
}

SONDE_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  return posting(
      idOf(lock), [=] { return releaseOf(lock); }, [=] { return gRelease()(lock); });
}
