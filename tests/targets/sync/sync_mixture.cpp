// sync_mixture SEED: eight threads call everything that the probe intercepts, in random order; in
// between threads are cancelled and processes forked. Prints "holds" if every lock excluded, every
// token was taken once and every wait ended (tests/e2e/threads/sync_test.py).
#include "tests/targets/sync/sync_threads.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>

#include <random>

namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 400;

// Data guarded by a lock: both members are always equal.
struct Pair {
  long first = 0;
  long second = 0;

  void add() {
    ++first;
    std::this_thread::yield();
    ++second;
  }
  bool holds() const { return first == second; }
};

pthread_mutex_t gMutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t gRecursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_rwlock_t gRwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t gChanged = PTHREAD_COND_INITIALIZER;
pthread_barrier_t gBarrier;
sem_t gTokens;
std::atomic<int> gFutex{0};

Pair gOfMutex;
Pair gOfRecursive;
Pair gOfRwlock;
long gQueued = 0;
std::atomic<long> gPosted{0};
std::atomic<long> gTaken{0};

void withMutex(unsigned) {
  pthread_mutex_lock(&gMutex);
  gOfMutex.add();
  pthread_mutex_unlock(&gMutex);
}

void withTimedMutex(unsigned random) {
  const timespec until = after(CLOCK_REALTIME, random % 3);
  if (pthread_mutex_timedlock(&gMutex, &until) != 0)
    return;
  gOfMutex.add();
  pthread_mutex_unlock(&gMutex);
}

void withRecursive(unsigned) {
  pthread_mutex_lock(&gRecursive);
  pthread_mutex_lock(&gRecursive);
  gOfRecursive.add();
  pthread_mutex_unlock(&gRecursive);
  check(gOfRecursive.holds(), "recursive mutex");
  pthread_mutex_unlock(&gRecursive);
}

void withRwlock(unsigned random) {
  if (random % 3 == 0)
    pthread_rwlock_wrlock(&gRwlock);
  else
    pthread_rwlock_rdlock(&gRwlock);
  if (random % 3 == 0)
    gOfRwlock.add();
  check(gOfRwlock.holds(), "rwlock");
  pthread_rwlock_unlock(&gRwlock);
}

void atCondition(unsigned random) {
  pthread_mutex_lock(&gMutex);
  if (random % 2 == 0) {
    ++gQueued;
    random % 4 == 0 ? pthread_cond_signal(&gChanged) : pthread_cond_broadcast(&gChanged);
  } else {
    const timespec until = after(CLOCK_REALTIME, 2);
    while (gQueued == 0 && pthread_cond_timedwait(&gChanged, &gMutex, &until) == 0) {
    }
    gQueued -= gQueued > 0 ? 1 : 0;
  }
  check(gOfMutex.holds(), "mutex after a wait at a condition");
  pthread_mutex_unlock(&gMutex);
}

void atSemaphore(unsigned random) {
  if (random % 2 == 0) {
    gPosted.fetch_add(1);
    sem_post(&gTokens);
    return;
  }
  const timespec until = after(CLOCK_REALTIME, random % 3);
  if (sem_timedwait(&gTokens, &until) == 0)
    gTaken.fetch_add(1);
}

void atFutex(unsigned random) {
  const int value = gFutex.load();
  const timespec shortly{0, 1'000'000};
  if (random % 2 == 0)
    syscall(SYS_futex, &gFutex, 128, value, &shortly);
  else if (gFutex.fetch_add(1) >= 0)
    syscall(SYS_futex, &gFutex, 129, 2);
}

void* waitForEver(void*) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  for (;;)
    pthread_cond_wait(&condition, &mutex);
}

void withCancelled(unsigned random) {
  pthread_t thread{};
  check(pthread_create(&thread, nullptr, waitForEver, nullptr) == 0, "pthread_create");
  std::this_thread::sleep_for(std::chrono::microseconds(random % 300));
  void* result = nullptr;
  check(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0, "pthread_cancel");
  check(result == PTHREAD_CANCELED, "cancelled");
}

void withChild(unsigned) {
  const pid_t child = fork();
  if (child == 0) {
    sem_t own;
    sem_init(&own, 0, 0);
    std::thread posts([&] { sem_post(&own); });
    sem_wait(&own);
    posts.join();
    _exit(7);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "the child");
}

constexpr void (*kDeeds[])(unsigned) = {
    withMutex, withTimedMutex, withRecursive, withRwlock, atCondition, atSemaphore, atFutex};
constexpr int kRare = 100;  // one in this many is a thread or a process

void work(unsigned seed) {
  std::minstd_rand random(seed);
  for (int round = 0; round < kRounds; ++round) {
    const auto number = static_cast<unsigned>(random());
    if (number / 7 % kRare == 0)
      withCancelled(number);
    else if (number / 7 % kRare == 1)
      withChild(number);
    else
      kDeeds[number % std::size(kDeeds)](static_cast<unsigned>(random()));
    if (round % 50 == 0)
      pthread_barrier_wait(&gBarrier);
  }
}

}  // namespace

int main(int count, char** arguments) {
  check(count == 2, "usage: sync_mixture SEED");
  sem_init(&gTokens, 0, 0);
  pthread_barrier_init(&gBarrier, nullptr, kThreads);
  std::vector<std::thread> threads;
  for (unsigned at = 0; at < kThreads; ++at)
    threads.emplace_back(work, static_cast<unsigned>(std::atoi(arguments[1])) * 100 + at + 1);
  for (std::thread& thread : threads)
    thread.join();
  int left = 0;
  sem_getvalue(&gTokens, &left);
  check(gOfMutex.holds() && gOfRecursive.holds() && gOfRwlock.holds(), "a pair");
  check(gPosted.load() == gTaken.load() + left, "tokens");
  std::puts("holds");
}
