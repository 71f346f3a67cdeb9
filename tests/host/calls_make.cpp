// Sockets, pipes and other descriptors without a path.
#include "tests/host/calls.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

namespace host {
namespace {

constexpr int kDomains[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, -1, 999};
constexpr int kTypes[] = {SOCK_STREAM,
                          SOCK_DGRAM,
                          SOCK_SEQPACKET,
                          SOCK_STREAM | SOCK_NONBLOCK,
                          SOCK_STREAM | SOCK_CLOEXEC,
                          0,
                          -1,
                          SOCK_RAW};

void callSocket(Context& c) {
  const int domain = c.oneOf(kDomains);
  const int type = c.oneOf(kTypes);
  const int protocol = c.oneOf<int>({0, 6, -1, 999}, 70);
  c.call("socket", "%d, %#x, %d", domain, type, protocol);
  c.resultFd(socket(domain, type, protocol));
}

// The result of a call that has created two descriptors.
void resultPair(Context& c, long value, const int* ends) noexcept {
  if (value != 0)
    return c.result(value);
  c.resultFd(ends[0]);
  c.note("and %d", c.made(ends[1]));
}

void callSocketpair(Context& c) {
  const int domain = c.oneOf(kDomains);
  const int type = c.oneOf(kTypes);
  const int protocol = c.oneOf<int>({0, -1, 999}, 70);
  int ends[2] = {-1, -1};
  const char* place = nullptr;
  int* const at = c.pointer(ends[0], place, true);
  c.call("socketpair", "%d, %#x, %d, %s", domain, type, protocol, place);
  resultPair(c, socketpair(domain, type, protocol, at), ends);
}

template <bool kHasFlags>
void callAccept(Context& c) {
  const int fd = c.fd(Kind::UnixListener);
  sockaddr_storage address{};
  socklen_t length = c.oneOf<socklen_t>({sizeof address, 0, 1, static_cast<socklen_t>(-1)}, 70);
  const char* where = nullptr;
  const char* size = nullptr;
  auto* const at = c.pointer(reinterpret_cast<sockaddr&>(address), where, true);
  auto* const most = c.pointer(length, size, true);
  const int flags = c.oneOf<int>({0, SOCK_CLOEXEC, SOCK_NONBLOCK, -1}, 60);
  c.call(kHasFlags ? "accept4" : "accept", "%d, %s, %s %u, %#x", fd, where, size, length, flags);
  c.resultFd(kHasFlags ? accept4(fd, at, most, flags) : accept(fd, at, most));
}

void callConnect(Context& c) {
  const int fd = c.fd(Kind::Unix);
  sockaddr_un address{AF_UNIX, "listens"};
  if (c.choose(3) == 1)
    address.sun_path[0] = 'L';
  if (c.choose(5) == 1)
    address.sun_family = AF_UNSPEC;
  const char* where = nullptr;
  auto* const at = c.pointer(reinterpret_cast<sockaddr&>(address), where, true);
  const socklen_t length =
      c.oneOf<socklen_t>({sizeof address, 0, 1, 2, 200, static_cast<socklen_t>(-1)}, 70);
  c.call("connect", "%d, %s %d %c, %u", fd, where, address.sun_family, address.sun_path[0], length);
  c.result(connect(fd, at, length));
}

// An established connection, so that accept() has one to accept.
void callConnected(Context& c) {
  sockaddr_un address{AF_UNIX, "listens"};
  c.call("socket", "connected");
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  c.resultFd(fd);
  c.call("connect", "listens");
  c.result(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address));
}

template <bool kHasFlags>
void callPipe(Context& c) {
  int ends[2] = {-1, -1};
  const char* place = nullptr;
  int* const at = c.pointer(ends[0], place, true);
  const int flags = c.oneOf<int>({O_NONBLOCK, 0, O_CLOEXEC, O_DIRECT, -1, O_APPEND}, 50);
  c.call(kHasFlags ? "pipe2" : "pipe", "%s, %#x", place, flags);
  resultPair(c, kHasFlags ? pipe2(at, flags) : pipe(at), ends);
}

void callEpollCreate(Context& c) {
  const int size = c.oneOf<int>({1, 0, -1, 1 << 30});
  c.call("epoll_create", "%d", size);
  c.resultFd(epoll_create(size));
}

void callEpollCreate1(Context& c) {
  const int flags = c.oneOf<int>({0, EPOLL_CLOEXEC, -1, 1});
  c.call("epoll_create1", "%#x", flags);
  c.resultFd(epoll_create1(flags));
}

void callEventfd(Context& c) {
  const unsigned value = c.oneOf<unsigned>({0, 1, ~0U});
  const int flags = c.oneOf<int>({EFD_NONBLOCK, 0, EFD_CLOEXEC, EFD_SEMAPHORE, -1});
  c.call("eventfd", "%u, %#x", value, flags);
  c.resultFd(eventfd(value, flags));
}

void callTimerfd(Context& c) {
  const int clock =
      c.oneOf<int>({CLOCK_MONOTONIC, CLOCK_REALTIME, -1, 999, CLOCK_THREAD_CPUTIME_ID});
  const int flags = c.oneOf<int>({TFD_NONBLOCK, 0, TFD_CLOEXEC, -1});
  c.call("timerfd_create", "%d, %#x", clock, flags);
  c.resultFd(timerfd_create(clock, flags));
}

void callSignalfd(Context& c) {
  const int fd = c.choose(3, 70) == 0 ? -1 : c.fd(Kind::File);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, c.oneOf<int>({SIGUSR1, SIGURG, SIGCHLD}));
  if (c.choose(5, 80) == 1)
    sigfillset(&signals);
  const char* place = nullptr;
  auto* const at = c.pointer(signals, place, true);
  const int flags = c.oneOf<int>({SFD_NONBLOCK, 0, SFD_CLOEXEC, -1});
  c.call("signalfd", "%d, %s, %#x", fd, place, flags);
  const int result = signalfd(fd, at, flags);
  return fd == -1 ? c.resultFd(result) : c.result(result);
}

void callInotify(Context& c) {
  c.call("inotify_init", "%s", "");
  c.resultFd(inotify_init());
}

void callInotify1(Context& c) {
  const int flags = c.oneOf<int>({IN_NONBLOCK, 0, IN_CLOEXEC, -1});
  c.call("inotify_init1", "%#x", flags);
  c.resultFd(inotify_init1(flags));
}

void callMemfd(Context& c) {
  const Path name = c.path();
  const unsigned flags = c.oneOf<unsigned>({0, MFD_CLOEXEC, MFD_ALLOW_SEALING, ~0U});
  c.call("memfd_create", "%s, %#x", name.name, flags);
  c.resultFd(memfd_create(name.at, flags));
}

constexpr NamedCall kCalls[] = {{"socket", callSocket, kInVfork},
                                {"socketpair", callSocketpair, kInVfork},
                                {"accept", callAccept<false>, kInVfork | kAlone},
                                {"accept4", callAccept<true>, kInVfork | kAlone},
                                {"connect", callConnect, kInVfork | kAlone},
                                {"connect", callConnected, kInVfork | kAlone},
                                {"pipe", callPipe<false>, kInVfork},
                                {"pipe2", callPipe<true>, kInVfork},
                                {"epoll_create", callEpollCreate, kInVfork},
                                {"epoll_create1", callEpollCreate1, kInVfork},
                                {"eventfd", callEventfd, kInVfork},
                                {"timerfd_create", callTimerfd, kInVfork},
                                {"signalfd", callSignalfd, kInVfork},
                                {"inotify_init", callInotify, kInVfork},
                                {"inotify_init1", callInotify1, kInVfork},
                                {"memfd_create", callMemfd, kInVfork}};

}  // namespace

CallList makeCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
