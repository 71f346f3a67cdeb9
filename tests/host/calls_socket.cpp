// Bytes through sockets.
#include "tests/host/calls.h"

#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

extern "C" ssize_t __recv_chk(int fd, void* buffer, size_t count, size_t room, int flags);
extern "C" ssize_t __recvfrom_chk(
    int fd, void* buffer, size_t count, size_t room, int flags, sockaddr* from, socklen_t* length);

namespace host {
namespace {

constexpr int kReceiveFlags[] = {
    0, MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC, MSG_OOB, MSG_ERRQUEUE, MSG_WAITALL, -1};
constexpr int kSendFlags[] = {
    MSG_NOSIGNAL, MSG_NOSIGNAL | MSG_DONTWAIT, MSG_NOSIGNAL | MSG_MORE, MSG_NOSIGNAL | MSG_EOR, -1};

void callRecv(Context& c) {
  const int fd = c.fd(Kind::Unix);
  const Memory to = c.buffer(true);
  const std::size_t bytes = c.size();
  const int flags = c.oneOf(kReceiveFlags);
  c.call("recv", "%d, %s, %zu, %#x", fd, to.name, bytes, flags);
  c.resultRead(recv(fd, to.at, bytes, flags), to);
}

void callRecvChecked(Context& c) {
  const int fd = c.fd(Kind::Unix);
  const Memory to = c.buffer(true);
  const std::size_t bytes = c.size(5000);
  const int flags = c.oneOf(kReceiveFlags);
  const std::size_t room = c.isGiven() ? c.oneOf<std::size_t>({5000, 3}) : 5000;
  c.call("__recv_chk", "%d, %s, %zu, %zu, %#x", fd, to.name, bytes, room, flags);
  c.resultRead(__recv_chk(fd, to.at, bytes, room, flags), to);
}

// The address that a call writes to.
struct From {
  sockaddr_storage address;
  socklen_t length;
  const char* addressName;
  const char* lengthName;
  sockaddr* at;
  socklen_t* size;
};

void chooseFrom(Context& c, From& from) noexcept {
  from = {};
  from.length = c.oneOf<socklen_t>({sizeof from.address, 0, 1, static_cast<socklen_t>(-1)}, 70);
  from.at = c.pointer(reinterpret_cast<sockaddr&>(from.address), from.addressName, true);
  from.size = c.pointer(from.length, from.lengthName, true);
}

void callRecvfrom(Context& c) {
  const int fd = c.fd(Kind::Unix);
  const Memory to = c.buffer(true);
  const std::size_t bytes = c.size();
  const int flags = c.oneOf(kReceiveFlags);
  From from;
  chooseFrom(c, from);
  c.call("recvfrom",
         "%d, %s, %zu, %#x, %s, %s",
         fd,
         to.name,
         bytes,
         flags,
         from.addressName,
         from.lengthName);
  c.resultRead(recvfrom(fd, to.at, bytes, flags, from.at, from.size), to);
}

void callRecvfromChecked(Context& c) {
  const int fd = c.fd(Kind::Unix);
  const Memory to = c.buffer(true);
  const std::size_t bytes = c.size(5000);
  const int flags = c.oneOf(kReceiveFlags);
  From from;
  chooseFrom(c, from);
  c.call("__recvfrom_chk",
         "%d, %s, %zu, %#x, %s, %s",
         fd,
         to.name,
         bytes,
         flags,
         from.addressName,
         from.lengthName);
  c.resultRead(__recvfrom_chk(fd, to.at, bytes, 5000, flags, from.at, from.size), to);
}

void callSend(Context& c) {
  const int fd = c.fd(Kind::Unix);
  const Memory from = c.buffer(false);
  const std::size_t bytes = c.size();
  const int flags = c.oneOf(kSendFlags);
  c.call("send", "%d, %s, %zu, %#x", fd, from.name, bytes, flags);
  c.result(send(fd, from.at, bytes, flags));
}

void callSendto(Context& c) {
  const int fd = c.fd(Kind::Unix);
  const Memory from = c.buffer(false);
  const std::size_t bytes = c.size();
  const int flags = c.oneOf(kSendFlags);
  sockaddr_un address{AF_UNIX, "nobody"};
  const char* to = "null";
  const sockaddr* at =
      c.choose(2) == 0 ? nullptr : c.pointer(reinterpret_cast<sockaddr&>(address), to, true);
  const socklen_t length =
      at == nullptr ? 0
                    : c.oneOf<socklen_t>({sizeof address, 0, 1, 200, static_cast<socklen_t>(-1)});
  c.call("sendto", "%d, %s, %zu, %#x, %s, %u", fd, from.name, bytes, flags, to, length);
  c.result(sendto(fd, from.at, bytes, flags, at, length));
}

struct Message {
  iovec parts[2];
  msghdr header;
  char control[64];
  const char* bytes;
  const char* name;
  msghdr* at;
};

void chooseMessage(Context& c, Message& message, bool receives) noexcept {
  message = {};
  const Memory bytes = c.buffer(receives);
  message.bytes = bytes.name;
  message.parts[0] = {bytes.at, c.size(40000)};
  message.parts[1] = {bytes.at, 2};
  message.header.msg_iov = message.parts;
  message.header.msg_iovlen = c.oneOf<std::size_t>({2, 0, 1, 2000, SIZE_MAX});
  if (receives && c.choose(2) != 0) {
    message.header.msg_control = message.control;
    message.header.msg_controllen = sizeof message.control;
  } else if (c.choose(4, 85) == 1) {
    message.header.msg_control = reinterpret_cast<void*>(1);
    message.header.msg_controllen = 24;
  }
  message.at = c.pointer(message.header, message.name, true);
}

void callRecvmsg(Context& c) {
  const int fd = c.fd(Kind::Unix);
  Message message;
  chooseMessage(c, message, true);
  const int flags = c.oneOf(kReceiveFlags);
  c.call("recvmsg",
         "%d, %s %s %zu %zu, %#x",
         fd,
         message.name,
         message.bytes,
         message.parts[0].iov_len,
         message.header.msg_iovlen,
         flags);
  c.result(recvmsg(fd, message.at, flags));
}

void callSendmsg(Context& c) {
  const int fd = c.fd(Kind::Unix);
  Message message;
  chooseMessage(c, message, false);
  const int flags = c.oneOf(kSendFlags);
  c.call("sendmsg",
         "%d, %s %s %zu %zu, %#x",
         fd,
         message.name,
         message.bytes,
         message.parts[0].iov_len,
         message.header.msg_iovlen,
         flags);
  c.result(sendmsg(fd, message.at, flags));
}

struct Messages {
  Message first;
  Message second;
  mmsghdr headers[2];
  const char* name;
  mmsghdr* at;
  unsigned count;
};

void chooseMessages(Context& c, Messages& messages, bool receives) noexcept {
  chooseMessage(c, messages.first, receives);
  chooseMessage(c, messages.second, receives);
  messages.headers[0] = {messages.first.header, 0};
  messages.headers[1] = {messages.second.header, 0};
  messages.at = c.pointer(messages.headers[0], messages.name, true);
  messages.count = c.oneOf<unsigned>({2, 0, 1});
}

void callRecvmmsg(Context& c) {
  const int fd = c.fd(Kind::Unix);
  Messages messages;
  chooseMessages(c, messages, true);
  const int flags = c.oneOf(kReceiveFlags) | (c.choose(2) == 0 ? MSG_DONTWAIT : 0);
  timespec patience = {0, c.oneOf<long>({0, 1000, -1, 2'000'000'000})};
  const char* time = nullptr;
  timespec* const until = c.pointer(patience, time, true);
  c.call("recvmmsg",
         "%d, %s, %u, %#x, %s %ld",
         fd,
         messages.name,
         messages.count,
         flags,
         time,
         patience.tv_nsec);
  c.result(recvmmsg(fd, messages.at, messages.count, flags, until));
}

void callSendmmsg(Context& c) {
  const int fd = c.fd(Kind::Unix);
  Messages messages;
  chooseMessages(c, messages, false);
  const int flags = c.oneOf(kSendFlags);
  c.call("sendmmsg", "%d, %s, %u, %#x", fd, messages.name, messages.count, flags);
  c.result(sendmmsg(fd, messages.at, messages.count, flags));
}

constexpr NamedCall kCalls[] = {{"recv", callRecv, kInVfork},
                                {"__recv_chk", callRecvChecked, kInVfork},
                                {"recvfrom", callRecvfrom, kInVfork},
                                {"__recvfrom_chk", callRecvfromChecked, kInVfork},
                                {"send", callSend, kInVfork},
                                {"sendto", callSendto, kInVfork},
                                {"recvmsg", callRecvmsg, kInVfork},
                                {"sendmsg", callSendmsg, kInVfork},
                                {"recvmmsg", callRecvmmsg, kInVfork},
                                {"sendmmsg", callSendmmsg, kInVfork}};

}  // namespace

CallList socketCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
