// Creating threads, joining them and cancelling them while they wait.
#include "tests/host/calls.h"
#include "tests/host/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace host {
namespace {

// A thread that ends when it is told to.
struct Told {
  sem_t mayEnd;
};

void* untilTold(void* given) {
  auto* const told = static_cast<Told*>(given);
  while (sem_wait(&told->mayEnd) != 0) {
  }
  return given;
}

void* returns(void* given) {
  return given;
}

void* says(void* given) {
  static_cast<std::atomic<long>*>(given)->store(raw(SYS_gettid));
  return given;
}

// Waits until the kernel has forgotten the thread whose number is stored here.
void awaitEnd(const std::atomic<long>& thread) noexcept {
  const long self = raw(SYS_getpid);
  while (thread.load() == 0 || raw(SYS_tgkill, self, thread.load(), 0) == 0)
    raw(SYS_sched_yield);
}

int returnsNumber(void*) {
  return 42;
}

void blockGuard(sigset_t* before) noexcept {
  // The guard's signal is for the thread that has a guard.
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, before);
}

template <typename Make>
int withoutGuard(Make make) noexcept {
  sigset_t before;
  blockGuard(&before);
  const int result = make();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

timespec soon(Context& c) noexcept {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  const int which = c.choose(4, 60);
  const timespec others[] = {
      {time.tv_sec + 20, 0}, {0, 0}, {time.tv_sec, -1}, {time.tv_sec, 1'000'000'000}};
  return others[which];
}

const char* textOf(const timespec& time) noexcept {
  return time.tv_nsec < 0 || time.tv_nsec >= 1'000'000'000 ? "no time"
         : time.tv_sec == 0                                ? "past"
                                                           : "later";
}

int joinSomehow(Context& c, pthread_t thread, void** result) noexcept {
  const int how = c.choose(3, 30);
  const timespec until = soon(c);
  if (how == 0) {
    c.callUnguarded("pthread_join", "%s", "");
    return pthread_join(thread, result);
  }
  if (how == 1) {
    c.callUnguarded("pthread_timedjoin_np", "%s", textOf(until));
    return pthread_timedjoin_np(thread, result, &until);
  }
  const clockid_t clock = c.oneOf<clockid_t>({CLOCK_REALTIME, CLOCK_MONOTONIC, -1, 99});
  c.callUnguarded("pthread_clockjoin_np", "%s, %d", textOf(until), clock);
  return pthread_clockjoin_np(thread, result, clock, &until);
}

// A thread that has ended, or not, at the first join.
void callJoin(Context& c) {
  Told told{};
  sem_init(&told.mayEnd, 0, 0);
  pthread_t thread{};
  const bool hasEnded = c.choose(2, 50) == 0;
  c.callUnguarded("pthread_create", "%s", "");
  c.result(withoutGuard([&] { return pthread_create(&thread, nullptr, untilTold, &told); }));
  if (hasEnded) {
    sem_post(&told.mayEnd);
    void* value = nullptr;
    c.callUnguarded("pthread_join", "%s", "told");
    c.result(pthread_join(thread, &value));
    return c.note("%d", value == &told);
  }
  timespec past{};
  c.callUnguarded("pthread_timedjoin_np", "%s", "runs");
  c.result(pthread_timedjoin_np(thread, nullptr, &past));
  sem_post(&told.mayEnd);
  void* value = nullptr;
  c.callUnguarded("pthread_join", "%s", "");
  c.result(pthread_join(thread, &value));
  c.note("%d", value == &told);
}

// Joined in a way that the time or the clock may make invalid.
void callJoinOddly(Context& c) {
  pthread_t thread{};
  std::atomic<long> number{0};
  c.callUnguarded("pthread_create", "%s", "");
  const int made = withoutGuard([&] { return pthread_create(&thread, nullptr, says, &number); });
  c.result(made);
  if (made != 0)
    return;
  awaitEnd(number);
  void* value = nullptr;
  const int result = joinSomehow(c, thread, &value);
  c.result(result);
  if (result != 0) {
    c.callUnguarded("pthread_join", "%s", "again");
    c.result(pthread_join(thread, &value));
  }
  c.note("%d", value == &number);
}

void callJoinSelf(Context& c) {
  const int result = joinSomehow(c, pthread_self(), nullptr);
  c.result(result);
}

void callJoinDetached(Context& c) {
  auto* const told = new Told{};
  sem_init(&told->mayEnd, 0, 0);
  pthread_t thread{};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  c.callUnguarded("pthread_create", "%s", "detached");
  const int made =
      withoutGuard([&] { return pthread_create(&thread, &attributes, untilTold, told); });
  c.result(made);
  if (made == 0) {
    c.callUnguarded("pthread_join", "%s", "detached");
    c.result(pthread_join(thread, nullptr));
  }
  // The semaphore is not on this stack, because it is unknown when the thread has ended.
  sem_post(&told->mayEnd);
}

void callThrdCreate(Context& c) {
  thrd_t thread{};
  c.callUnguarded("thrd_create", "%s", "");
  const int made = withoutGuard([&] { return thrd_create(&thread, returnsNumber, nullptr); });
  c.result(made);
  int value = 0;
  if (made != thrd_success)
    return;
  c.callUnguarded("thrd_join", "%s", "");
  c.result(thrd_join(thread, &value));
  c.note("%d", value);
}

void callTooLarge(Context& c) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{1} << 46);
  pthread_t thread{};
  c.callUnguarded("pthread_create", "%s", "too large");
  c.result(pthread_create(&thread, &attributes, returns, nullptr));
}

// The objects that a thread waits for when it is cancelled.
struct Cancelled {
  int in;
  int ends[2];
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  sem_t semaphore;
  int cleanups = 0;
};

void cleanUp(void* given) {
  ++static_cast<Cancelled*>(given)->cleanups;
}

void cleanUpLocked(void* given) {
  auto* const cancelled = static_cast<Cancelled*>(given);
  pthread_mutex_unlock(&cancelled->mutex);
  ++cancelled->cleanups;
}

void waitIn(Cancelled& at) {
  char byte = 0;
  pollfd polled = {at.ends[0], POLLIN, 0};
  const timespec ages = {1000, 0};
  switch (at.in) {
    case 0:
      (void)!read(at.ends[0], &byte, 1);
      break;
    case 1:
      sem_wait(&at.semaphore);
      break;
    case 2:
      nanosleep(&ages, nullptr);
      break;
    case 3:
      poll(&polled, 1, -1);
      break;
    case 4:
      recv(at.ends[0], &byte, 1, 0);
      break;
    case 5:
      pause();
      break;
    case 6:
      accept(at.ends[0], nullptr, nullptr);
      [[fallthrough]];
    case 7:
      usleep(900'000'000);
      break;
    default:
      clock_nanosleep(CLOCK_MONOTONIC, 0, &ages, nullptr);
      break;
  }
}

void* waits(void* given) {
  auto* const cancelled = static_cast<Cancelled*>(given);
  pthread_cleanup_push(cleanUp, cancelled);
  if (cancelled->in == 9) {
    pthread_mutex_lock(&cancelled->mutex);
    pthread_cleanup_push(cleanUpLocked, cancelled);
    pthread_cond_wait(&cancelled->condition, &cancelled->mutex);
    pthread_cleanup_pop(1);
  } else {
    waitIn(*cancelled);
  }
  pthread_cleanup_pop(1);
  return nullptr;
}

void callCancel(Context& c) {
  Cancelled cancelled;
  cancelled.in = c.choose(10, 10);
  (void)!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, cancelled.ends);
  sem_init(&cancelled.semaphore, 0, 0);
  pthread_t thread{};
  c.callUnguarded("pthread_create", "waits in %d", cancelled.in);
  const int made =
      withoutGuard([&] { return pthread_create(&thread, nullptr, waits, &cancelled); });
  c.result(made);
  if (made == 0) {
    const timespec pause = {0, 1'000'000};
    raw(SYS_nanosleep, &pause, 0);
    pthread_cancel(thread);
    void* value = nullptr;
    c.callUnguarded("pthread_join", "%s", "cancelled");
    c.result(pthread_join(thread, &value));
    c.note("%d %d", value == PTHREAD_CANCELED, cancelled.cleanups);
    c.note("%d", pthread_mutex_trylock(&cancelled.mutex));
  }
  raw(SYS_close, cancelled.ends[0]);
  raw(SYS_close, cancelled.ends[1]);
}

constexpr NamedCall kCalls[] = {{"pthread_join", callJoin, kAlone},
                                {"pthread_timedjoin_np", callJoinOddly, 0},
                                {"pthread_clockjoin_np", callJoinOddly, 0},
                                {"pthread_join", callJoinSelf, 0},
                                {"pthread_join", callJoinDetached, 0},
                                {"thrd_create", callThrdCreate, 0},
                                {"pthread_create", callTooLarge, 0},
                                {"pthread_cond_wait", callCancel, kAlone}};

}  // namespace

CallList threadCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
