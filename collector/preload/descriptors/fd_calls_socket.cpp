// Calls that move bytes through sockets: recv and send in all their forms.
//
// Calls that leave the stream unchanged are not counted: MSG_PEEK and MSG_ERRQUEUE. With MSG_TRUNC
// the kernel discards TCP's bytes and returns their number; the stream has lost them, so they
// count. An urgent byte (MSG_OOB) is part of the sender's stream, and may or may not be part of the
// receiver's. Both directions of such a socket are inexact afterwards.

#include "collector/core/platform/hooks.h"
#include "collector/preload/descriptors/fd_calls.h"

#include <sys/socket.h>
#include <sys/types.h>

namespace sonde::preload {
namespace {

using core::Real;

using RecvCall = ssize_t (*)(int, void*, size_t, int);
using RecvCheckedCall = ssize_t (*)(int, void*, size_t, size_t, int);
using RecvFromCall = ssize_t (*)(int, void*, size_t, int, sockaddr*, socklen_t*);
using RecvFromCheckedCall = ssize_t (*)(int, void*, size_t, size_t, int, sockaddr*, socklen_t*);
using RecvMessageCall = ssize_t (*)(int, msghdr*, int);
using RecvMessagesCall = int (*)(int, mmsghdr*, unsigned, int, timespec*);
using SendCall = ssize_t (*)(int, const void*, size_t, int);
using SendToCall = ssize_t (*)(int, const void*, size_t, int, const sockaddr*, socklen_t);
using SendMessageCall = ssize_t (*)(int, const msghdr*, int);
using SendMessagesCall = int (*)(int, mmsghdr*, unsigned, int);

constinit Real<RecvCall> gRecv{"recv"};
constinit Real<RecvCheckedCall> gRecvChecked{"__recv_chk"};
constinit Real<RecvFromCall> gRecvFrom{"recvfrom"};
constinit Real<RecvFromCheckedCall> gRecvFromChecked{"__recvfrom_chk"};
constinit Real<RecvMessageCall> gRecvMessage{"recvmsg"};
constinit Real<RecvMessagesCall> gRecvMessages{"recvmmsg"};
constinit Real<SendCall> gSend{"send"};
constinit Real<SendToCall> gSendTo{"sendto"};
constinit Real<SendMessageCall> gSendMessage{"sendmsg"};
constinit Real<SendMessagesCall> gSendMessages{"sendmmsg"};

__attribute__((constructor(102))) void resolve() {
  gRecv();
  gRecvChecked();
  gRecvFrom();
  gRecvFromChecked();
  gRecvMessage();
  gRecvMessages();
  gSend();
  gSendTo();
  gSendMessage();
  gSendMessages();
}

// Returns the entry with which to record a call on `fd`. An entry without endpoint: only forward
// the call.
FdEntry entryFor(int fd, Way way, int flags) noexcept {
  const FdEntry entry = trackFd(fd);
  if (!entry.hasEndpoint() ||
      __builtin_expect((flags & (MSG_PEEK | MSG_ERRQUEUE | MSG_OOB)) == 0, 1))
    return entry;
  if ((flags & MSG_OOB) == 0)
    return {};
  markInexact(fd, way);
  return way == Way::Send ? entry : FdEntry();
}

ssize_t sumOf(const mmsghdr* messages, int count) noexcept {
  ssize_t sum = 0;
  for (int at = 0; at < count; ++at)
    sum += messages[at].msg_len;
  return sum;
}

}  // namespace
}  // namespace sonde::preload

using namespace sonde::preload;

SONDE_EXPORT ssize_t recv(int fd, void* buffer, size_t count, int flags) {
  const FdEntry entry = entryFor(fd, Way::Receive, flags);
  if (!entry.hasEndpoint())
    return gRecv()(fd, buffer, count, flags);
  const FdCall call = beginCall(fd, entry, Way::Receive);
  const ssize_t result = gRecv()(fd, buffer, count, flags);
  endCall(call, result);
  return result;
}

SONDE_EXPORT ssize_t __recv_chk(int fd, void* buffer, size_t count, size_t room, int flags) {
  const FdEntry entry = entryFor(fd, Way::Receive, flags);
  if (!entry.hasEndpoint())
    return gRecvChecked()(fd, buffer, count, room, flags);
  const FdCall call = beginCall(fd, entry, Way::Receive);
  const ssize_t result = gRecvChecked()(fd, buffer, count, room, flags);
  endCall(call, result);
  return result;
}

SONDE_EXPORT ssize_t
recvfrom(int fd, void* buffer, size_t count, int flags, sockaddr* from, socklen_t* length) {
  const FdEntry entry = entryFor(fd, Way::Receive, flags);
  if (!entry.hasEndpoint())
    return gRecvFrom()(fd, buffer, count, flags, from, length);
  const FdCall call = beginCall(fd, entry, Way::Receive);
  const ssize_t result = gRecvFrom()(fd, buffer, count, flags, from, length);
  endCall(call, result);
  return result;
}

SONDE_EXPORT ssize_t __recvfrom_chk(
    int fd, void* buffer, size_t count, size_t room, int flags, sockaddr* from, socklen_t* length) {
  const FdEntry entry = entryFor(fd, Way::Receive, flags);
  if (!entry.hasEndpoint())
    return gRecvFromChecked()(fd, buffer, count, room, flags, from, length);
  const FdCall call = beginCall(fd, entry, Way::Receive);
  const ssize_t result = gRecvFromChecked()(fd, buffer, count, room, flags, from, length);
  endCall(call, result);
  return result;
}

SONDE_EXPORT ssize_t recvmsg(int fd, msghdr* message, int flags) {
  const FdEntry entry = entryFor(fd, Way::Receive, flags);
  if (!entry.hasEndpoint())
    return gRecvMessage()(fd, message, flags);
  const FdCall call = beginCall(fd, entry, Way::Receive);
  const ssize_t result = gRecvMessage()(fd, message, flags);
  endCall(call, result);
  return result;
}

SONDE_EXPORT int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  const FdEntry entry = entryFor(fd, Way::Receive, flags);
  if (!entry.hasEndpoint())
    return gRecvMessages()(fd, messages, count, flags, timeout);
  const FdCall call = beginCall(fd, entry, Way::Receive);
  const int result = gRecvMessages()(fd, messages, count, flags, timeout);
  endCall(call, sumOf(messages, result));
  return result;
}

SONDE_EXPORT ssize_t send(int fd, const void* buffer, size_t count, int flags) {
  const FdEntry entry = entryFor(fd, Way::Send, flags);
  if (!entry.hasEndpoint())
    return gSend()(fd, buffer, count, flags);
  const FdCall call = beginCall(fd, entry, Way::Send);
  const ssize_t result = gSend()(fd, buffer, count, flags);
  endCall(call, result);
  return result;
}

SONDE_EXPORT ssize_t
sendto(int fd, const void* buffer, size_t count, int flags, const sockaddr* to, socklen_t length) {
  const FdEntry entry = entryFor(fd, Way::Send, flags);
  if (!entry.hasEndpoint())
    return gSendTo()(fd, buffer, count, flags, to, length);
  const FdCall call = beginCall(fd, entry, Way::Send);
  const ssize_t result = gSendTo()(fd, buffer, count, flags, to, length);
  endCall(call, result);
  return result;
}

SONDE_EXPORT ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  const FdEntry entry = entryFor(fd, Way::Send, flags);
  if (!entry.hasEndpoint())
    return gSendMessage()(fd, message, flags);
  const FdCall call = beginCall(fd, entry, Way::Send);
  const ssize_t result = gSendMessage()(fd, message, flags);
  endCall(call, result);
  return result;
}

SONDE_EXPORT int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  const FdEntry entry = entryFor(fd, Way::Send, flags);
  if (!entry.hasEndpoint())
    return gSendMessages()(fd, messages, count, flags);
  const FdCall call = beginCall(fd, entry, Way::Send);
  const int result = gSendMessages()(fd, messages, count, flags);
  endCall(call, sumOf(messages, result));
  return result;
}
