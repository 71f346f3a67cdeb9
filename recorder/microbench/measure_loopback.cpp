#include "recorder/microbench/measure_loopback.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

namespace sonde::recorder::microbench {
namespace {

class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (descriptor_ >= 0)
      close(descriptor_);
  }
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

Error socketError(const char* what) {
  return {ErrorCode::Io, std::string("TCP on 127.0.0.1: ") + what + ": " + std::strerror(errno)};
}

bool sendAll(const Socket& socket, const std::vector<char>& data) {
  for (std::size_t sent = 0; sent < data.size();) {
    const ssize_t done = send(socket.get(), data.data() + sent, data.size() - sent, MSG_NOSIGNAL);
    if (done <= 0 && errno != EINTR)
      return false;
    sent += static_cast<std::size_t>(std::max<ssize_t>(done, 0));
  }
  return true;
}

bool receiveAll(const Socket& socket, std::vector<char>& data) {
  for (std::size_t received = 0; received < data.size();) {
    const ssize_t done = recv(socket.get(), data.data() + received, data.size() - received, 0);
    if (done == 0 || (done < 0 && errno != EINTR))
      return false;
    received += static_cast<std::size_t>(std::max<ssize_t>(done, 0));
  }
  return true;
}

Result<std::pair<Socket, Socket>> connectedPair() {
  Socket listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Socket client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (listener.get() < 0 || client.get() < 0 || bind(listener.get(), any, length) != 0 ||
      listen(listener.get(), 1) != 0 || getsockname(listener.get(), any, &length) != 0)
    return socketError("cannot listen");
  if (connect(client.get(), any, length) != 0)
    return socketError("cannot connect");
  Socket server(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (server.get() < 0)
    return socketError("cannot accept");
  const int on = 1;
  for (const Socket* each : {&client, &server})
    if (setsockopt(each->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
      return socketError("cannot send at once");
  return std::pair(std::move(client), std::move(server));
}

Result<MeasuredMessage> measureMessage(std::int64_t bytes, std::chrono::nanoseconds budget) {
  SONDE_TRY_ASSIGN(auto sockets, connectedPair());
  std::vector<char> message(static_cast<std::size_t>(bytes), 1);
  std::thread echo([&server = sockets.second, bytes] {
    std::vector<char> held(static_cast<std::size_t>(bytes));
    while (receiveAll(server, held) && sendAll(server, held)) {
    }
  });
  bool isWhole = true;
  MeasuredTime time = measure(budget, [&] {
    isWhole = isWhole && sendAll(sockets.first, message) && receiveAll(sockets.first, message);
  });
  shutdown(sockets.first.get(), SHUT_RDWR);
  echo.join();
  if (!isWhole)
    return socketError("the connection broke");
  for (double* each : {&time.ns, &time.lowNs, &time.highNs})
    *each /= 2;
  return MeasuredMessage{bytes, time};
}

}  // namespace

Result<std::vector<MeasuredMessage>> measureLoopback(std::chrono::nanoseconds budgetOfEach) {
  constexpr std::int64_t kLeast = 64;
  constexpr std::int64_t kMost = std::int64_t{4} << 20;
  std::vector<MeasuredMessage> found;
  for (std::int64_t bytes = kLeast; bytes <= kMost; bytes *= 4) {
    SONDE_TRY_ASSIGN(const MeasuredMessage measured, measureMessage(bytes, budgetOfEach));
    found.push_back(measured);
  }
  return found;
}

}  // namespace sonde::recorder::microbench
