// sync_ends CASE: waits that do not end in a hand-off known to this process, and waits in unusual
// places (tests/e2e/threads/sync_test.py). Exit status 1: a call behaved differently than without
// Sonde.
#include "tests/targets/sync/sync_threads.h"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <functional>

namespace {

pthread_mutex_t gMutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t gCondition = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t gRwlock = PTHREAD_RWLOCK_INITIALIZER;
sem_t gSemaphore;
pthread_t gMain = pthread_self();

void anotherThread(const std::function<void()>& work) {
  std::thread(work).join();
}

// A wait in each function that can time out.
void timeouts() {
  pthread_mutex_lock(&gMutex);
  pthread_rwlock_wrlock(&gRwlock);
  const timespec real = after(CLOCK_REALTIME, 20);
  const timespec monotonic = after(CLOCK_MONOTONIC, 20);
  anotherThread([&] {
    check(pthread_mutex_timedlock(&gMutex, &real) == ETIMEDOUT, "pthread_mutex_timedlock");
    check(pthread_rwlock_timedrdlock(&gRwlock, &real) == ETIMEDOUT, "pthread_rwlock_timedrdlock");
    check(pthread_rwlock_clockwrlock(&gRwlock, CLOCK_MONOTONIC, &monotonic) == ETIMEDOUT,
          "pthread_rwlock_clockwrlock");
  });
  check(pthread_cond_timedwait(&gCondition, &gMutex, &real) == ETIMEDOUT, "pthread_cond_timedwait");
  check(sem_timedwait(&gSemaphore, &real) == -1 && errno == ETIMEDOUT, "sem_timedwait");
  int word = 0;
  const timespec shortly{0, 1'000'000};
  check(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &shortly) == -1 && errno == ETIMEDOUT,
        "futex");
  check(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &shortly) == -1 && errno == EAGAIN,
        "another value");
}

// A call that is refused, or need not wait, is not a wait.
void refusals() {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t checking;
  pthread_mutex_init(&checking, &kind);
  const timespec never{0, -1};
  check(pthread_mutex_unlock(&checking) == EPERM, "not one's own");
  check(pthread_mutex_lock(&checking) == 0 && pthread_mutex_lock(&checking) == EDEADLK, "twice");
  check(pthread_mutex_unlock(&checking) == 0, "unlock");
  check(pthread_rwlock_timedrdlock(&gRwlock, &never) == EINVAL, "no time");
  check(pthread_rwlock_wrlock(&gRwlock) == 0 && pthread_rwlock_rdlock(&gRwlock) == EDEADLK, "own");
  check(pthread_rwlock_unlock(&gRwlock) == 0, "unlock");
  check(sem_timedwait(&gSemaphore, &never) == -1 && errno == EINVAL, "no time");
  check(pthread_join(pthread_self(), nullptr) == EDEADLK, "oneself");
  check(syscall(SYS_getpid) == getpid() && syscall(-1) == -1 && errno == ENOSYS, "other calls");
  errno = 0;
  check(sem_post(&gSemaphore) == 0 && sem_wait(&gSemaphore) == 0 && errno == 0, "sem_wait");
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_t robust;
  pthread_mutex_init(&robust, &kind);
  anotherThread([&] {
    check(pthread_mutex_lock(&robust) == 0, "robust");
    check(pthread_mutex_lock(&robust) == 0, "twice");
  });
  check(pthread_mutex_lock(&robust) == EOWNERDEAD, "robust");
  check(pthread_mutex_consistent(&robust) == 0, "consistent");
  check(pthread_mutex_lock(&robust) == 0 && pthread_mutex_unlock(&robust) == 0, "recursive");
  check(pthread_mutex_unlock(&robust) == 0 && pthread_mutex_unlock(&robust) == EPERM, "all");
}

// Threads are cancelled while they wait; afterwards other threads wait in the same places and are
// woken.
template <typename Wait>
void cancelled(Wait wait) {
  static std::atomic<int> tid;
  tid.store(0);
  pthread_t thread{};
  pthread_create(
      &thread,
      nullptr,
      [](void* pointer) -> void* {
        tid.store(ownTid());
        (*static_cast<Wait*>(pointer))();
        return nullptr;
      },
      &wait);
  awaitAsleep(tid);
  void* result = nullptr;
  check(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0, "pthread_cancel");
  check(result == PTHREAD_CANCELED, "cancelled");
}

// A call that does not wait is also a cancellation point.
void* cancelsItself(void*) {
  pthread_cancel(pthread_self());
  sem_post(&gSemaphore);
  sem_wait(&gSemaphore);
  return nullptr;
}

// The next wait at the semaphore is woken.
void meet() {
  std::atomic<int> wakee{0};
  std::thread waits([&] {
    wakee.store(ownTid());
    sem_wait(&gSemaphore);
  });
  awaitAsleep(wakee);
  sem_post(&gSemaphore);
  waits.join();
  std::printf("sem_wait %d %d\n", wakee.load(), ownTid());
}

void waitAtCondition() {
  pthread_mutex_lock(&gMutex);
  pthread_cleanup_push([](void*) { pthread_mutex_unlock(&gMutex); }, nullptr);
  pthread_cond_wait(&gCondition, &gMutex);
  pthread_cleanup_pop(1);
}

void cancellation() {
  for (int round = 0; round < 10; ++round) {
    cancelled(waitAtCondition);
    cancelled([] { sem_wait(&gSemaphore); });
    cancelled([] { pthread_join(gMain, nullptr); });
  }
  pthread_t thread{};
  void* result = nullptr;
  pthread_create(&thread, nullptr, cancelsItself, nullptr);
  pthread_join(thread, &result);
  check(result == PTHREAD_CANCELED, "cancelled without a wait");
  sem_wait(&gSemaphore);
  meet();
}

// A handler leaves the wait by siglongjmp; the next wait at the same place is still woken.
sigjmp_buf gBack;

void interrupt(std::atomic<int>& tid, int signal) {
  awaitAsleep(tid);
  syscall(SYS_tgkill, getpid(), tid.load(), signal);
}

void leaveByLongjmp(std::atomic<int>& self) {
  if (sigsetjmp(gBack, 1) != 0)
    return;
  std::thread([&self] { interrupt(self, SIGUSR1); }).detach();
  sem_wait(&gSemaphore);
}

void longjmps() {
  static std::atomic<int> self{ownTid()};
  signal(SIGUSR1, [](int) { siglongjmp(gBack, 1); });
  for (int round = 0; round < 3; ++round)
    leaveByLongjmp(self);
  static std::atomic<int> waker{0};
  std::thread([] {
    waker.store(ownTid());
    awaitAsleep(self);
    sem_post(&gSemaphore);
    pause();
  }).detach();
  sem_wait(&gSemaphore);
  std::printf("sem_wait %d %d\n", self.load(), waker.load());
}

// Waits are left at many places in these ways, more than the probe has.
constexpr int kMany = 1500;
sem_t gMany[kMany];

void manyCancelled() {
  for (sem_t& semaphore : gMany) {
    sem_init(&semaphore, 0, 0);
    pthread_t thread{};
    pthread_create(
        &thread,
        nullptr,
        [](void* place) -> void* {
          sem_wait(static_cast<sem_t*>(place));
          return nullptr;
        },
        &semaphore);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  meet();
}

// A timer's signal may also come before the thread waits.
void leaveSoon(sem_t& semaphore) {
  sem_init(&semaphore, 0, 0);
  if (sigsetjmp(gBack, 1) != 0)
    return;
  ualarm(200, 0);
  sem_wait(&semaphore);
}

void manyLongjmps() {
  signal(SIGALRM, [](int) { siglongjmp(gBack, 1); });
  for (sem_t& semaphore : gMany)
    leaveSoon(semaphore);
  meet();
}

// A signal handler posts, and another wakes a wait merely by running.
void handlers() {
  static std::atomic<int> self;
  self.store(ownTid());
  struct sigaction action {};
  action.sa_handler = [](int) { sem_post(&gSemaphore); };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_handler = [](int) {};
  action.sa_flags = 0;
  sigaction(SIGUSR2, &action, nullptr);
  std::thread first([] { interrupt(self, SIGUSR1); });
  check(sem_wait(&gSemaphore) == 0, "posted by a handler");
  std::printf("sem_wait %d %d\n", self.load(), self.load());
  first.join();
  std::thread second([] { interrupt(self, SIGUSR2); });
  int word = 0;
  check(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr) == -1 && errno == EINTR, "EINTR");
  second.join();
}

// Wakers in another process are not visible here.
void shared() {
  struct Shared {
    sem_t semaphore;
    pthread_mutex_t mutex;
    std::atomic<int> waiter;
  };
  auto* const place = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  sem_init(&place->semaphore, 1, 0);
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&place->mutex, &kind);
  pthread_mutex_lock(&place->mutex);
  const pid_t child = fork();
  if (child == 0) {
    place->waiter.store(ownTid());
    pthread_mutex_lock(&place->mutex);  // held by its parent
    awaitSleepOf("/proc/" + std::to_string(getppid()) + "/stat");
    sem_post(&place->semaphore);
    pthread_mutex_unlock(&place->mutex);
    _exit(0);
  }
  while (place->waiter.load() == 0)
    std::this_thread::yield();
  awaitSleepOf("/proc/" + std::to_string(child) + "/stat");
  pthread_mutex_unlock(&place->mutex);
  sem_wait(&place->semaphore);
  int status = 1;
  check(waitpid(child, &status, 0) == child && status == 0, "the child");
}

// Objects that processes may share: the waker is never certain, even if it is a thread of this
// process.
template <typename Wait, typename Wake>
void handOver(const char* call, Wait wait, Wake wake) {
  std::atomic<int> wakee{0};
  std::thread waits([&] {
    wakee.store(ownTid());
    wait();
  });
  awaitAsleep(wakee);
  wake();
  waits.join();
  std::printf("%s %d %d\n", call, wakee.load(), ownTid());
}

void sharedAtHome() {
  pthread_mutexattr_t ofMutex;
  pthread_mutexattr_init(&ofMutex);
  pthread_mutexattr_setpshared(&ofMutex, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&gMutex, &ofMutex);
  pthread_mutex_lock(&gMutex);
  const auto unlock = [] { pthread_mutex_unlock(&gMutex); };
  handOver(
      "pthread_mutex_lock", [&] { pthread_mutex_lock(&gMutex), unlock(); }, unlock);
  pthread_rwlockattr_t ofRwlock;
  pthread_rwlockattr_init(&ofRwlock);
  pthread_rwlockattr_setpshared(&ofRwlock, PTHREAD_PROCESS_SHARED);
  pthread_rwlock_init(&gRwlock, &ofRwlock);
  pthread_rwlock_wrlock(&gRwlock);
  const auto release = [] { pthread_rwlock_unlock(&gRwlock); };
  handOver(
      "pthread_rwlock_rdlock", [&] { pthread_rwlock_rdlock(&gRwlock), release(); }, release);
  pthread_condattr_t ofCondition;
  pthread_condattr_init(&ofCondition);
  pthread_condattr_setpshared(&ofCondition, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&gCondition, &ofCondition);
  handOver(
      "pthread_cond_wait",
      [&] {
        pthread_mutex_lock(&gMutex);
        pthread_cond_wait(&gCondition, &gMutex);
        unlock();
      },
      [] { pthread_cond_signal(&gCondition); });
  sem_init(&gSemaphore, 1, 0);
  handOver(
      "sem_wait", [] { sem_wait(&gSemaphore); }, [] { sem_post(&gSemaphore); });
  pthread_barrierattr_t ofBarrier;
  pthread_barrierattr_init(&ofBarrier);
  pthread_barrierattr_setpshared(&ofBarrier, PTHREAD_PROCESS_SHARED);
  static pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, &ofBarrier, 2);
  const auto arrive = [] { pthread_barrier_wait(&barrier); };
  handOver("pthread_barrier_wait", arrive, arrive);
}

// A child of a process with waiting threads has their memory, but not the threads.
void forks() {
  std::atomic<int> waiter{0};
  std::thread waits([&] {
    waiter.store(ownTid());
    sem_wait(&gSemaphore);
  });
  awaitAsleep(waiter);
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> inChild{0};
    sem_t own;
    sem_init(&own, 0, 0);
    std::thread waitsThere([&] {
      inChild.store(ownTid());
      sem_wait(&own);
    });
    awaitAsleep(inChild);
    sem_post(&own);
    waitsThere.join();
    std::printf("sem_wait %d %d\n", inChild.load(), ownTid());
    std::fflush(stdout);
    _exit(0);
  }
  int status = 1;
  check(waitpid(child, &status, 0) == child && status == 0, "the child");
  sem_post(&gSemaphore);
  waits.join();
  std::printf("sem_wait %d %d\n", waiter.load(), ownTid());
}

struct Case {
  const char* name;
  void (*run)();
};
constexpr Case kCases[] = {{"timeouts", timeouts},
                           {"refusals", refusals},
                           {"cancellation", cancellation},
                           {"longjmps", longjmps},
                           {"handlers", handlers},
                           {"shared", shared},
                           {"shared_at_home", sharedAtHome},
                           {"many_cancelled", manyCancelled},
                           {"many_longjmps", manyLongjmps},
                           {"forks", forks}};

}  // namespace

int main(int count, char** arguments) {
  sem_init(&gSemaphore, 0, 0);
  for (const Case& known : kCases) {
    if (count == 2 && std::strcmp(known.name, arguments[1]) == 0) {
      known.run();
      return 0;
    }
  }
  check(false, "usage: sync_ends CASE");
}
