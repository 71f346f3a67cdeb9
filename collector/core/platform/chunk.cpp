#include "collector/core/platform/chunk.h"

#include "collector/core/platform/syscalls.h"

#include <errno.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

namespace sonde::core {
namespace {

constexpr long kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14

// fallocate(2) past RLIMIT_FSIZE would raise SIGXFSZ in the host.
bool fileSizeAllowed(std::uint64_t bytes) noexcept {
  rlimit limit{};
  if (rawSyscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, asLong(&limit)) != 0)
    return false;
  return limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

void returnBytes(wire::SessionPage* session, Chunk chunk) noexcept {
  session->allocatedBytes.fetch_sub(chunk.bytes(), std::memory_order_relaxed);
}

bool takeBytes(wire::SessionPage* session, Chunk chunk) noexcept {
  const std::uint64_t limit = session->limitBytes;
  const std::uint64_t mine = chunk.index == 0 ? limit - limit / kGrowthShare : limit;
  if (session->allocatedBytes.fetch_add(chunk.bytes(), std::memory_order_relaxed) + chunk.bytes() <=
      mine)
    return true;
  returnBytes(session, chunk);
  return false;
}

}  // namespace

bool allocateChunk(wire::SessionPage* session, long fd, Chunk chunk) noexcept {
  if (!fileSizeAllowed(chunk.offset() + chunk.bytes()) || !takeBytes(session, chunk))
    return false;
  if (rawSyscall(SYS_fallocate,
                 fd,
                 0,
                 static_cast<long>(chunk.offset()),
                 static_cast<long>(chunk.bytes())) == 0)
    return true;
  returnBytes(session, chunk);
  return false;
}

void releaseChunk(wire::SessionPage* session, long fd, Chunk chunk) noexcept {
  rawSyscall(SYS_fallocate,
             fd,
             FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
             static_cast<long>(chunk.offset()),
             static_cast<long>(chunk.bytes()));
  returnBytes(session, chunk);
}

bool populateChunk(const char* base, Chunk chunk) noexcept {
  const long place = asLong(base + chunk.offset());
  const auto bytes = static_cast<long>(chunk.bytes());
  return rawSyscall(SYS_mprotect, place, bytes, PROT_READ | PROT_WRITE) == 0 &&
         rawSyscall(SYS_madvise, place, bytes, kPopulateWrite) != -EFAULT;
}

}  // namespace sonde::core
