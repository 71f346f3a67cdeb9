// What the kernel says about a socket or a pipe, asked without libc's errno: its kind, the names of
// its two ends as wire::ChannelDefinition spells them, and TCP's own count of bytes. Stateless; any
// thread; a few system calls each.
#pragma once

#include "collector/preload/descriptors/fd_table.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload {

// Tcp, Unix or Other.
FdKind kindOfSocket(int fd) noexcept;
FdKind kindOfSocket(int domain, int type, int protocol) noexcept;

struct ChannelNames {
  char local[64];
  char remote[64];  // empty: unknown
};
// `peerInode` of a UNIX socket where it is known, else 0: asked of the kernel's socket diagnostics.
ChannelNames namesOf(int fd, FdKind kind, std::uint64_t peerInode) noexcept;

// The inode of an open descriptor; 0 when it has none.
std::uint64_t inodeOf(int fd) noexcept;

// What was written to and read from a TCP socket so far, by whoever has it. The ends of the stream
// count as a byte in some states: each figure may then be one too high.
struct TcpTotals {
  std::uint64_t sent;
  std::uint64_t received;
  bool ended;
};
// False when this kernel does not tell.
bool readTcpTotals(int fd, TcpTotals& totals) noexcept;

}  // namespace sonde::preload
