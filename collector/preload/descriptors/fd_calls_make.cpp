// Calls that create sockets, pipes, and descriptors that are neither.

#include "collector/core/emit.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/descriptors/fd_calls.h"
#include "collector/preload/descriptors/net_socket.h"
#include "collector/preload/sync/sync_probe.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

namespace sonde::preload {
namespace {

using core::Real;

using SocketCall = int (*)(int, int, int);
using SocketPairCall = int (*)(int, int, int, int*);
using AcceptCall = int (*)(int, sockaddr*, socklen_t*);
using Accept4Call = int (*)(int, sockaddr*, socklen_t*, int);
using ConnectCall = int (*)(int, const sockaddr*, socklen_t);
using PipeCall = int (*)(int*);
using Pipe2Call = int (*)(int*, int);
using MakeCall = int (*)(int);
using MakePlainCall = int (*)();
using EventCall = int (*)(unsigned, int);
using TimerCall = int (*)(clockid_t, int);
using SignalCall = int (*)(int, const sigset_t*, int);
using MemoryCall = int (*)(const char*, unsigned);

constinit Real<SocketCall> gSocket{"socket"};
constinit Real<SocketPairCall> gSocketPair{"socketpair"};
constinit Real<AcceptCall> gAccept{"accept"};
constinit Real<Accept4Call> gAccept4{"accept4"};
constinit Real<ConnectCall> gConnect{"connect"};
constinit Real<PipeCall> gPipe{"pipe"};
constinit Real<Pipe2Call> gPipe2{"pipe2"};
constinit Real<MakeCall> gEpollCreate{"epoll_create"};
constinit Real<MakeCall> gEpollCreate1{"epoll_create1"};
constinit Real<EventCall> gEvent{"eventfd"};
constinit Real<TimerCall> gTimer{"timerfd_create"};
constinit Real<SignalCall> gSignal{"signalfd"};
constinit Real<MakePlainCall> gInotify{"inotify_init"};
constinit Real<MakeCall> gInotify1{"inotify_init1"};
constinit Real<MemoryCall> gMemory{"memfd_create"};

__attribute__((constructor(102))) void resolve() {
  gSocket();
  gSocketPair();
  gAccept();
  gAccept4();
  gConnect();
  gPipe();
  gPipe2();
  gEpollCreate();
  gEpollCreate1();
  gEvent();
  gTimer();
  gSignal();
  gInotify();
  gInotify1();
  gMemory();
}

// Runs call(), which may wait for the other end.
template <typename Call>
int waiting(const char* name, Call call) {
  const std::uint64_t begin = core::ticks();
  const int result = call();
  notePause(name, begin, core::ticks());
  return result;
}

int accepted(int listener, int fd) noexcept {
  if (fd < 0 || !fd_table::started())
    return fd;
  const FdEntry entry = fd_table::entryOf(listener);
  trackNew(fd, entry.hasEndpoint() ? entry.kind() : kindOfSocket(fd));
  return fd;
}

int piped(const int* ends, int result) noexcept {
  if (result == 0) {
    trackNew(ends[0], FdKind::Pipe);
    trackNew(ends[1], FdKind::Pipe);
  }
  return result;
}

void trackHalf(int fd, int other, FdKind kind) noexcept {
  if (Endpoint* endpoint = trackNew(fd, kind); endpoint != nullptr && kind == FdKind::Unix)
    endpoint->peerInode.store(inodeOf(other), std::memory_order_relaxed);
}

// A socket that is connected again begins a new stream.
void restarted(int fd) noexcept {
  const Endpoint* endpoint = fd_table::endpointOf(fd_table::entryOf(fd));
  if (endpoint == nullptr)
    return;
  for (const Direction& way : endpoint->ways) {
    if (way.offset.load(std::memory_order_relaxed) != 0) {
      trackNew(fd, endpoint->kind);
      return;
    }
  }
}

int plain(int fd) noexcept {
  if (fd >= 0)
    forgetFd(fd);
  return fd;
}

}  // namespace
}  // namespace sonde::preload

using namespace sonde::preload;

SONDE_EXPORT int socket(int domain, int type, int protocol) {
  const int fd = gSocket()(domain, type, protocol);
  trackNew(fd, kindOfSocket(domain, type, protocol));
  return fd;
}

SONDE_EXPORT int socketpair(int domain, int type, int protocol, int* ends) {
  const int result = gSocketPair()(domain, type, protocol, ends);
  if (result == 0) {
    const FdKind kind = kindOfSocket(domain, type, protocol);
    trackHalf(ends[0], ends[1], kind);
    trackHalf(ends[1], ends[0], kind);
  }
  return result;
}

SONDE_EXPORT int accept(int fd, sockaddr* address, socklen_t* length) {
  return accepted(fd, waiting("accept", [=] { return gAccept()(fd, address, length); }));
}

SONDE_EXPORT int accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
  return accepted(fd, waiting("accept4", [=] { return gAccept4()(fd, address, length, flags); }));
}

SONDE_EXPORT int connect(int fd, const sockaddr* address, socklen_t length) {
  const int result = waiting("connect", [=] { return gConnect()(fd, address, length); });
  if (result == 0 || errno == EINPROGRESS)
    restarted(fd);
  return result;
}

SONDE_EXPORT int pipe(int* ends) {
  return piped(ends, gPipe()(ends));
}

SONDE_EXPORT int pipe2(int* ends, int flags) {
  return piped(ends, gPipe2()(ends, flags));
}

SONDE_EXPORT int epoll_create(int size) {
  return plain(gEpollCreate()(size));
}

SONDE_EXPORT int epoll_create1(int flags) {
  return plain(gEpollCreate1()(flags));
}

SONDE_EXPORT int eventfd(unsigned value, int flags) {
  return plain(gEvent()(value, flags));
}

SONDE_EXPORT int timerfd_create(clockid_t clock, int flags) {
  return plain(gTimer()(clock, flags));
}

SONDE_EXPORT int signalfd(int fd, const sigset_t* mask, int flags) {
  const int result = gSignal()(fd, mask, flags);
  return fd == -1 ? plain(result) : result;
}

SONDE_EXPORT int inotify_init() {
  return plain(gInotify()());
}

SONDE_EXPORT int inotify_init1(int flags) {
  return plain(gInotify1()(flags));
}

SONDE_EXPORT int memfd_create(const char* name, unsigned flags) {
  return plain(gMemory()(name, flags));
}
