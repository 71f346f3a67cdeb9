// Threads that wait for known times in known calls, and work: prints "TID FUNCTION NANOSECONDS" for
// each kind of wait and for "cpu", "hidden" (a wait that no probe sees) and "wall"
// (tests/e2e/threads/stack_wall_test.py).
#include <poll.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <thread>
#include <vector>

#define SONDE_NOINLINE __attribute__((noinline))
#define SONDE_STAY asm volatile("" ::: "memory")

namespace {

std::int64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

struct Truth {
  std::int64_t sem = 0;
  std::int64_t poll = 0;
  std::int64_t sleep = 0;
  std::int64_t read = 0;
  std::int64_t hidden = 0;
};

template <typename Call>
void timed(std::int64_t& sum, Call call) {
  const std::int64_t begin = now(CLOCK_MONOTONIC);
  call();
  sum += now(CLOCK_MONOTONIC) - begin;
}

}  // namespace

extern "C" {
void inSemaphore(sem_t* semaphore);
void inPoll(int fd);
void inSleep(void);
void inRead(int fd);
void inHidden(void);
void work(void);

SONDE_NOINLINE void inSemaphore(sem_t* semaphore) {
  timespec at{};
  clock_gettime(CLOCK_REALTIME, &at);
  at.tv_nsec += 7'000'000;
  if (at.tv_nsec >= 1'000'000'000) {
    at.tv_nsec -= 1'000'000'000;
    ++at.tv_sec;
  }
  sem_timedwait(semaphore, &at);
  SONDE_STAY;
}

SONDE_NOINLINE void inPoll(int fd) {
  pollfd one{fd, POLLIN, 0};
  poll(&one, 1, 11);
  SONDE_STAY;
}

SONDE_NOINLINE void inSleep(void) {
  const timespec time{0, 5'000'000};
  nanosleep(&time, nullptr);
  SONDE_STAY;
}

SONDE_NOINLINE void inRead(int fd) {
  char byte = 0;
  if (read(fd, &byte, 1) != 1)
    std::puts("nothing read");
  SONDE_STAY;
}

SONDE_NOINLINE void inHidden(void) {
  const timespec time{0, 60'000'000};
  syscall(SYS_nanosleep, &time, nullptr);
  SONDE_STAY;
}

SONDE_NOINLINE void work(void) {
  for (volatile long i = 0; i < 30'000'000; i = i + 1)
    ;
}
}

namespace {

void body() {
  const std::int64_t begin = now(CLOCK_MONOTONIC);
  Truth truth;
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  int silent[2];
  int fed[2];
  if (pipe(silent) != 0 || pipe(fed) != 0)
    return;
  std::thread feeder([&] {
    for (int i = 0; i < 12; ++i) {
      usleep(40'000);
      if (write(fed[1], "x", 1) != 1)
        return;
    }
  });
  for (int i = 0; i < 12; ++i) {
    work();
    timed(truth.sem, [&] { inSemaphore(&semaphore); });
    timed(truth.poll, [&] { inPoll(silent[0]); });
    timed(truth.sleep, [] { inSleep(); });
    timed(truth.read, [&] { inRead(fed[0]); });
    if (i % 4 == 1)
      timed(truth.hidden, [] { inHidden(); });
    work();
  }
  const std::int64_t cpu = now(CLOCK_THREAD_CPUTIME_ID);
  const std::int64_t wall = now(CLOCK_MONOTONIC) - begin;
  feeder.join();
  const long tid = syscall(SYS_gettid);
  std::printf(
      "%ld inSemaphore %ld\n%ld inPoll %ld\n%ld inSleep %ld\n%ld inRead %ld\n%ld hidden %ld\n%ld "
      "cpu %ld\n%ld wall %ld\n",
      tid,
      truth.sem,
      tid,
      truth.poll,
      tid,
      truth.sleep,
      tid,
      truth.read,
      tid,
      truth.hidden,
      tid,
      cpu,
      tid,
      wall);
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back(body);
  for (std::thread& thread : threads)
    thread.join();
  return 0;
}
