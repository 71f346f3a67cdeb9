// Calls on files only: with an offset from the caller, to disk, and into memory.

#include "collector/core/platform/hooks.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/descriptors/fd_calls.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>

namespace sonde::preload {
namespace {

using core::Real;

using ReadCall = ssize_t (*)(int, void*, size_t, off_t);
using ReadCheckedCall = ssize_t (*)(int, void*, size_t, off_t, size_t);
using WriteCall = ssize_t (*)(int, const void*, size_t, off_t);
using VectorCall = ssize_t (*)(int, const iovec*, int, off_t);
using SyncCall = int (*)(int);
using MapSyncCall = int (*)(void*, size_t, int);
using MapCall = void* (*)(void*, size_t, int, int, int, off_t);

// If off_t has 64 bits, the calls for both sizes are the same.
constinit Real<ReadCall> gPread{"pread64"};
constinit Real<ReadCheckedCall> gPreadChecked{"__pread64_chk"};
constinit Real<WriteCall> gPwrite{"pwrite64"};
constinit Real<VectorCall> gPreadv{"preadv64"};
constinit Real<VectorCall> gPwritev{"pwritev64"};
constinit Real<SyncCall> gFsync{"fsync"};
constinit Real<SyncCall> gFdatasync{"fdatasync"};
constinit Real<MapCall> gMap{"mmap64"};
constinit Real<MapSyncCall> gMapSync{"msync"};
constinit std::atomic<bool> gResolved{false};

__attribute__((constructor(102))) void resolve() {
  gPread();
  gPreadChecked();
  gPwrite();
  gPreadv();
  gPwritev();
  gFsync();
  gFdatasync();
  gMap();
  gMapSync();
  gResolved.store(true, std::memory_order_release);
}

template <typename Call, typename... Arguments>
auto placed(Call real, const char* name, Way way, off_t offset, int fd, Arguments... arguments) {
  const FdEntry entry = trackFd(fd);
  if (entry.kind() != FdKind::File)
    return real(fd, arguments...);
  const FileCall call = beginFileCall(fd, entry, way);
  const auto result = real(fd, arguments...);
  endFileCall(call, result, offset < 0 ? kOffsetUnknown : offset, name);
  return result;
}

int synced(SyncCall real, const char* name, int fd) {
  const FdEntry entry = trackFd(fd);
  if (entry.kind() != FdKind::File)
    return real(fd);
  const FileCall call = beginFileCall(fd, entry, Way::Send);
  const int result = real(fd);
  endFileCall(call, kMovesNothing, kOwnPosition, name);
  return result;
}

// Does not look up which file is mapped there.
int syncedMap(void* address, size_t length, int flags) {
  if (!admitsFiles())
    return gMapSync()(address, length, flags);
  const FileCall call = beginFileCall(-1, FdEntry(FdKind::File, 0, 0), Way::Send);
  const int result = gMapSync()(address, length, flags);
  endFileCall(call, kMovesNothing, kOwnPosition, "msync");
  return result;
}

// An allocator may map memory before anything here is ready, while it holds a lock that a symbol
// lookup needs.
void* mapEarly(void* address, size_t length, int protection, int flags, int fd, off_t offset) {
  const long result = core::rawSyscall(
      SYS_mmap, core::asLong(address), static_cast<long>(length), protection, flags, fd, offset);
  if (result >= 0 || result < -4095)
    return reinterpret_cast<void*>(result);
  errno = static_cast<int>(-result);
  return MAP_FAILED;
}

void* mapped(void* address, size_t length, int protection, int flags, int fd, off_t offset) {
  if (!gResolved.load(std::memory_order_acquire))
    return mapEarly(address, length, protection, flags, fd, offset);
  const FdEntry entry = (flags & MAP_ANONYMOUS) != 0 ? FdEntry() : trackFd(fd);
  if (entry.kind() != FdKind::File)
    return gMap()(address, length, protection, flags, fd, offset);
  const FileCall call = beginFileCall(fd, entry, Way::Send);
  void* const result = gMap()(address, length, protection, flags, fd, offset);
  endFileCall(call, result == MAP_FAILED ? 0 : static_cast<ssize_t>(length), offset, "mmap");
  return result;
}

}  // namespace
}  // namespace sonde::preload

using namespace sonde::preload;

SONDE_EXPORT ssize_t pread(int fd, void* buffer, size_t count, off_t offset) {
  return placed(gPread(), "pread", Way::Receive, offset, fd, buffer, count, offset);
}

SONDE_EXPORT ssize_t pread64(int fd, void* buffer, size_t count, off_t offset) {
  return placed(gPread(), "pread", Way::Receive, offset, fd, buffer, count, offset);
}

SONDE_EXPORT ssize_t __pread_chk(int fd, void* buffer, size_t count, off_t offset, size_t room) {
  return placed(gPreadChecked(), "pread", Way::Receive, offset, fd, buffer, count, offset, room);
}

SONDE_EXPORT ssize_t __pread64_chk(int fd, void* buffer, size_t count, off_t offset, size_t room) {
  return placed(gPreadChecked(), "pread", Way::Receive, offset, fd, buffer, count, offset, room);
}

SONDE_EXPORT ssize_t pwrite(int fd, const void* buffer, size_t count, off_t offset) {
  return placed(gPwrite(), "pwrite", Way::Send, offset, fd, buffer, count, offset);
}

SONDE_EXPORT ssize_t pwrite64(int fd, const void* buffer, size_t count, off_t offset) {
  return placed(gPwrite(), "pwrite", Way::Send, offset, fd, buffer, count, offset);
}

SONDE_EXPORT ssize_t preadv(int fd, const iovec* parts, int count, off_t offset) {
  return placed(gPreadv(), "preadv", Way::Receive, offset, fd, parts, count, offset);
}

SONDE_EXPORT ssize_t preadv64(int fd, const iovec* parts, int count, off_t offset) {
  return placed(gPreadv(), "preadv", Way::Receive, offset, fd, parts, count, offset);
}

SONDE_EXPORT ssize_t pwritev(int fd, const iovec* parts, int count, off_t offset) {
  return placed(gPwritev(), "pwritev", Way::Send, offset, fd, parts, count, offset);
}

SONDE_EXPORT ssize_t pwritev64(int fd, const iovec* parts, int count, off_t offset) {
  return placed(gPwritev(), "pwritev", Way::Send, offset, fd, parts, count, offset);
}

SONDE_EXPORT int fsync(int fd) {
  return synced(gFsync(), "fsync", fd);
}

SONDE_EXPORT int fdatasync(int fd) {
  return synced(gFdatasync(), "fdatasync", fd);
}

SONDE_EXPORT void* mmap(
    void* address, size_t length, int protection, int flags, int fd, off_t offset) {
  return mapped(address, length, protection, flags, fd, offset);
}

SONDE_EXPORT void* mmap64(
    void* address, size_t length, int protection, int flags, int fd, off_t offset) {
  return mapped(address, length, protection, flags, fd, offset);
}

SONDE_EXPORT int msync(void* address, size_t length, int flags) {
  return syncedMap(address, length, flags);
}
