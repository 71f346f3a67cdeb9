// Things that a program may do while it is interrupted all the time, one case per argument. Prints
// results that must be the same without Sonde (tests/e2e/threads/stack_test.py). Exit status 1: a
// result was wrong.
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

void check(bool right, const char* what) {
  if (right)
    return;
  std::printf("wrong: %s: %s\n", what, std::strerror(errno));
  std::fflush(stdout);
  _exit(1);
}

double cpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void spin(double seconds) {
  const double end = cpuSeconds() + seconds;
  while (cpuSeconds() < end) {
    for (volatile int i = 0; i < 10'000; i = i + 1)
      ;
  }
}

struct Thrown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

__attribute__((noinline)) void throwFrom(int depth) {
  const std::string held(40, 'x');  // has a destructor
  if (depth == 0)
    throw Thrown(held);
  throwFrom(depth - 1);
}

void exceptions() {
  long caught = 0;
  std::vector<std::thread> threads;
  std::atomic<long> all{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const double end = cpuSeconds() + 0.5;
      long own = 0;
      while (cpuSeconds() < end) {
        try {
          throwFrom(20);
        } catch (const Thrown& thrown) {
          check(std::strlen(thrown.what()) == 40, "what()");
          ++own;
        }
      }
      all += own;
    });
  for (std::thread& thread : threads)
    thread.join();
  caught = all;
  check(caught > 100, "caught");
  std::puts("caught");
}

std::atomic<int> gProfiled{0};
void onProfile(int) {
  ++gProfiled;
}

void profiler() {
  struct sigaction action {};
  action.sa_handler = onProfile;
  action.sa_flags = SA_RESTART;
  check(sigaction(SIGPROF, &action, nullptr) == 0, "sigaction");
  const itimerval often{{0, 4000}, {0, 4000}};
  check(setitimer(ITIMER_PROF, &often, nullptr) == 0, "setitimer");
  // The timer counts CPU time, of which a busy machine gives little.
  for (int round = 0; round < 100 && gProfiled <= 20; ++round)
    spin(0.6);
  const itimerval never{};
  setitimer(ITIMER_PROF, &never, nullptr);
  check(gProfiled > 20, "own handler");
  struct sigaction now {};
  sigaction(SIGPROF, nullptr, &now);
  check(now.sa_handler == onProfile, "still its own");
  std::puts("profiled");
}

sigjmp_buf gBack;
void onFault(int, siginfo_t*, void*) {
  siglongjmp(gBack, 1);
}

void jumps() {
  static char room[64 << 10];
  stack_t alternate{};
  alternate.ss_sp = room;
  alternate.ss_size = sizeof room;
  check(sigaltstack(&alternate, nullptr) == 0, "sigaltstack");
  struct sigaction action {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  void* const none = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  volatile int faults = 0;
  const double end = cpuSeconds() + 0.6;
  while (cpuSeconds() < end) {
    if (sigsetjmp(gBack, 1) == 0)
      *static_cast<volatile char*>(none) = 1;
    else
      faults = faults + 1;
  }
  check(faults > 100, "faults");
  std::puts("jumped");
}

void forks() {
  for (int i = 0; i < 20; ++i) {
    spin(0.02);
    const pid_t child = fork();
    if (child == 0) {
      spin(0.05);
      if (i % 2 == 0)
        _exit(i);
      execl("/bin/sh", "sh", "-c", ("exit " + std::to_string(i)).c_str(), nullptr);
      _exit(99);
    }
    int status = 0;
    check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == i,
          "child");
  }
  std::puts("forked");
}

// The child sets signal actions only for itself, in its parent's memory.
void vforks() {
  for (int i = 0; i < 3; ++i) {
    const pid_t child = vfork();
    if (child == 0) {
      if (signal(SIGURG, SIG_DFL) != SIG_DFL)
        _exit(98);
      for (int number = 1; number < NSIG; ++number)
        signal(number, SIG_DFL);
      execl("/bin/true", "true", nullptr);
      _exit(99);
    }
    int status = 0;
    check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "child");
    spin(0.1);
  }
  std::thread(spin, 0.3).join();
  std::puts("forked");
}

// No signal that the program knows of is sent here.
void blocking() {
  std::map<std::string, std::function<int()>> calls;
  static int pipes[2];
  check(pipe(pipes) == 0, "pipe");
  static const int epoll = epoll_create1(0);
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  const auto in = [](long ms) {
    timespec at{};
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += ms * 1'000'000;
    if (at.tv_nsec >= 1'000'000'000) {
      at.tv_nsec -= 1'000'000'000;
      ++at.tv_sec;
    }
    return at;
  };
  calls["poll"] = [] {
    pollfd one{pipes[0], POLLIN, 0};
    return poll(&one, 1, 3);
  };
  calls["select"] = [] {
    timeval time{0, 3000};
    return select(0, nullptr, nullptr, nullptr, &time);
  };
  calls["epoll_wait"] = [] {
    epoll_event event{};
    return epoll_wait(epoll, &event, 1, 3);
  };
  calls["nanosleep"] = [] {
    const timespec time{0, 3'000'000};
    return nanosleep(&time, nullptr);
  };
  calls["usleep"] = [] { return usleep(3000); };
  calls["sem_timedwait"] = [in] {
    const timespec at = in(3);
    const int result = sem_timedwait(&semaphore, &at);
    return result == -1 && errno == ETIMEDOUT ? 0 : result;
  };
  std::vector<std::thread> threads;
  std::atomic<bool> ends{false};
  for (const auto& [name, call] : calls) {
    threads.emplace_back([&, call = call, name = name] {
      while (!ends) {
        check(call() == 0, name.c_str());
        spin(0.0005);
      }
    });
  }
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([] { spin(1); });
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  ends = true;
  for (std::thread& thread : threads)
    thread.join();
  std::puts("blocked");
}

std::atomic<int> gUrgent{0};
void onUrgent(int) {
  ++gUrgent;
}

// The program gets the signal that Sonde uses if it wants it.
void urgent() {
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends)
      spin(0.01);
  });
  struct sigaction before {};
  check(sigaction(SIGURG, nullptr, &before) == 0 && before.sa_handler == SIG_DFL, "before");
  spin(0.3);
  struct sigaction action {};
  action.sa_handler = onUrgent;
  check(sigaction(SIGURG, &action, &before) == 0 && before.sa_handler == SIG_DFL, "sigaction");
  spin(0.2);
  ends = true;
  other.join();
  check(gUrgent == 0, "none but its own");
  for (int i = 0; i < 10; ++i)
    raise(SIGURG);
  check(gUrgent == 10, "all of its own");
  std::puts("urgent");
}

// A thread that is given no signals, and one that waits for all signals itself.
void masks() {
  sigset_t all;
  sigfillset(&all);
  std::thread([&] {
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    spin(0.3);
  }).join();
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  spin(0.2);
  const timespec soon{0, 50'000'000};
  check(sigtimedwait(&all, nullptr, &soon) == -1 && errno == EAGAIN, "sigtimedwait");
  const int descriptor = signalfd(-1, &all, SFD_NONBLOCK);
  spin(0.2);
  signalfd_siginfo told{};
  check(read(descriptor, &told, sizeof told) == -1 && errno == EAGAIN, "signalfd");
  raise(SIGUSR1);
  int number = 0;
  check(sigwait(&all, &number) == 0 && number == SIGUSR1, "sigwait");
  std::puts("masked");
}

// A thread that waits for the signal that Sonde uses.
void waits() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGURG);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  spin(0.2);
  const int descriptor = signalfd(-1, &set, SFD_NONBLOCK);
  spin(0.2);
  signalfd_siginfo told{};
  check(read(descriptor, &told, sizeof told) == -1 && errno == EAGAIN, "none but its own");
  raise(SIGURG);
  check(read(descriptor, &told, sizeof told) == sizeof told && told.ssi_signo == SIGURG, "its own");
  raise(SIGURG);
  int number = 0;
  check(sigwait(&set, &number) == 0 && number == SIGURG, "sigwait");
  std::puts("waited");
}

// A child that no wrapper sees, like daemon()'s, with its own use for the signal.
void clones() {
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) {
    struct sigaction before {};
    struct sigaction action {};
    action.sa_handler = onUrgent;
    check(sigaction(SIGURG, &action, &before) == 0 && before.sa_handler == SIG_DFL, "before");
    check(sigaction(SIGURG, nullptr, &before) == 0 && before.sa_handler == onUrgent, "its own");
    std::thread(spin, 0.3).join();
    check(gUrgent == 0, "none but its own");
    raise(SIGURG);
    check(gUrgent == 1, "its own");
    _exit(7);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7,
        "child");
  std::thread(spin, 0.3).join();
  std::puts("cloned");
}

struct SlowEnd {
  ~SlowEnd() { spin(0.004); }
};
thread_local SlowEnd tSlowEnd;

// Threads start and end, each with work to do after its function has returned.
void briefs() {
  std::vector<std::thread> makers;
  for (int i = 0; i < 2; ++i)
    makers.emplace_back([] {
      for (int brief = 0; brief < 100; ++brief)
        std::thread([] { check(&tSlowEnd != nullptr, "thread_local"); }).join();
    });
  for (int i = 0; i < 2; ++i)
    makers.emplace_back([] {
      for (int brief = 0; brief < 10; ++brief)
        std::thread(spin, 0.1).join();
    });
  for (std::thread& maker : makers)
    maker.join();
  std::puts("came and went");
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)()> cases = {{"exceptions", exceptions},
                                                   {"profiler", profiler},
                                                   {"jumps", jumps},
                                                   {"forks", forks},
                                                   {"blocking", blocking},
                                                   {"vforks", vforks},
                                                   {"urgent", urgent},
                                                   {"masks", masks},
                                                   {"waits", waits},
                                                   {"clones", clones},
                                                   {"briefs", briefs}};
  const auto found = cases.find(count > 1 ? words[1] : "");
  if (found == cases.end())
    return 2;
  found->second();
  return 0;
}
