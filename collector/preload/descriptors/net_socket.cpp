#include "collector/preload/descriptors/net_socket.h"

#include "collector/core/platform/apart.h"
#include "collector/core/platform/syscalls.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace sonde::preload {
namespace {

using core::asLong;
using core::rawSyscall;

constexpr std::uint8_t kTcpEstablished =
    1;  // <netinet/tcp.h> has it, and cannot stand beside <linux/tcp.h>

// Appends to a name; a part that does not fit is left out completely.
class Name {
 public:
  explicit Name(char (&out)[64]) noexcept : out_(out) { out_[0] = '\0'; }

  Name& text(const char* from) noexcept {
    const std::size_t length = strlen(from);
    if (length_ + length < kSize) {
      memcpy(out_ + length_, from, length + 1);
      length_ += length;
    }
    return *this;
  }

  Name& number(std::uint64_t value) noexcept {
    char digits[21];
    char* at = digits + sizeof digits;
    *--at = '\0';
    do {
      *--at = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    return text(at);
  }

 private:
  static constexpr std::size_t kSize = 64;
  char* out_;
  std::size_t length_ = 0;
};

bool readOption(int fd, int level, int option, void* value, socklen_t size) noexcept {
  return rawSyscall(SYS_getsockopt, fd, level, option, asLong(value), asLong(&size)) == 0;
}

// Spells a v4 address that a v6 socket maps as v4, because the other end knows it that way.
void nameAddress(const sockaddr_storage& address, char (&out)[64]) noexcept {
  Name name(out);
  char text[INET6_ADDRSTRLEN];
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    name.text(text).text(":").number(ntohs(v4.sin_port));
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
    const void* bytes =
        mapped ? static_cast<const void*>(&v6.sin6_addr.s6_addr[12]) : &v6.sin6_addr;
    inet_ntop(mapped ? AF_INET : AF_INET6, bytes, text, sizeof text);
    name.text(mapped ? "" : "[").text(text).text(mapped ? ":" : "]:").number(ntohs(v6.sin6_port));
  }
}

void nameTcp(int fd, ChannelNames& names) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (rawSyscall(SYS_getsockname, fd, asLong(&address), asLong(&size)) == 0)
    nameAddress(address, names.local);
  address = {};
  size = sizeof address;
  if (rawSyscall(SYS_getpeername, fd, asLong(&address), asLong(&size)) == 0)
    nameAddress(address, names.remote);
}

struct UnixQuery {
  nlmsghdr header;
  unix_diag_req request;
};

// The peer in the answer to one UnixQuery; 0 if it names none.
std::uint32_t peerIn(const char* answer, std::size_t size) noexcept {
  nlmsghdr header{};
  if (size < sizeof header + sizeof(unix_diag_msg))
    return 0;
  memcpy(&header, answer, sizeof header);
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY)
    return 0;
  const std::size_t end = header.nlmsg_len < size ? header.nlmsg_len : size;
  std::size_t at = NLMSG_LENGTH(sizeof(unix_diag_msg));
  nlattr attribute{};
  while (at + sizeof attribute <= end) {
    memcpy(&attribute, answer + at, sizeof attribute);
    std::uint32_t peer = 0;
    if (attribute.nla_type == UNIX_DIAG_PEER && at + sizeof attribute + sizeof peer <= end) {
      memcpy(&peer, answer + at + sizeof attribute, sizeof peer);
      return peer;
    }
    if (attribute.nla_len < sizeof attribute)
      return 0;
    at += NLA_ALIGN(attribute.nla_len);  // not 0: that was asked before
  }
  return 0;
}

// Asks the kernel which socket is connected to the UNIX socket with this inode. The answer to a
// query for one socket is ready when the send returns.
std::uint64_t askPeerInode(std::uint64_t inode) noexcept {
  const long netlink = core::apart(rawSyscall(
      SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  if (netlink < 0)
    return 0;
  UnixQuery query{};
  query.header.nlmsg_len = sizeof query;
  query.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  query.header.nlmsg_flags = NLM_F_REQUEST;
  query.request.sdiag_family = AF_UNIX;
  query.request.udiag_states = ~0U;
  query.request.udiag_ino = static_cast<std::uint32_t>(inode);
  query.request.udiag_show = UDIAG_SHOW_PEER;
  query.request.udiag_cookie[0] = query.request.udiag_cookie[1] = ~0U;
  alignas(8) char answer[512];
  std::uint32_t peer = 0;
  if (rawSyscall(SYS_sendto, netlink, asLong(&query), sizeof query, 0, 0, 0) == sizeof query) {
    const long got =
        rawSyscall(SYS_recvfrom, netlink, asLong(answer), sizeof answer, MSG_DONTWAIT, 0, 0);
    peer = got > 0 ? peerIn(answer, static_cast<std::size_t>(got)) : 0;
  }
  rawSyscall(SYS_close, netlink);
  return peer;
}

void nameUnix(int fd, std::uint64_t peerInode, ChannelNames& names) noexcept {
  const std::uint64_t inode = inodeOf(fd);
  Name(names.local).text("unix:").number(inode);
  if (peerInode == 0)
    peerInode = askPeerInode(inode);
  if (peerInode != 0)
    Name(names.remote).text("unix:").number(peerInode);
}

void namePipe(int fd, ChannelNames& names) noexcept {
  struct stat info {};
  rawSyscall(SYS_fstat, fd, asLong(&info));
  const bool writes = (rawSyscall(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) == O_WRONLY;
  Name(names.local)
      .text("pipe:")
      .number(info.st_dev)
      .text(":")
      .number(info.st_ino)
      .text(writes ? ":w" : ":r");
  Name(names.remote)
      .text("pipe:")
      .number(info.st_dev)
      .text(":")
      .number(info.st_ino)
      .text(writes ? ":r" : ":w");
}

long unreadBytes(int fd) noexcept {
  int unread = 0;
  return rawSyscall(SYS_ioctl, fd, SIOCINQ, asLong(&unread)) == 0 ? unread : 0;
}

}  // namespace

FdKind kindOfSocket(int domain, int type, int protocol) noexcept {
  if ((type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != SOCK_STREAM)
    return FdKind::Other;
  if (domain == AF_UNIX)
    return FdKind::Unix;
  const bool internet = domain == AF_INET || domain == AF_INET6;
  return internet && (protocol == 0 || protocol == IPPROTO_TCP) ? FdKind::Tcp : FdKind::Other;
}

FdKind kindOfSocket(int fd) noexcept {
  int domain = 0;
  int type = 0;
  int protocol = 0;
  constexpr socklen_t kSize = sizeof(int);
  if (!readOption(fd, SOL_SOCKET, SO_DOMAIN, &domain, kSize) ||
      !readOption(fd, SOL_SOCKET, SO_TYPE, &type, kSize) ||
      !readOption(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, kSize))
    return FdKind::Other;
  return kindOfSocket(domain, type, protocol);
}

std::uint64_t inodeOf(int fd) noexcept {
  struct stat info {};
  return rawSyscall(SYS_fstat, fd, asLong(&info)) == 0 ? info.st_ino : 0;
}

ChannelNames namesOf(int fd, FdKind kind, std::uint64_t peerInode) noexcept {
  ChannelNames names{};
  if (kind == FdKind::Tcp)
    nameTcp(fd, names);
  else if (kind == FdKind::Unix)
    nameUnix(fd, peerInode, names);
  else if (kind == FdKind::Pipe)
    namePipe(fd, names);
  return names;
}

bool readTcpTotals(int fd, TcpTotals& totals) noexcept {
  constexpr int kTries = 4;
  for (int tries = 0; tries < kTries; ++tries) {
    const long before = unreadBytes(fd);
    tcp_info info{};
    socklen_t size = sizeof info;
    constexpr socklen_t kNeeded =
        offsetof(tcp_info, tcpi_bytes_retrans) + sizeof info.tcpi_bytes_retrans;
    if (rawSyscall(SYS_getsockopt, fd, IPPROTO_TCP, TCP_INFO, asLong(&info), asLong(&size)) != 0 ||
        size < kNeeded)
      return false;
    // Bytes that arrive between the two calls are in only one of the counts.
    if (unreadBytes(fd) != before)
      continue;
    // Bytes that have not left yet still count as the writer's.
    totals.sent = info.tcpi_bytes_sent - info.tcpi_bytes_retrans + info.tcpi_notsent_bytes;
    totals.received = info.tcpi_bytes_received - static_cast<std::uint64_t>(before);
    totals.ended = info.tcpi_state != kTcpEstablished;
    return true;
  }
  return false;
}

}  // namespace sonde::preload
