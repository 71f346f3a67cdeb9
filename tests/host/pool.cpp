// The descriptors with which a sequence begins.
#include "tests/host/context.h"
#include "tests/host/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace host {
namespace {

void fill(const char* path, int bytes) noexcept {
  const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  char data[8192];
  for (int at = 0; at < bytes; ++at)
    data[at] = static_cast<char>('A' + at % 53);
  (void)!write(fd, data, static_cast<size_t>(bytes));
  close(fd);
}

int unixListener() noexcept {
  sockaddr_un address{AF_UNIX, "listens"};
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  unlink("listens");
  bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  listen(fd, 4);
  return fd;
}

struct Loopback {
  int listener;
  int client;
  int server;
};

Loopback loopback() noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  Loopback made{socket(AF_INET, SOCK_STREAM, 0), socket(AF_INET, SOCK_STREAM, 0), -1};
  bind(made.listener, reinterpret_cast<sockaddr*>(&address), length);
  listen(made.listener, 4);
  getsockname(made.listener, reinterpret_cast<sockaddr*>(&address), &length);
  connect(made.client, reinterpret_cast<sockaddr*>(&address), length);
  made.server = accept(made.listener, nullptr, nullptr);
  fcntl(made.listener, F_SETFL, O_NONBLOCK);
  return made;
}

}  // namespace

void Context::keep(Kind kind, long fd) noexcept {
  if (firstFd_ >= 0 && fd >= 0) {
    const int own = firstFd_++;
    dup2(static_cast<int>(fd), own);
    close(static_cast<int>(fd));
    fd = own;
  }
  pool_[static_cast<int>(kind)] = static_cast<int>(fd);
}

void Context::makePool(int firstFd) noexcept {
  firstFd_ = firstFd;
  // A separate thread has its own files.
  nameFiles(firstFd);
  char own[16];
  snprintf(own, sizeof own, "own%d", firstFd);
  if (firstFd >= 0)
    mkdir(own, 0700);
  const char* const file = names_[0];
  fill(file, 6000);
  fill(names_[5], 10);
  mkdir(names_[3], 0700);
  (void)!symlink("loop", names_[6]);
  keep(Kind::File, open(file, O_RDWR));
  keep(Kind::ReadOnly, open(file, O_RDONLY));
  keep(Kind::WriteOnly, open(file, O_WRONLY | O_APPEND));
  int ends[2];
  (void)!pipe2(ends, O_NONBLOCK);
  keep(Kind::PipeOut, ends[0]);
  keep(Kind::PipeIn, ends[1]);
  (void)!pipe(ends);
  keep(Kind::WaitingOut, ends[0]);
  keep(Kind::WaitingIn, ends[1]);
  socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends);
  keep(Kind::Unix, ends[0]);
  keep(Kind::UnixPeer, ends[1]);
  socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends);
  keep(Kind::Packets, ends[0]);
  keep(Kind::PacketsPeer, ends[1]);
  const Loopback tcp = loopback();
  keep(Kind::Tcp, tcp.client);
  keep(Kind::TcpPeer, tcp.server);
  keep(Kind::Listener, tcp.listener);
  keep(Kind::UnixListener, firstFd < 0 ? unixListener() : socket(AF_UNIX, SOCK_STREAM, 0));
  keep(Kind::Folder, open(".", O_RDONLY | O_DIRECTORY));
  keep(Kind::PathOnly, open(file, O_PATH));
  keep(Kind::Event, eventfd(3, EFD_NONBLOCK));
  keep(Kind::Poll, epoll_create1(0));
  keep(Kind::Null, open("/dev/null", O_RDWR));
}

}  // namespace host
