// Mutexes, reader-writer locks, conditions, semaphores, barriers and futexes. A lock is released
// only by the thread that owns it. The owners are tracked here, so that no call waits for ever.
#include "tests/host/calls.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace host {
namespace {

constexpr int kMutexes = 6;

struct Locks {
  bool made;
  pthread_mutex_t mutex[kMutexes];
  const Area* owner[kMutexes];  // threads by their logs, because memory is reused
  pthread_rwlock_t rwlock;
  const Area* writer;
  int readers;
  pthread_cond_t condition;
  sem_t semaphore;
  pthread_barrier_t barrier;
  unsigned futex;
};

Locks gShared;
thread_local Locks tOwn;

void make(Locks& locks) noexcept {
  const int types[kMutexes] = {PTHREAD_MUTEX_NORMAL,
                               PTHREAD_MUTEX_RECURSIVE,
                               PTHREAD_MUTEX_ERRORCHECK,
                               PTHREAD_MUTEX_ERRORCHECK,
                               PTHREAD_MUTEX_ERRORCHECK,
                               PTHREAD_MUTEX_ADAPTIVE_NP};
  for (int at = 0; at < kMutexes; ++at) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, types[at]);
    if (at == 3)
      pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    if (at == 4)
      pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutexattr_setpshared(&attributes,
                                 at == 5 ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
    pthread_mutex_init(&locks.mutex[at], &attributes);
    locks.owner[at] = nullptr;
  }
  pthread_rwlock_init(&locks.rwlock, nullptr);
  pthread_cond_init(&locks.condition, nullptr);
  sem_init(&locks.semaphore, 0, 1);
  pthread_barrier_init(&locks.barrier, nullptr, 1);
  locks.made = true;
}

Locks& locksOf(Context& c) noexcept {
  Locks& locks = c.isConcurrent() ? tOwn : gShared;
  if (!locks.made)
    make(locks);
  return locks;
}

// A time in the past or near future, and impossible times.
timespec chooseUntil(Context& c) noexcept {
  timespec time{};
  const int which = c.choose(5, 60);
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_nsec += 500'000;
  if (time.tv_nsec >= 1'000'000'000) {
    time.tv_nsec -= 1'000'000'000;
    ++time.tv_sec;
  }
  const timespec others[] = {{0, 0}, {time.tv_sec, -1}, {time.tv_sec, 1'000'000'000}, {-1, 0}};
  return which == 0 ? time : others[which - 1];
}

const char* textOf(const timespec& time) noexcept {
  return time.tv_sec < 0 || time.tv_nsec < 0 || time.tv_nsec >= 1'000'000'000 ? "no time"
         : time.tv_sec == 0                                                   ? "past"
                                                                              : "soon";
}

clockid_t chooseClock(Context& c) noexcept {
  return c.oneOf<clockid_t>({CLOCK_REALTIME, CLOCK_MONOTONIC, -1, 99, CLOCK_THREAD_CPUTIME_ID}, 60);
}

void callMutex(Context& c) {
  Locks& locks = locksOf(c);
  const int at = c.choose(kMutexes, 20);
  const bool mine = locks.owner[at] == c.area;
  // Waiting for a normal mutex that is taken would last for ever.
  const bool mayWait = locks.owner[at] == nullptr || (mine && at >= 1 && at <= 4);
  const int how = c.choose(4, 40);
  int result = 0;
  if (how == 0 && mayWait) {
    c.callUnguarded("pthread_mutex_lock", "%d", at);
    result = pthread_mutex_lock(&locks.mutex[at]);
  } else if (how == 1) {
    const clockid_t clock = chooseClock(c);
    const timespec until = chooseUntil(c);
    c.callUnguarded("pthread_mutex_clocklock", "%d, %d, %s", at, clock, textOf(until));
    result = pthread_mutex_clocklock(&locks.mutex[at], clock, &until);
  } else {
    const timespec until = chooseUntil(c);
    c.callUnguarded("pthread_mutex_timedlock", "%d, %s", at, textOf(until));
    result = pthread_mutex_timedlock(&locks.mutex[at], &until);
  }
  c.result(result);
  if (result == 0)
    locks.owner[at] = c.area;
}

void callUnlock(Context& c) {
  Locks& locks = locksOf(c);
  const int at = c.choose(kMutexes, 20);
  // A mutex that is free or owned by another thread: only some kinds report an error.
  if (locks.owner[at] != c.area && (at == 0 || at == 5))
    return;
  c.callUnguarded("pthread_mutex_unlock", "%d", at);
  const int result = pthread_mutex_unlock(&locks.mutex[at]);
  c.result(result);
  if (result == 0 && at != 1)
    locks.owner[at] = nullptr;
}

void callRead(Context& c) {
  Locks& locks = locksOf(c);
  const int how = c.choose(3, 40);
  int result = 0;
  const timespec until = chooseUntil(c);
  if (how == 0 && (locks.writer == nullptr || locks.writer == c.area)) {
    c.callUnguarded("pthread_rwlock_rdlock", "%s", "");
    result = pthread_rwlock_rdlock(&locks.rwlock);
  } else if (how == 1) {
    const clockid_t clock = chooseClock(c);
    c.callUnguarded("pthread_rwlock_clockrdlock", "%d, %s", clock, textOf(until));
    result = pthread_rwlock_clockrdlock(&locks.rwlock, clock, &until);
  } else {
    c.callUnguarded("pthread_rwlock_timedrdlock", "%s", textOf(until));
    result = pthread_rwlock_timedrdlock(&locks.rwlock, &until);
  }
  c.result(result);
  locks.readers += result == 0;
}

void callWrite(Context& c) {
  Locks& locks = locksOf(c);
  const int how = c.choose(3, 40);
  int result = 0;
  const timespec until = chooseUntil(c);
  if (how == 0 && locks.readers == 0 && (locks.writer == nullptr || locks.writer == c.area)) {
    c.callUnguarded("pthread_rwlock_wrlock", "%s", "");
    result = pthread_rwlock_wrlock(&locks.rwlock);
  } else if (how == 1) {
    const clockid_t clock = chooseClock(c);
    c.callUnguarded("pthread_rwlock_clockwrlock", "%d, %s", clock, textOf(until));
    result = pthread_rwlock_clockwrlock(&locks.rwlock, clock, &until);
  } else {
    c.callUnguarded("pthread_rwlock_timedwrlock", "%s", textOf(until));
    result = pthread_rwlock_timedwrlock(&locks.rwlock, &until);
  }
  c.result(result);
  if (result == 0)
    locks.writer = c.area;
}

void callRelease(Context& c) {
  Locks& locks = locksOf(c);
  if (locks.readers == 0 && locks.writer != c.area) {
    callRead(c);
    return;
  }
  c.callUnguarded("pthread_rwlock_unlock", "%s", "");
  const int result = pthread_rwlock_unlock(&locks.rwlock);
  c.result(result);
  if (locks.writer != nullptr)
    locks.writer = nullptr;
  else
    --locks.readers;
}

void callCondition(Context& c) {
  Locks& locks = locksOf(c);
  constexpr int kAt = 2;
  const int how = c.choose(4, 30);
  if (how >= 2) {
    c.callUnguarded(how == 2 ? "pthread_cond_signal" : "pthread_cond_broadcast", "%s", "");
    c.result(how == 2 ? pthread_cond_signal(&locks.condition)
                      : pthread_cond_broadcast(&locks.condition));
    return;
  }
  // Also without the mutex: an error-checking one reports that.
  const timespec until = chooseUntil(c);
  const clockid_t clock = chooseClock(c);
  if (locks.owner[kAt] != c.area && locks.owner[kAt] != nullptr)
    return;
  if (how == 0)
    c.callUnguarded("pthread_cond_timedwait", "%d, %s", locks.owner[kAt] == c.area, textOf(until));
  else
    c.callUnguarded(
        "pthread_cond_clockwait", "%d, %d, %s", locks.owner[kAt] == c.area, clock, textOf(until));
  c.result(how == 0 ? pthread_cond_timedwait(&locks.condition, &locks.mutex[kAt], &until)
                    : pthread_cond_clockwait(&locks.condition, &locks.mutex[kAt], clock, &until));
}

void callSemaphore(Context& c) {
  Locks& locks = locksOf(c);
  const int how = c.choose(4, 30);
  const timespec until = chooseUntil(c);
  int result = 0;
  if (how == 0) {
    c.call("sem_wait", "%s", "");  // interrupted if there is nothing
    result = sem_wait(&locks.semaphore);
  } else if (how == 1) {
    c.callUnguarded("sem_timedwait", "%s", textOf(until));
    result = sem_timedwait(&locks.semaphore, &until);
  } else if (how == 2) {
    const clockid_t clock = chooseClock(c);
    c.callUnguarded("sem_clockwait", "%d, %s", clock, textOf(until));
    result = sem_clockwait(&locks.semaphore, clock, &until);
  } else {
    c.callUnguarded("sem_post", "%s", "");
    result = sem_post(&locks.semaphore);
  }
  c.result(result);
  int value = 0;
  sem_getvalue(&locks.semaphore, &value);
  c.note("%d", value);
}

// A semaphore that would overflow.
void callFullSemaphore(Context& c) {
  sem_t full;
  sem_init(&full, 0, SEM_VALUE_MAX);
  c.callUnguarded("sem_post", "%s", "full");
  c.result(sem_post(&full));
}

void callBarrier(Context& c) {
  c.callUnguarded("pthread_barrier_wait", "%s", "");
  c.result(pthread_barrier_wait(&locksOf(c).barrier));
}

// The system call as C++'s own classes make it; also other calls through syscall(2).
void callFutex(Context& c) {
  Locks& locks = locksOf(c);
  const int operations[] = {FUTEX_WAIT,
                            FUTEX_WAKE,
                            FUTEX_WAIT_BITSET,
                            FUTEX_WAKE_BITSET,
                            FUTEX_REQUEUE,
                            FUTEX_CMP_REQUEUE,
                            FUTEX_WAKE_OP,
                            FUTEX_LOCK_PI,
                            99,
                            -1};
  const int operation = c.oneOf(operations, 20) | (c.choose(2) == 0 ? FUTEX_PRIVATE_FLAG : 0);
  const char* place = nullptr;
  unsigned* const at = c.pointer(locks.futex, place, true);
  const bool waits = (operation & 0x7f) == FUTEX_WAIT || (operation & 0x7f) == FUTEX_WAIT_BITSET;
  const timespec soon = {0, c.oneOf<long>({500'000, 0, -1, 1'000'000'000})};
  if ((operation & 0x7f) == FUTEX_LOCK_PI)
    locks.futex = 0;
  const long value = waits ? c.oneOf<long>({0, 1}) : c.oneOf<long>({1, 0, INT_MAX, -1});
  c.callUnguarded(
      "syscall", "futex %s, %#x, %ld, %ld", place, operation, value, waits ? soon.tv_nsec : 0);
  const long result = waits ? syscall(SYS_futex, at, operation, value, &soon, nullptr, ~0U)
                            : syscall(SYS_futex, at, operation, value, 1L, &locks.futex, 0);
  c.result(result);
  locks.futex = 0;
}

void callSyscall(Context& c) {
  const long numbers[] = {SYS_getppid, SYS_close, -1, 99999, SYS_dup, SYS_read};
  const long number = c.oneOf(numbers, 20);
  const int fd = c.fd(Kind::PipeOut);
  c.call("syscall", "%ld, %d", number == SYS_getppid ? 0 : number, fd);
  const long result = syscall(number, fd, nullptr, 0L);
  c.result(number == SYS_getppid ? 0 : result);
}

constexpr NamedCall kCalls[] = {{"pthread_mutex_lock", callMutex, 0},
                                {"pthread_mutex_timedlock", callMutex, 0},
                                {"pthread_mutex_clocklock", callMutex, 0},
                                {"pthread_mutex_unlock", callUnlock, 0},
                                {"pthread_rwlock_rdlock", callRead, 0},
                                {"pthread_rwlock_timedrdlock", callRead, 0},
                                {"pthread_rwlock_clockrdlock", callRead, 0},
                                {"pthread_rwlock_wrlock", callWrite, 0},
                                {"pthread_rwlock_timedwrlock", callWrite, 0},
                                {"pthread_rwlock_clockwrlock", callWrite, 0},
                                {"pthread_rwlock_unlock", callRelease, 0},
                                {"pthread_cond_timedwait", callCondition, 0},
                                {"pthread_cond_clockwait", callCondition, 0},
                                {"pthread_cond_signal", callCondition, 0},
                                {"pthread_cond_broadcast", callCondition, 0},
                                {"sem_wait", callSemaphore, 0},
                                {"sem_timedwait", callSemaphore, 0},
                                {"sem_clockwait", callSemaphore, 0},
                                {"sem_post", callSemaphore, 0},
                                {"sem_post", callFullSemaphore, 0},
                                {"pthread_barrier_wait", callBarrier, 0},
                                {"syscall", callFutex, 0},
                                {"syscall", callSyscall, 0}};

}  // namespace

void forgetLocks() noexcept {
  gShared = {};
  tOwn = {};
}

CallList lockCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
