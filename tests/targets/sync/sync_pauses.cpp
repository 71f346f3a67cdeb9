// sync_pauses [quick]: waits for kPause in each function that blocks without waiting for a thread.
// With `quick`, calls those that can return immediately so that they do. Prints each function's
// name (tests/e2e/threads/sync_pause_test.py). Exit status 1: a call behaved differently than
// without Sonde.
#include "tests/targets/sync/sync_threads.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <string>

namespace {

constexpr long kPauseMs = 20;
constexpr timespec kPause = {0, kPauseMs * 1'000'000};
constexpr timespec kNone = {0, 0};

struct Step {
  const char* function;
  std::function<bool()> call;  // returns whether the result was right
};

void run(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    errno = 4711;
    check(step.call(), step.function);
    check(errno == 4711 || errno == EINTR || errno == EAGAIN, "errno");
    std::printf("%s\n", step.function);
  }
}

// A child that lives for kPause.
pid_t child() {
  const pid_t pid = fork();
  if (pid == 0) {
    nanosleep(&kPause, nullptr);
    _exit(7);
  }
  return pid;
}

bool left(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

int gTwo[2];  // an empty pipe

std::vector<Step> polls(const timespec& pause, int epoll) {
  const int ms = static_cast<int>(pause.tv_nsec / 1'000'000);
  static pollfd readable;
  static epoll_event event;
  readable = {gTwo[0], POLLIN, 0};
  return {{"poll", [=] { return poll(&readable, 1, ms) == 0; }},
          {"ppoll", [=] { return ppoll(&readable, 1, &pause, nullptr) == 0; }},
          {"select",
           [=] {
             fd_set set;
             FD_ZERO(&set);
             FD_SET(gTwo[0], &set);
             timeval time = {0, ms * 1000};
             return select(gTwo[0] + 1, &set, nullptr, nullptr, &time) == 0 &&
                    !FD_ISSET(gTwo[0], &set);
           }},
          {"pselect", [=] { return pselect(0, nullptr, nullptr, nullptr, &pause, nullptr) == 0; }},
          {"epoll_wait", [=] { return epoll_wait(epoll, &event, 1, ms) == 0; }},
          {"epoll_pwait", [=] { return epoll_pwait(epoll, &event, 1, ms, nullptr) == 0; }},
          {"epoll_pwait2", [=] { return epoll_pwait2(epoll, &event, 1, &pause, nullptr) == 0; }}};
}

timespec later() {
  return after(CLOCK_MONOTONIC, kPauseMs);
}

std::vector<Step> sleeps() {
  return {{"nanosleep", [] { return nanosleep(&kPause, nullptr) == 0; }},
          {"clock_nanosleep",
           [] {
             const timespec until = later();
             return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == 0;
           }},
          {"thrd_sleep", [] { return thrd_sleep(&kPause, nullptr) == 0; }},
          {"usleep", [] { return usleep(kPauseMs * 1000) == 0; }},
          {"sleep", [] { return sleep(1) == 0; }}};
}

// SIGALRM comes after kPause.
void alarmSoon() {
  const itimerval timer = {{0, 0}, {0, kPauseMs * 1000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

std::vector<Step> signals() {
  static sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  const auto blocked = [](auto call) {
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, &alarms, &before);
    alarmSoon();
    const bool result = call(before);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return result;
  };
  return {
      {"pause",
       [] {
         alarmSoon();
         return pause() == -1 && errno == EINTR;
       }},
      {"sigsuspend",
       [=] {
         return blocked(
             [](const sigset_t& mask) { return sigsuspend(&mask) == -1 && errno == EINTR; });
       }},
      {"sigwait",
       [=] {
         return blocked([](const sigset_t&) {
           int signal = 0;
           return sigwait(&alarms, &signal) == 0 && signal == SIGALRM;
         });
       }},
      {"sigwaitinfo",
       [=] {
         return blocked([](const sigset_t&) { return sigwaitinfo(&alarms, nullptr) == SIGALRM; });
       }},
      {"sigtimedwait",
       [=] { return sigtimedwait(&alarms, nullptr, &kPause) == -1 && errno == EAGAIN; }}};
}

std::vector<Step> children(int options) {
  const auto waitFor = [=](auto call) {
    const pid_t pid = child();
    int status = 0;
    return call(pid, &status) == (options == WNOHANG ? 0 : pid) &&
           (options == 0 ? left(status) : waitpid(pid, &status, 0) == pid);
  };
  return {{"waitpid",
           [=] {
             return waitFor([=](pid_t pid, int* status) { return waitpid(pid, status, options); });
           }},
          {"wait3",
           [=] {
             return waitFor([=](pid_t, int* status) { return wait3(status, options, nullptr); });
           }},
          {"wait4", [=] {
             return waitFor(
                 [=](pid_t pid, int* status) { return wait4(pid, status, options, nullptr); });
           }}};
}

std::vector<Step> moreChildren() {
  return {{"wait",
           [] {
             const pid_t pid = child();
             int status = 0;
             return wait(&status) == pid && left(status);
           }},
          {"waitid", [] {
             siginfo_t info{};
             const pid_t pid = child();
             return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED) == 0 &&
                    info.si_status == 7;
           }}};
}

// The other end acts after kPause.
std::vector<Step> descriptors() {
  return {{"read",
           [] {
             int ends[2];
             check(pipe(ends) == 0, "pipe");
             std::thread closer([&] {
               nanosleep(&kPause, nullptr);
               close(ends[1]);
             });
             char byte = 0;
             const bool ended = read(ends[0], &byte, 1) == 0;
             closer.join();
             return ended;
           }},
          {"open",
           [] {
             const std::string path = "/tmp/sync_pauses." + std::to_string(getpid());
             check(mkfifo(path.c_str(), 0600) == 0, "mkfifo");
             std::thread writer([&] {
               nanosleep(&kPause, nullptr);
               open(path.c_str(), O_WRONLY);
             });
             const bool opened = open(path.c_str(), O_RDONLY) >= 0;
             writer.join();
             return unlink(path.c_str()) == 0 && opened;
           }},
          {"accept", [] {
             const int listener = socket(AF_INET, SOCK_STREAM, 0);
             sockaddr_in address{};
             address.sin_family = AF_INET;
             address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
             socklen_t length = sizeof address;
             auto* const name = reinterpret_cast<sockaddr*>(&address);
             check(bind(listener, name, length) == 0 && listen(listener, 1) == 0 &&
                       getsockname(listener, name, &length) == 0,
                   "listen");
             std::thread other([&] {
               nanosleep(&kPause, nullptr);
               const int fd = socket(AF_INET, SOCK_STREAM, 0);
               check(connect(fd, name, length) == 0, "connect");
             });
             const bool accepted = accept(listener, nullptr, nullptr) >= 0;
             other.join();
             return accepted;
           }}};
}

}  // namespace

int main(int count, char**) {
  std::signal(SIGALRM, [](int) {});
  check(pipe(gTwo) == 0, "pipe");
  const int epoll = epoll_create1(0);
  const bool quick = count > 1;
  for (int round = 0; round < (quick ? 100 : 1); ++round)
    run(polls(quick ? kNone : kPause, epoll));
  run(children(quick ? WNOHANG : 0));
  if (quick)
    return 0;
  run(descriptors());
  run(sleeps());
  run(signals());
  run(moreChildren());
  return 0;
}
