// Waits once in every function that the probe intercepts, with a known waker. Prints "main TID",
// and for each hand-off "FUNCTION KIND WAKEE WAKER" (tests/e2e/threads/sync_test.py). Exit status
// 1: a call behaved differently than without Sonde.
#include "tests/targets/sync/sync_threads.h"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>

#include <cerrno>
#include <functional>
#include <future>

namespace {

struct Step {
  const char* function;
  const char* kind;
  std::function<void()> prepare;  // on the main thread
  std::function<int()> wait;      // 0: it was woken
  std::function<void()> wake;     // on the main thread
};

constexpr long kLong = 60'000;

pthread_mutex_t gMutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t gCondition = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t gRwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_barrier_t gBarrier;
sem_t gSemaphore;
int gFutex = 0;

void run(const Step& step) {
  std::atomic<int> wakee{0};
  step.prepare();
  std::thread thread([&] {
    wakee.store(ownTid());
    errno = 4711;
    check(step.wait() == 0, step.function);
    check(errno == 4711, "errno");
  });
  awaitAsleep(wakee);
  step.wake();
  thread.join();
  std::printf("%s %s %d %d\n", step.function, step.kind, wakee.load(), ownTid());
}

void nothing() {}

template <typename Wait>
Step atMutex(const char* function, Wait wait) {
  const auto locked = [=] {
    const int result = wait(&gMutex);
    return result != 0 ? result : pthread_mutex_unlock(&gMutex);
  };
  return {function,
          "mutex",
          [] { pthread_mutex_lock(&gMutex); },
          locked,
          [] { pthread_mutex_unlock(&gMutex); }};
}

template <typename Wait>
Step atCondition(const char* function, bool toAll, Wait wait) {
  const auto locked = [=] {
    pthread_mutex_lock(&gMutex);
    const int result = wait(&gCondition, &gMutex);
    return result != 0 ? result : pthread_mutex_unlock(&gMutex);
  };
  const auto wake = [=] {
    toAll ? pthread_cond_broadcast(&gCondition) : pthread_cond_signal(&gCondition);
  };
  return {function, "condition", nothing, locked, wake};
}

template <typename Wait>
Step atRwlock(const char* function, Wait wait) {
  const auto locked = [=] {
    const int result = wait(&gRwlock);
    return result != 0 ? result : pthread_rwlock_unlock(&gRwlock);
  };
  return {function,
          "rwlock",
          [] { pthread_rwlock_wrlock(&gRwlock); },
          locked,
          [] { pthread_rwlock_unlock(&gRwlock); }};
}

template <typename Wait>
Step atSemaphore(const char* function, Wait wait) {
  return {function,
          "semaphore",
          nothing,
          [=] { return wait(&gSemaphore); },
          [] { sem_post(&gSemaphore); }};
}

void locks() {
  run(atMutex("pthread_mutex_lock", pthread_mutex_lock));
  run(atMutex("pthread_mutex_timedlock", [](pthread_mutex_t* mutex) {
    const timespec until = after(CLOCK_REALTIME, kLong);
    return pthread_mutex_timedlock(mutex, &until);
  }));
  run(atMutex("pthread_mutex_clocklock", [](pthread_mutex_t* mutex) {
    const timespec until = after(CLOCK_MONOTONIC, kLong);
    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until);
  }));
  run(atRwlock("pthread_rwlock_rdlock", pthread_rwlock_rdlock));
  run(atRwlock("pthread_rwlock_wrlock", pthread_rwlock_wrlock));
  const timespec real = after(CLOCK_REALTIME, kLong);
  const timespec monotonic = after(CLOCK_MONOTONIC, kLong);
  run(atRwlock("pthread_rwlock_timedrdlock",
               [=](pthread_rwlock_t* lock) { return pthread_rwlock_timedrdlock(lock, &real); }));
  run(atRwlock("pthread_rwlock_timedwrlock",
               [=](pthread_rwlock_t* lock) { return pthread_rwlock_timedwrlock(lock, &real); }));
  run(atRwlock("pthread_rwlock_clockrdlock", [=](pthread_rwlock_t* lock) {
    return pthread_rwlock_clockrdlock(lock, CLOCK_MONOTONIC, &monotonic);
  }));
  run(atRwlock("pthread_rwlock_clockwrlock", [=](pthread_rwlock_t* lock) {
    return pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &monotonic);
  }));
}

void conditions() {
  run(atCondition("pthread_cond_wait", false, pthread_cond_wait));
  run(atCondition("pthread_cond_wait", true, pthread_cond_wait));
  run(atCondition(
      "pthread_cond_timedwait", false, [](pthread_cond_t* condition, pthread_mutex_t* mutex) {
        const timespec until = after(CLOCK_REALTIME, kLong);
        return pthread_cond_timedwait(condition, mutex, &until);
      }));
  run(atCondition(
      "pthread_cond_clockwait", false, [](pthread_cond_t* condition, pthread_mutex_t* mutex) {
        const timespec until = after(CLOCK_MONOTONIC, kLong);
        return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &until);
      }));
}

// A thread that waits at a condition releases the mutex, for which another one waits.
void mutexGivenUp() {
  std::atomic<int> giver{0};
  std::atomic<bool> mayGive{false};
  std::atomic<int> taker{0};
  std::thread gives([&] {
    pthread_mutex_lock(&gMutex);
    giver.store(ownTid());
    while (!mayGive.load())
      std::this_thread::yield();
    pthread_cond_wait(&gCondition, &gMutex);
    pthread_mutex_unlock(&gMutex);
  });
  while (giver.load() == 0)
    std::this_thread::yield();
  std::thread takes([&] {
    taker.store(ownTid());
    pthread_mutex_lock(&gMutex);
    pthread_cond_signal(&gCondition);
    pthread_mutex_unlock(&gMutex);
  });
  awaitAsleep(taker);
  mayGive.store(true);
  gives.join();
  takes.join();
  std::printf("pthread_mutex_lock mutex %d %d\n", taker.load(), giver.load());
  std::printf("pthread_cond_wait condition %d %d\n", giver.load(), taker.load());
}

// The same, where nobody signals: the giver's wait times out, and that is no hand-off.
void mutexGivenUpForAWhile() {
  std::atomic<int> giver{0};
  std::atomic<int> taker{0};
  std::thread gives([&] {
    pthread_mutex_lock(&gMutex);
    giver.store(ownTid());
    awaitAsleep(taker);
    const timespec until = after(CLOCK_REALTIME, 20);
    check(pthread_cond_timedwait(&gCondition, &gMutex, &until) == ETIMEDOUT, "timed out");
    pthread_mutex_unlock(&gMutex);
  });
  while (giver.load() == 0)
    std::this_thread::yield();
  std::thread takes([&] {
    taker.store(ownTid());
    pthread_mutex_lock(&gMutex);
    std::this_thread::sleep_for(std::chrono::milliseconds(40));  // the giver has to wait for it
    pthread_mutex_unlock(&gMutex);
  });
  gives.join();
  takes.join();
  std::printf("pthread_mutex_lock mutex %d %d\n", taker.load(), giver.load());
}

void semaphores() {
  sem_init(&gSemaphore, 0, 0);
  run(atSemaphore("sem_wait", sem_wait));
  run(atSemaphore("sem_timedwait", [](sem_t* semaphore) {
    const timespec until = after(CLOCK_REALTIME, kLong);
    return sem_timedwait(semaphore, &until);
  }));
  run(atSemaphore("sem_clockwait", [](sem_t* semaphore) {
    const timespec until = after(CLOCK_MONOTONIC, kLong);
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, &until);
  }));
  pthread_barrier_init(&gBarrier, nullptr, 2);
  const auto arrive = [] { return pthread_barrier_wait(&gBarrier) > 0 ? 1 : 0; };
  run({"pthread_barrier_wait", "barrier", nothing, arrive, arrive});
}

void futexes() {
  const auto futex = [](int operation, int value) {
    return syscall(SYS_futex, &gFutex, operation, value, nullptr, nullptr, FUTEX_BITSET_MATCH_ANY);
  };
  for (const auto& operations : {std::pair(FUTEX_WAIT_PRIVATE, FUTEX_WAKE_PRIVATE),
                                 std::pair(FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET)})
    run({"futex",
         "futex",
         nothing,
         [&] { return static_cast<int>(futex(operations.first, 0)); },
         [&] { check(futex(operations.second, 1) == 1, "FUTEX_WAKE"); }});
  std::atomic<int> value{0};
  run({"futex",
       "futex",
       nothing,
       [&] {
         value.wait(0);
         return 0;
       },
       [&] {
         value = 1;
         value.notify_one();
       }});
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  run({"futex", "futex", nothing, [&] { return future.get() - 5; }, [&] { promise.set_value(5); }});
}

// The waker is the thread that ends: one that has waited and is therefore registered, and one that
// has not.
struct Ending {
  std::atomic<int> tid{0};
  std::atomic<bool> mayEnd{false};
  bool waits = false;
};

void* end(void* pointer) {
  auto* ending = static_cast<Ending*>(pointer);
  ending->tid.store(ownTid());
  if (ending->waits)
    sem_wait(&gSemaphore);
  while (!ending->mayEnd.load())
    std::this_thread::yield();
  return pointer;
}

template <typename Join>
void joined(const char* function, bool waits, Join join) {
  Ending ending;
  ending.waits = waits;
  pthread_t thread{};
  check(pthread_create(&thread, nullptr, end, &ending) == 0, "pthread_create");
  const auto joinIt = [&] {
    void* result = nullptr;
    return join(thread, &result) != 0 || result != &ending ? 1 : 0;
  };
  std::atomic<int> joiner{0};
  std::thread joins([&] {
    joiner.store(ownTid());
    check(joinIt() == 0, function);
  });
  awaitAsleep(joiner);
  if (waits) {
    awaitAsleep(ending.tid);
    sem_post(&gSemaphore);
    std::printf("sem_wait semaphore %d %d\n", ending.tid.load(), ownTid());
  }
  ending.mayEnd.store(true);
  joins.join();
  std::printf("%s thread %d %d\n", function, joiner.load(), ending.tid.load());
}

void threads() {
  for (const bool waits : {false, true}) {
    joined("pthread_join", waits, pthread_join);
    joined("pthread_timedjoin_np", waits, [](pthread_t thread, void** result) {
      const timespec until = after(CLOCK_REALTIME, kLong);
      return pthread_timedjoin_np(thread, result, &until);
    });
    joined("pthread_clockjoin_np", waits, [](pthread_t thread, void** result) {
      const timespec until = after(CLOCK_MONOTONIC, kLong);
      return pthread_clockjoin_np(thread, result, CLOCK_MONOTONIC, &until);
    });
  }
}

}  // namespace

int main() {
  std::printf("main %d\n", ownTid());
  locks();
  conditions();
  mutexGivenUp();
  mutexGivenUpForAWhile();
  semaphores();
  futexes();
  threads();
}
