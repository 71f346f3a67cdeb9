#include "collector/preload/stack/interposer/own_memory.h"

#include "collector/core/platform/syscalls.h"

#include <sys/uio.h>

namespace sonde::preload::stack {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostPieces = 17;

long copy(long pid, const iovec& local, const iovec* remote, std::size_t pieces) noexcept {
  return core::rawSyscall(SYS_process_vm_readv,
                          pid,
                          core::asLong(&local),
                          1,
                          core::asLong(remote),
                          static_cast<long>(pieces),
                          0);
}

}  // namespace

OwnMemory::OwnMemory() noexcept : pid_(core::rawSyscall(SYS_getpid)) {}

bool OwnMemory::read(std::uint64_t from, void* to, std::size_t bytes) const noexcept {
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(from), bytes};
  return copy(pid_, local, &remote, 1) == static_cast<long>(bytes);
}

std::size_t OwnMemory::readEach(const std::uint64_t* from,
                                std::size_t count,
                                std::size_t bytes,
                                void* to) const noexcept {
  iovec remote[kMostAtOnce];
  for (std::size_t at = 0; at < count; ++at)
    remote[at] = {reinterpret_cast<void*>(from[at]), bytes};
  const iovec local{to, count * bytes};
  const long copied = copy(pid_, local, remote, count);
  return copied > 0 ? static_cast<std::size_t>(copied) / bytes : 0;
}

// In pieces of a page, because the kernel copies a piece completely or not at all.
std::size_t OwnMemory::readSome(std::uint64_t from, void* to, std::size_t most) const noexcept {
  iovec remote[kMostPieces];
  std::size_t pieces = 0;
  for (std::uint64_t at = from; at < from + most && pieces < kMostPieces; ++pieces) {
    const std::uint64_t page = (at / kPage + 1) * kPage;
    const std::uint64_t end = page < from + most ? page : from + most;
    remote[pieces] = {reinterpret_cast<void*>(at), end - at};
    at = end;
  }
  const iovec local{to, most};
  const long copied = copy(pid_, local, remote, pieces);
  return copied > 0 ? static_cast<std::size_t>(copied) : 0;
}

}  // namespace sonde::preload::stack
