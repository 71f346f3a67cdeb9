// sync_truth SCENARIO: threads that pass work, locks and turns to each other many times. Each
// thread that has waited knows its waker, and prints "KIND WAKEE WAKER BEGIN END" with the wall
// clock's ns around its call (tests/e2e/threads/sync_truth_test.py).
#include "tests/targets/sync/sync_threads.h"

#include <pthread.h>
#include <semaphore.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <future>
#include <random>
#include <shared_mutex>

namespace {

constexpr int kThreads = 4;

struct Told {
  const char* kind;
  int wakee;
  int waker;
  long begin;
  long end;
};

std::mutex gToldMutex;  // taken when a thread has finished
std::vector<Told> gTold;
thread_local std::vector<Told> tTold;

void tell(const char* kind, int waker, long begin) {
  tTold.push_back({kind, ownTid(), waker, begin, nowNs()});
}

template <typename Work>
void inThreads(int count, Work work) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int at = 0; at < count; ++at)
    threads.emplace_back([=] {
      work(at);
      const std::lock_guard lock(gToldMutex);
      gTold.insert(gTold.end(), tTold.begin(), tTold.end());
    });
  for (std::thread& thread : threads)
    thread.join();
}

void spin(int microseconds) {
  const long until = nowNs() + microseconds * 1000L;
  while (nowNs() < until) {
  }
}

std::minstd_rand randomOf(int thread) {
  return std::minstd_rand(static_cast<unsigned>(4711 + thread));
}

void rest(std::minstd_rand& random, unsigned most) {
  std::this_thread::sleep_for(std::chrono::microseconds(random() % most));
}

// Producers fill a consumer's only place, which stays full until it is empty again.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable filled;
  std::condition_variable emptied;
  int sender = 0;
};
Mailbox gBoxes[2];
constexpr int kLetters = 150;

void empty(Mailbox& box) {
  std::unique_lock lock(box.mutex);
  const long begin = nowNs();
  if (box.sender == 0) {
    box.filled.wait(lock, [&] { return box.sender != 0; });
    tell("condition", box.sender, begin);
  }
  box.sender = 0;
  box.emptied.notify_one();
}

void consume(int self) {
  auto random = randomOf(self);
  for (int letter = 0; letter < kLetters; ++letter) {
    empty(gBoxes[self]);
    rest(random, 200);
  }
}

void produce(int self) {
  auto random = randomOf(self);
  for (int letter = 0; letter < kLetters; ++letter) {
    Mailbox& box = gBoxes[letter % 2];
    rest(random, 500);
    std::unique_lock lock(box.mutex);
    box.emptied.wait(lock, [&] { return box.sender == 0; });
    box.sender = ownTid();
    box.filled.notify_one();
  }
}

void mailboxes() {
  inThreads(kThreads, [](int self) { self < 2 ? consume(self) : produce(self); });
}

// The owner of the mutex writes its id.
void mutexes() {
  static std::mutex mutex;
  static int holder = 0;
  inThreads(kThreads, [](int self) {
    auto random = randomOf(self);
    for (int round = 0; round < 300; ++round) {
      const long begin = nowNs();
      mutex.lock();
      tell("mutex", holder, begin);
      spin(30);
      holder = ownTid();
      mutex.unlock();
      rest(random, 60);
    }
  });
}

// One thread hands out work, the others send its results back.
struct Pool {
  std::mutex mutex;
  std::condition_variable there;
  std::deque<std::promise<int>> tasks;
  int client = 0;
  bool isOver = false;
};
Pool gPool;

void handOut() {
  gPool.client = ownTid();
  for (int round = 0; round < 300; ++round) {
    std::unique_lock lock(gPool.mutex);
    std::future<int> done = gPool.tasks.emplace_back().get_future();
    gPool.there.notify_one();
    lock.unlock();
    const long begin = nowNs();
    tell("futex", done.get(), begin);
  }
  const std::lock_guard lock(gPool.mutex);
  gPool.isOver = true;
  gPool.there.notify_all();
}

void doWork() {
  for (;;) {
    const long begin = nowNs();
    std::unique_lock lock(gPool.mutex);
    gPool.there.wait(lock, [] { return gPool.isOver || !gPool.tasks.empty(); });
    tell("condition", gPool.client, begin);
    if (gPool.isOver)
      return;
    std::promise<int> task = std::move(gPool.tasks.front());
    gPool.tasks.pop_front();
    lock.unlock();
    spin(100);
    task.set_value(ownTid());
  }
}

void pool() {
  inThreads(kThreads, [](int self) { self == 0 ? handOut() : doWork(); });
}

// A turn passes from thread to thread.
sem_t gTurns[kThreads];
std::atomic<int> gTids[kThreads];

void takeTurns(int self) {
  auto random = randomOf(self);
  gTids[self].store(ownTid());
  for (int round = 0; round < 200; ++round) {
    const long begin = nowNs();
    if (self > 0 || round > 0) {
      sem_wait(&gTurns[self]);
      tell("semaphore", gTids[(self + kThreads - 1) % kThreads].load(), begin);
    }
    rest(random, 100);
    sem_post(&gTurns[(self + 1) % kThreads]);
  }
}

void semaphores() {
  for (sem_t& turn : gTurns)
    sem_init(&turn, 0, 0);
  inThreads(kThreads, takeTurns);
}

void futexes() {
  static std::atomic<int> turn{0};
  static std::atomic<int> tids[2];
  inThreads(2, [](int self) {
    auto random = randomOf(self);
    tids[self].store(ownTid());
    for (int round = 0; round < 300; ++round) {
      const long begin = nowNs();
      turn.wait(1 - self);
      tell("futex", tids[1 - self].load(), begin);
      rest(random, 200);
      turn.store(1 - self);
      turn.notify_one();
    }
  });
}

void rwlocks() {
  static std::shared_mutex lock;
  static std::atomic<int> last{0};
  static std::atomic<int> lastWriter{0};  // only it lets readers continue
  inThreads(2 * kThreads, [](int self) {
    auto random = randomOf(self);
    const bool writes = self < 2;
    for (int round = 0; round < 200; ++round) {
      const long begin = nowNs();
      if (writes)
        lock.lock();
      else
        lock.lock_shared();
      tell("rwlock", writes ? last.load() : lastWriter.load(), begin);
      rest(random, writes ? 200 : 20);
      last.store(ownTid());
      if (writes)
        lastWriter.store(ownTid());
      lock.unlock();
      rest(random, 100);
    }
  });
}

void barriers() {
  static pthread_barrier_t barrier;
  static std::atomic<unsigned> arrivals{0};
  static std::atomic<int> last[200];
  pthread_barrier_init(&barrier, nullptr, kThreads);
  inThreads(kThreads, [](int self) {
    auto random = randomOf(self);
    for (auto& lastOfRound : last) {
      rest(random, 2000);
      const long begin = nowNs();
      if (arrivals.fetch_add(1) % kThreads == kThreads - 1)
        lastOfRound.store(ownTid());
      pthread_barrier_wait(&barrier);
      tell("barrier", lastOfRound.load(), begin);
    }
  });
}

// Two threads signal before the waiter, whose mutex one of them has, can continue. It cannot know
// its waker, and prints none.
std::mutex gRaced;
std::condition_variable gSignalled;
std::atomic<int> gSignals{0};
constexpr int kRaces = 50;

void beRacedFor(std::atomic<int>& waiter) {
  waiter.store(ownTid());
  std::unique_lock lock(gRaced);
  for (int round = 0; round < kRaces; ++round) {
    const long begin = nowNs();
    gSignalled.wait(lock, [=] { return gSignals.load() == 2 * (round + 1); });
    tell("condition", 0, begin);
  }
}

void signalFirst(std::atomic<int>& waiter) {
  for (int round = 0; round < kRaces; ++round) {
    awaitAsleep(waiter);
    const std::lock_guard lock(gRaced);
    gSignalled.notify_one();
    gSignals.fetch_add(1);
    while (gSignals.load() % 2 != 0)
      std::this_thread::yield();
  }
}

void signalSecond() {
  for (int round = 0; round < kRaces; ++round) {
    while (gSignals.load() % 2 == 0)
      std::this_thread::yield();
    gSignalled.notify_one();
    gSignals.fetch_add(1);
  }
}

void racing() {
  static std::atomic<int> waiter{0};
  inThreads(3, [](int self) {
    if (self == 0)
      beRacedFor(waiter);
    else
      self == 1 ? signalFirst(waiter) : signalSecond();
  });
}

struct Scenario {
  const char* name;
  void (*run)();
};
constexpr Scenario kScenarios[] = {{"mailboxes", mailboxes},
                                   {"mutexes", mutexes},
                                   {"pool", pool},
                                   {"semaphores", semaphores},
                                   {"futexes", futexes},
                                   {"rwlocks", rwlocks},
                                   {"barriers", barriers},
                                   {"racing", racing}};

}  // namespace

int main(int count, char** arguments) {
  const auto* const scenario =
      std::find_if(std::begin(kScenarios), std::end(kScenarios), [&](const Scenario& known) {
        return count == 2 && std::strcmp(known.name, arguments[1]) == 0;
      });
  check(scenario != std::end(kScenarios), "usage: sync_truth SCENARIO");
  scenario->run();
  for (const Told& told : gTold)
    std::printf("%s %d %d %ld %ld\n", told.kind, told.wakee, told.waker, told.begin, told.end);
}
