#include "tests/host/calls.h"
#include "tests/host/children.h"
#include "tests/host/raw.h"

#include <errno.h>
#include <signal.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <new>

namespace host {
namespace {

thread_local Context* tContext = nullptr;

// A signal that arrives while the thread is about to make its next call; the handler makes some
// calls itself.
void onSignal(int number) {
  Context* const c = tContext;
  if (c == nullptr)
    return;
  const int error = errno;
  char byte = 's';
  c->call("write", "in handler of %d", number);
  c->result(write(c->pooled(Kind::PipeIn), &byte, 1));
  c->call("close", "in handler, -1");
  c->result(close(-1));
  c->call("dup2", "in handler, %d", c->pooled(Kind::Null));
  c->result(dup2(c->pooled(Kind::Null), 95));
  c->call("close", "in handler, 95");
  c->result(close(95));
  errno = error;
}

void signalStep(Context& c) noexcept {
  struct sigaction action {};
  action.sa_handler = onSignal;
  action.sa_flags = c.choose(2) == 0 ? SA_RESTART : 0;
  tContext = &c;
  c.callUnguarded("sigaction", "%s", "SIGUSR2");
  c.result(sigaction(SIGUSR2, &action, nullptr));
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, SIGUSR2);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  c.note("raise");
  switch (c.choose(3, 40)) {
    case 0:
      raise(SIGUSR2);
      break;
    case 1:
      pthread_kill(pthread_self(), SIGUSR2);
      break;
    default:
      raw(SYS_tgkill, raw(SYS_getpid), raw(SYS_gettid), SIGUSR2);
      break;
  }
  c.note("raised");
}

// A thread that makes calls while its creator waits for it.
struct Worker {
  Context context;
  int calls;
  pthread_barrier_t* together = nullptr;
};

void* work(void* given) {
  auto& worker = *static_cast<Worker*>(given);
  Context& c = worker.context;
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  c.startGuard();
  if (c.isConcurrent()) {
    c.makePool(c.ownFirst);
  } else {
    // Waits until the creator waits. Before that, Sonde may briefly have a file open there, and
    // when two threads open files at once, their numbers are not predictable.
    const timespec time = {0, 1'000'000};
    raw(SYS_nanosleep, &time, nullptr);
  }
  makeCalls(c, worker.calls, false);
  if (worker.together != nullptr) {
    // Otherwise a child of one would keep the others' pipes open.
    pthread_barrier_wait(worker.together);
    if (c.below(3) == 0)
      forkedChild(c);
  }
  if (c.isConcurrent())
    logFinalState(c);
  c.endGuard();
  return given;
}

int workNumber(void* given) {
  work(given);
  return 9;
}

void prepare(Worker& worker, const Context& c, std::uint64_t seed, int calls) noexcept {
  worker.context = c;
  worker.context.area = &c.log->areas[takeArea(*c.log)];
  worker.context.seed(seed);
  worker.context.depth = c.depth + 1;
  worker.context.forgetMemory();
  worker.calls = calls;
}

// The creator blocks the guard's signal while it waits, so that the worker gets it.
void threadStep(Context& c) noexcept {
  Worker* const worker = new Worker;
  prepare(*worker, c, c.next(), 12);
  sigset_t alarm;
  sigset_t before;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, &before);
  pthread_t thread{};
  thrd_t other{};
  const bool isC11 = c.choose(3, 70) == 1;
  c.callUnguarded(isC11 ? "thrd_create" : "pthread_create", "%s", "");
  const int made = isC11 ? thrd_create(&other, workNumber, worker)
                         : pthread_create(&thread, nullptr, work, worker);
  c.result(made);
  if (made == 0) {
    c.callUnguarded("join", "%s", "");
    c.result(isC11 ? thrd_join(other, nullptr) : pthread_join(thread, nullptr));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  delete worker;
}

// Threads that make calls at the same time. Each uses only descriptors that it has created.
void concurrentStep(Context& c) noexcept {
  constexpr int kThreads = 3;
  Worker* const workers = new Worker[kThreads];
  pthread_t threads[kThreads];
  pthread_barrier_t together;
  pthread_barrier_init(&together, nullptr, kThreads);
  int made = 0;
  sigset_t alarm;
  sigset_t before;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, &before);
  for (int at = 0; at < kThreads; ++at) {
    prepare(workers[at], c, c.next(), 25);
    workers[at].together = &together;
    workers[at].context.ownFirst = 200 + 100 * at;
    workers[at].context.spareArea = takeArea(*c.log);
    made += pthread_create(&threads[at], nullptr, work, &workers[at]) == 0;
  }
  c.callUnguarded("join", "%d threads", made);
  for (int at = 0; at < made; ++at)
    pthread_join(threads[at], nullptr);
  c.result(made);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  delete[] workers;
}

using Step = void (*)(Context&) noexcept;

}  // namespace

void runSequence(Context& c, int steps) noexcept {
  constexpr Step kRare[] = {forkedChild, vforkedChild, signalStep, threadStep, concurrentStep};
  for (int at = 0; at < steps; ++at) {
    const int luck = c.below(20);
    if (luck < static_cast<int>(sizeof kRare / sizeof kRare[0]) && c.depth < 2) {
      // Concurrent threads own the descriptors from 200 on, which other steps may have closed. So
      // this runs only once, at the beginning.
      if (kRare[luck] != concurrentStep || (c.depth == 0 && at < 2))
        kRare[luck](c);
    } else {
      makeCalls(c, 3, false);
    }
  }
}

}  // namespace host
