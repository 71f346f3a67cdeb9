// Waiting for descriptors, for time and for signals.
#include "tests/host/calls.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern "C" {
int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t room);
int __ppoll_chk(
    pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask, size_t room);
}

namespace host {
namespace {

struct Polled {
  pollfd fds[2];
  const char* name;
  pollfd* at;
  nfds_t count;
};

void choosePolled(Context& c, Polled& out) noexcept {
  out.fds[0] = {
      c.fd(Kind::PipeIn), static_cast<short>(c.oneOf<int>({POLLIN | POLLOUT, POLLIN, 0, -1})), 0};
  out.fds[1] = {c.fd(Kind::PipeOut), POLLIN, 0};
  out.at = c.pointer(out.fds[0], out.name, true);
  out.count = c.oneOf<nfds_t>({2, 0, 1, static_cast<nfds_t>(-1), 1UL << 30});
}

void resultPolled(Context& c, long result, const Polled& polled) noexcept {
  c.result(result);
  if (result > 0)
    c.note("%#x %#x", polled.fds[0].revents, polled.fds[1].revents);
}

struct Time {
  timespec time;
  const char* name;
  const timespec* at;
};

// A millisecond, zero, or an impossible time. `mayBeNull`: also no limit.
void chooseTime(Context& c, Time& out, bool mayBeNull = false) noexcept {
  out.time = {c.oneOf<time_t>({0, 0, -1}, 80),
              c.oneOf<long>({1'000'000, 0, -1, 1'000'000'000, LONG_MAX})};
  out.at = c.pointer(out.time, out.name, mayBeNull);
}

struct Mask {
  sigset_t set;
  const char* name;
  const sigset_t* at;
};

void chooseMask(Context& c, Mask& out) noexcept {
  sigemptyset(&out.set);
  if (c.choose(2) != 0)
    sigaddset(&out.set, SIGUSR2);
  out.name = "null";
  out.at = c.choose(2) == 0 ? nullptr : c.pointer(out.set, out.name);
}

void callPoll(Context& c) {
  Polled polled;
  choosePolled(c, polled);
  // With a millisecond the guard might act first.
  const int timeout = c.oneOf<int>({0, -1, INT_MIN}, 70);
  c.call("poll",
         "%d %d, %s, %lu, %d",
         polled.fds[0].fd,
         polled.fds[1].fd,
         polled.name,
         polled.count,
         timeout);
  resultPolled(c, poll(polled.at, polled.count, timeout), polled);
}

void callPollChecked(Context& c) {
  Polled polled;
  choosePolled(c, polled);
  polled.count = polled.count > 2 ? 2 : polled.count;
  c.call("__poll_chk", "%s, %lu", polled.name, polled.count);
  resultPolled(c, __poll_chk(polled.at, polled.count, 0, sizeof polled.fds), polled);
}

void callPpoll(Context& c) {
  Polled polled;
  Time time;
  Mask mask;
  choosePolled(c, polled);
  chooseTime(c, time);
  chooseMask(c, mask);
  if (time.at != &time.time)  // libc copies it by itself
    return;
  c.callUnguarded(
      "ppoll", "%s, %lu, %ld, %s", polled.name, polled.count, time.time.tv_nsec, mask.name);
  resultPolled(c, ppoll(polled.at, polled.count, time.at, mask.at), polled);
}

void callPpollChecked(Context& c) {
  Polled polled;
  Mask mask;
  choosePolled(c, polled);
  chooseMask(c, mask);
  polled.count = polled.count > 2 ? 2 : polled.count;
  const timespec none{};
  c.call("__ppoll_chk", "%s, %lu, %s", polled.name, polled.count, mask.name);
  resultPolled(c, __ppoll_chk(polled.at, polled.count, &none, mask.at, sizeof polled.fds), polled);
}

struct Sets {
  fd_set reads;
  int end;
  const char* name;
  fd_set* at;
};

void chooseSets(Context& c, Sets& out) noexcept {
  FD_ZERO(&out.reads);
  const int fd = c.fd(Kind::PipeOut);
  if (fd >= 0 && fd < FD_SETSIZE)
    FD_SET(fd, &out.reads);
  out.end = c.oneOf<int>({fd >= 0 && fd < FD_SETSIZE ? fd + 1 : 0, 0, -1, INT_MIN});
  out.at = c.pointer(out.reads, out.name, true);
}

void callSelect(Context& c) {
  Sets sets;
  chooseSets(c, sets);
  timeval time = {c.oneOf<time_t>({0, -1}, 80), c.oneOf<suseconds_t>({0, 1000, -1, 2'000'000})};
  c.callUnguarded("select", "%d, %s, %ld %ld", sets.end, sets.name, time.tv_sec, time.tv_usec);
  c.result(select(sets.end, sets.at, nullptr, nullptr, &time));
}

void callPselect(Context& c) {
  Sets sets;
  Time time;
  Mask mask;
  chooseSets(c, sets);
  chooseTime(c, time);
  chooseMask(c, mask);
  if (time.at != &time.time)
    return;
  c.callUnguarded("pselect",
                  "%d, %s, %ld %ld, %s",
                  sets.end,
                  sets.name,
                  time.time.tv_sec,
                  time.time.tv_nsec,
                  mask.name);
  c.result(pselect(sets.end, sets.at, nullptr, nullptr, time.at, mask.at));
}

struct Events {
  epoll_event events[2];
  const char* name;
  epoll_event* at;
  int room;
};

void chooseEvents(Context& c, Events& out) noexcept {
  const int watched = c.fd(Kind::PipeIn);
  epoll_event event{};
  event.events = EPOLLOUT | EPOLLET;
  c.call("epoll_ctl", "%d", watched);
  c.result(epoll_ctl(c.pooled(Kind::Poll), EPOLL_CTL_ADD, watched, &event));
  out.at = c.pointer(out.events[0], out.name, true);
  out.room = c.oneOf<int>({2, 1, 0, -1, INT_MAX});
}

void callEpollWait(Context& c) {
  Events events;
  chooseEvents(c, events);
  const int fd = c.fd(Kind::Poll);
  // With a millisecond the guard might come first.
  const int timeout = c.oneOf<int>({0, -1, INT_MIN}, 70);
  c.call("epoll_wait", "%d, %s, %d, %d", fd, events.name, events.room, timeout);
  c.result(epoll_wait(fd, events.at, events.room, timeout));
}

void callEpollPwait(Context& c) {
  Events events;
  Mask mask;
  chooseEvents(c, events);
  chooseMask(c, mask);
  const int fd = c.fd(Kind::Poll);
  c.call("epoll_pwait", "%d, %s, %d, %s", fd, events.name, events.room, mask.name);
  c.result(epoll_pwait(fd, events.at, events.room, 0, mask.at));
}

void callEpollPwait2(Context& c) {
  Events events;
  Time time;
  Mask mask;
  chooseEvents(c, events);
  chooseTime(c, time);
  chooseMask(c, mask);
  const int fd = c.fd(Kind::Poll);
  c.callUnguarded("epoll_pwait2",
                  "%d, %s, %d, %s %ld %ld, %s",
                  fd,
                  events.name,
                  events.room,
                  time.name,
                  time.time.tv_sec,
                  time.time.tv_nsec,
                  mask.name);
  c.result(epoll_pwait2(fd, events.at, events.room, time.at, mask.at));
}

void callNanosleep(Context& c) {
  Time time;
  chooseTime(c, time, true);
  c.callUnguarded("nanosleep", "%s %ld %ld", time.name, time.time.tv_sec, time.time.tv_nsec);
  c.result(nanosleep(time.at, nullptr));
}

void callClockNanosleep(Context& c) {
  const clockid_t clock =
      c.oneOf<clockid_t>({CLOCK_MONOTONIC, CLOCK_REALTIME, -1, 999, CLOCK_THREAD_CPUTIME_ID});
  const int flags = c.oneOf<int>({0, TIMER_ABSTIME, -1});
  Time time;
  chooseTime(c, time, true);
  c.callUnguarded("clock_nanosleep",
                  "%d, %d, %s %ld %ld",
                  clock,
                  flags,
                  time.name,
                  time.time.tv_sec,
                  time.time.tv_nsec);
  c.result(clock_nanosleep(clock, flags, time.at, nullptr));
}

void callThrdSleep(Context& c) {
  Time time;
  chooseTime(c, time, true);
  c.callUnguarded("thrd_sleep", "%s %ld %ld", time.name, time.time.tv_sec, time.time.tv_nsec);
  c.result(thrd_sleep(time.at, nullptr));
}

void callUsleep(Context& c) {
  const useconds_t time = c.oneOf<useconds_t>({1, 0, 1000});
  c.callUnguarded("usleep", "%u", time);
  c.result(usleep(time));
}

// Without a signal it would take seconds.
void callSleep(Context& c) {
  const bool isLong = c.choose(6, 90) == 1;
  if (isLong)
    c.call("sleep", "%s", "interrupted");
  else
    c.callUnguarded("sleep", "%s", "0");
  c.result(sleep(isLong ? 1000 : 0) != 0);
}

void callPause(Context& c) {
  c.call("pause", "%s", "");
  c.result(pause());
}

constexpr NamedCall kCalls[] = {{"poll", callPoll, kInVfork},
                                {"__poll_chk", callPollChecked, kInVfork},
                                {"ppoll", callPpoll, kInVfork},
                                {"__ppoll_chk", callPpollChecked, kInVfork},
                                {"select", callSelect, kInVfork},
                                {"pselect", callPselect, kInVfork},
                                {"epoll_wait", callEpollWait, kInVfork},
                                {"epoll_pwait", callEpollPwait, kInVfork},
                                {"epoll_pwait2", callEpollPwait2, kInVfork},
                                {"nanosleep", callNanosleep, kInVfork},
                                {"clock_nanosleep", callClockNanosleep, kInVfork},
                                {"thrd_sleep", callThrdSleep, 0},
                                {"usleep", callUsleep, kInVfork},
                                {"sleep", callSleep, 0},
                                {"pause", callPause, 0}};

}  // namespace

CallList waitCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
