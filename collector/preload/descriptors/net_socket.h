// Facts from the kernel about a socket or a pipe: its kind, the names of its two ends as in
// wire::ChannelDefinition, and TCP's byte counts. Does not change libc's errno. Stateless; any
// thread; a few system calls each.
#pragma once

#include "collector/preload/descriptors/fd_table.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload {

// Returns Tcp, Unix or Other.
FdKind kindOfSocket(int fd) noexcept;
FdKind kindOfSocket(int domain, int type, int protocol) noexcept;

struct ChannelNames {
  char local[64];
  char remote[64];  // empty: unknown
};
// `peerInode`: of a UNIX socket, if known; else 0, and the kernel's socket diagnostics are asked.
ChannelNames namesOf(int fd, FdKind kind, std::uint64_t peerInode) noexcept;

// The inode of an open descriptor; 0 if it has none.
std::uint64_t inodeOf(int fd) noexcept;

// Bytes written to and read from a TCP socket so far, by any process. In some states the end of a
// stream counts as a byte: each figure may then be one too high.
struct TcpTotals {
  std::uint64_t sent;
  std::uint64_t received;
  bool ended;
};
// False if this kernel does not report it.
bool readTcpTotals(int fd, TcpTotals& totals) noexcept;

}  // namespace sonde::preload
