// Measures the cost of locks, semaphores and conditions without waiters, and of handing a turn to
// another thread and getting it back on one processor. Usage, also behind `sonde run --sources sync
// --` and with LD_PRELOAD: sync_call [BATCHES]. Prints the median over batches of 2,000 calls (500
// turns), and the lower and upper tenth, in ns. bench/sync_overhead.py compares.
#include "bench/batches.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace {

constexpr int kCalls = 2000;
constexpr int kTurns = 500;

// Two threads that wake each other in turn.
struct ByCondition {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t conditions[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
  int turn = 0;

  void wait(int self) {
    pthread_mutex_lock(&mutex);
    while (turn != self)
      pthread_cond_wait(&conditions[self], &mutex);
    pthread_mutex_unlock(&mutex);
  }
  void give(int other) {
    pthread_mutex_lock(&mutex);
    turn = other;
    pthread_cond_signal(&conditions[other]);
    pthread_mutex_unlock(&mutex);
  }
};

struct BySemaphore {
  sem_t semaphores[2];

  BySemaphore() {
    sem_init(&semaphores[0], 0, 1);
    sem_init(&semaphores[1], 0, 0);
  }
  void wait(int self) { sem_wait(&semaphores[self]); }
  void give(int other) { sem_post(&semaphores[other]); }
};

// On two processors a turn includes the time to wake the other one, which varies tenfold within
// minutes.
void stayOnThisProcessor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  sched_setaffinity(0, sizeof one, &one);
}

template <typename Turns>
std::vector<double> nsOfTurns(int batches) {
  Turns turns;
  std::vector<double> each;
  each.reserve(static_cast<std::size_t>(batches));
  std::thread other([&] {
    for (int at = 0; at < batches * kTurns; ++at) {
      turns.wait(1);
      turns.give(0);
    }
  });
  for (int batch = 0; batch < batches; ++batch)
    each.push_back(sonde::bench::nsEach(kTurns, [&](int) {
      turns.wait(0);
      turns.give(1);
    }));
  other.join();
  return each;
}

}  // namespace

int main(int count, char** arguments) {
  using namespace sonde::bench;
  const int batches = count > 1 ? std::atoi(arguments[1]) : 100;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  // libc takes short cuts in a process with one thread.
  std::atomic<bool> isOver{false};
  std::thread idle([&] { isOver.wait(false); });
  std::vector<double> locks;
  std::vector<double> reads;
  std::vector<double> tokens;
  std::vector<double> signals;
  for (int batch = 0; batch < batches; ++batch) {
    locks.push_back(nsEach(kCalls, [&](int) {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    }));
    reads.push_back(nsEach(kCalls, [&](int) {
      pthread_rwlock_rdlock(&rwlock);
      pthread_rwlock_unlock(&rwlock);
    }));
    tokens.push_back(nsEach(kCalls, [&](int) {
      sem_post(&semaphore);
      sem_wait(&semaphore);
    }));
    signals.push_back(nsEach(kCalls, [&](int) { pthread_cond_signal(&condition); }));
  }
  isOver = true;
  isOver.notify_one();
  idle.join();
  stayOnThisProcessor();
  print("mutex", locks);
  print("rwlock", reads);
  print("semaphore", tokens);
  print("signal", signals);
  print("turn, semaphore", nsOfTurns<BySemaphore>(batches / 10 + 1));
  print("turn, condition", nsOfTurns<ByCondition>(batches / 10 + 1));
  return 0;
}
