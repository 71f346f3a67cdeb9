// Waiting for descriptors: poll, select and epoll in all their forms.

#include "collector/core/platform/hooks.h"
#include "collector/preload/sync/interposer/pausing.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

namespace sonde::preload::sync {
namespace {

using core::Real;

using Poll = int (*)(pollfd*, nfds_t, int);
using PollChecked = int (*)(pollfd*, nfds_t, int, size_t);
using PollMasked = int (*)(pollfd*, nfds_t, const timespec*, const sigset_t*);
using PollMaskedChecked = int (*)(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);
using Select = int (*)(int, fd_set*, fd_set*, fd_set*, timeval*);
using SelectMasked = int (*)(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*);
using Epoll = int (*)(int, epoll_event*, int, int);
using EpollMasked = int (*)(int, epoll_event*, int, int, const sigset_t*);
using EpollMasked2 = int (*)(int, epoll_event*, int, const timespec*, const sigset_t*);

constinit Real<Poll> gPoll{"poll"};
constinit Real<PollChecked> gPollChecked{"__poll_chk"};
constinit Real<PollMasked> gPollMasked{"ppoll"};
constinit Real<PollMaskedChecked> gPollMaskedChecked{"__ppoll_chk"};
constinit Real<Select> gSelect{"select"};
constinit Real<SelectMasked> gSelectMasked{"pselect"};
constinit Real<Epoll> gEpoll{"epoll_wait"};
constinit Real<EpollMasked> gEpollMasked{"epoll_pwait"};
constinit Real<EpollMasked2> gEpollMasked2{"epoll_pwait2"};

__attribute__((constructor(102))) void resolve() {
  gPoll();
  gPollChecked();
  gPollMasked();
  gPollMaskedChecked();
  gSelect();
  gSelectMasked();
  gEpoll();
  gEpollMasked();
  gEpollMasked2();
}

}  // namespace
}  // namespace sonde::preload::sync

using namespace sonde::preload::sync;

SONDE_EXPORT int poll(pollfd* fds, nfds_t count, int timeout) {
  return pausing("poll", [=] { return gPoll()(fds, count, timeout); });
}

SONDE_EXPORT int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t room) {
  return pausing("poll", [=] { return gPollChecked()(fds, count, timeout, room); });
}

SONDE_EXPORT int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return pausing("ppoll", [=] { return gPollMasked()(fds, count, timeout, mask); });
}

SONDE_EXPORT int __ppoll_chk(
    pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask, size_t room) {
  return pausing("ppoll", [=] { return gPollMaskedChecked()(fds, count, timeout, mask, room); });
}

SONDE_EXPORT int select(int end, fd_set* reads, fd_set* writes, fd_set* others, timeval* timeout) {
  return pausing("select", [=] { return gSelect()(end, reads, writes, others, timeout); });
}

SONDE_EXPORT int pselect(int end,
                         fd_set* reads,
                         fd_set* writes,
                         fd_set* others,
                         const timespec* timeout,
                         const sigset_t* mask) {
  return pausing("pselect",
                 [=] { return gSelectMasked()(end, reads, writes, others, timeout, mask); });
}

SONDE_EXPORT int epoll_wait(int fd, epoll_event* events, int room, int timeout) {
  return pausing("epoll_wait", [=] { return gEpoll()(fd, events, room, timeout); });
}

SONDE_EXPORT int epoll_pwait(
    int fd, epoll_event* events, int room, int timeout, const sigset_t* mask) {
  return pausing("epoll_pwait", [=] { return gEpollMasked()(fd, events, room, timeout, mask); });
}

// New in glibc 2.35.
SONDE_EXPORT int epoll_pwait2(
    int fd, epoll_event* events, int room, const timespec* timeout, const sigset_t* mask) {
  const EpollMasked2 real = gEpollMasked2();
  if (real == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  return pausing("epoll_pwait2", [=] { return real(fd, events, room, timeout, mask); });
}
