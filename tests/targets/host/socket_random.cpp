// Sends random bytes in random pieces through a TCP connection, a UNIX connection, a socket pair
// and a pipe, with every call that can: short counts, EAGAIN on non-blocking ends, MSG_PEEK, dup'ed
// descriptors, vectors, messages, splice, and stretches that a forked child sends on the inherited
// end. Prints the received bytes; the seed is the only argument.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kBytes = 300'000;

struct Ends {
  int sends;
  int receives;
  bool socket;
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void waitFor(int fd, short events) {
  pollfd entry{fd, events, 0};
  poll(&entry, 1, 1000);
}

unsigned char byteAt(std::size_t position) {
  return static_cast<unsigned char>(position * 131 + position / 251);
}

ssize_t sendSome(const Ends& ends, const unsigned char* from, std::size_t size, unsigned way) {
  iovec parts[2] = {{const_cast<unsigned char*>(from), size / 2},
                    {const_cast<unsigned char*>(from) + size / 2, size - size / 2}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  mmsghdr messages[1] = {{message, 0}};
  switch (ends.socket ? way % 7 : way % 2) {
    case 0:
      return write(ends.sends, from, size);
    case 1:
      return writev(ends.sends, parts, 2);
    case 2:
      return send(ends.sends, from, size, MSG_NOSIGNAL);
    case 3:
      return sendto(ends.sends, from, size, MSG_DONTWAIT, nullptr, 0);
    case 4:
      return sendmsg(ends.sends, &message, MSG_DONTWAIT);
    case 5:
      return sendmmsg(ends.sends, messages, 1, 0) == 1 ? static_cast<ssize_t>(messages[0].msg_len)
                                                       : -1;
    default: {
      const int copy = dup(ends.sends);
      const ssize_t sent = pwritev2(copy, parts, 2, -1, 0);
      close(copy);
      return sent;
    }
  }
}

ssize_t receiveSome(const Ends& ends, unsigned char* to, std::size_t size, unsigned way) {
  iovec parts[2] = {{to, size / 2}, {to + size / 2, size - size / 2}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  switch (ends.socket ? way % 6 : way % 2) {
    case 0:
      return read(ends.receives, to, size);
    case 1:
      return readv(ends.receives, parts, 2);
    case 2:
      if (recv(ends.receives, to, size, MSG_PEEK) == 0)
        return 0;
      return recv(ends.receives, to, size, MSG_DONTWAIT);
    case 3:
      return recvfrom(ends.receives, to, size, 0, nullptr, nullptr);
    case 4:
      return recvmsg(ends.receives, &message, 0);
    default: {
      const int copy = fcntl(ends.receives, F_DUPFD_CLOEXEC, 50);
      const ssize_t got = preadv2(copy, parts, 2, -1, 0);
      close(copy);
      return got;
    }
  }
}

std::size_t sendStretch(const Ends& ends,
                        std::size_t from,
                        std::size_t until,
                        std::mt19937& random) {
  std::vector<unsigned char> bytes;
  while (from < until) {
    const std::size_t size = std::min<std::size_t>(1 + random() % 6000, until - from);
    bytes.resize(size);
    for (std::size_t at = 0; at < size; ++at)
      bytes[at] = byteAt(from + at);
    const ssize_t sent = sendSome(ends, bytes.data(), size, static_cast<unsigned>(random()));
    if (sent > 0)
      from += static_cast<std::size_t>(sent);
    else if (errno == EAGAIN)
      waitFor(ends.sends, POLLOUT);
    else if (errno != EINTR)
      fail("send");
  }
  return from;
}

// A child sends a part while its parent waits: one stream, two processes.
std::size_t sendInChild(const Ends& ends,
                        std::size_t from,
                        std::size_t until,
                        std::mt19937& random) {
  const pid_t child = fork();
  if (child == 0) {
    sendStretch(ends, from, until, random);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0 ? until : from;
}

void sendAll(const Ends& ends, unsigned seed) {
  std::mt19937 random(seed);
  for (std::size_t from = 0; from < kBytes;) {
    const std::size_t until = std::min<std::size_t>(from + 20'000 + random() % 60'000, kBytes);
    from = random() % 3 == 0 ? sendInChild(ends, from, until, random)
                             : sendStretch(ends, from, until, random);
  }
  close(ends.sends);
}

void receiveAll(const Ends& ends, unsigned seed, const char* what) {
  std::mt19937 random(seed);
  std::vector<unsigned char> bytes(8000);
  std::size_t sum = 0;
  bool same = true;
  for (;;) {
    const std::size_t size = 1 + random() % bytes.size();
    const ssize_t got = receiveSome(ends, bytes.data(), size, static_cast<unsigned>(random()));
    if (got == 0)
      break;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      waitFor(ends.receives, POLLIN);
      continue;
    }
    if (got < 0)
      fail("receive");
    for (ssize_t at = 0; at < got; ++at)
      same =
          same && bytes[static_cast<std::size_t>(at)] == byteAt(sum + static_cast<std::size_t>(at));
    sum += static_cast<std::size_t>(got);
  }
  close(ends.receives);
  std::printf("%s %zu %s\n", what, sum, same ? "as sent" : "damaged");
}

Ends connected(int domain, const sockaddr* address, socklen_t size) {
  const int listener = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, address, size) != 0 || listen(listener, 1) != 0)
    fail("listen");
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &length);
  const int client = socket(domain, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (connect(client, reinterpret_cast<sockaddr*>(&bound), length) != 0 && errno != EINPROGRESS)
    fail("connect");
  const int server = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  close(listener);
  return {client, server, true};
}

Ends open(int what) {
  int ends[2] = {-1, -1};
  if (what == 0) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connected(AF_INET, reinterpret_cast<sockaddr*>(&address), sizeof address);
  }
  if (what == 1) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    return connected(AF_UNIX, reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t));
  }
  if ((what == 2 ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe2(ends, O_NONBLOCK)) != 0)
    fail("pair");
  return {what == 2 ? ends[0] : ends[1], what == 2 ? ends[1] : ends[0], what == 2};
}

}  // namespace

int main(int count, char** words) {
  const auto seed = static_cast<unsigned>(count > 1 ? std::atoi(words[1]) : 1);
  const char* const names[] = {"tcp", "unix", "pair", "pipe"};
  for (int what = 0; what < 4; ++what) {
    const Ends ends = open(what);
    std::thread receiver(receiveAll, ends, seed + 100, names[what]);
    sendAll(ends, seed);
    receiver.join();
  }
}
