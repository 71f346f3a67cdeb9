// Calls that move bytes through any descriptor: read, write and their vector forms.

#include "collector/core/platform/hooks.h"
#include "collector/preload/descriptors/fd_calls.h"

#include <sys/types.h>
#include <sys/uio.h>

namespace sonde::preload {
namespace {

using core::Real;

using ReadCall = ssize_t (*)(int, void*, size_t);
using ReadCheckedCall = ssize_t (*)(int, void*, size_t, size_t);
using WriteCall = ssize_t (*)(int, const void*, size_t);
using VectorCall = ssize_t (*)(int, const iovec*, int);
using PlacedVectorCall = ssize_t (*)(int, const iovec*, int, off_t, int);

constinit Real<ReadCall> gRead{"read"};
constinit Real<ReadCheckedCall> gReadChecked{"__read_chk"};
constinit Real<WriteCall> gWrite{"write"};
constinit Real<VectorCall> gReadv{"readv"};
constinit Real<VectorCall> gWritev{"writev"};
constinit Real<PlacedVectorCall> gPreadv2{"preadv2"};
constinit Real<PlacedVectorCall> gPwritev2{"pwritev2"};

// Looks the functions up before the host's code runs, because a signal handler or a vfork child may
// be the first caller.
__attribute__((constructor(102))) void resolve() {
  gRead();
  gReadChecked();
  gWrite();
  gReadv();
  gWritev();
  gPreadv2();
  gPwritev2();
}

// An offset of -1 means the descriptor's own position, so the call also works on streams.
ssize_t placed(PlacedVectorCall real,
               Way way,
               int fd,
               const iovec* parts,
               int count,
               off_t offset,
               int flags) {
  const FdEntry entry = trackFd(fd);
  const bool isFile = entry.kind() == FdKind::File;
  if (!isFile && (offset != -1 || !entry.hasEndpoint()))
    return real(fd, parts, count, offset, flags);
  if (isFile) {
    const FileCall call = beginFileCall(fd, entry, way);
    const ssize_t result = real(fd, parts, count, offset, flags);
    const bool atEnd = (flags & RWF_APPEND) != 0 && offset != kOwnPosition;
    endFileCall(call,
                result,
                atEnd ? kOffsetUnknown : offset,
                way == Way::Receive ? "preadv2" : "pwritev2");
    return result;
  }
  const FdCall call = beginCall(fd, entry, way);
  const ssize_t result = real(fd, parts, count, offset, flags);
  endCall(call, result);
  return result;
}

}  // namespace
}  // namespace sonde::preload

using namespace sonde::preload;

SONDE_EXPORT ssize_t read(int fd, void* buffer, size_t count) {
  const FdEntry entry = trackFd(fd);
  if (!entry.isFollowed())
    return gRead()(fd, buffer, count);
  const FdCall call = beginCall(fd, entry, Way::Receive);
  const ssize_t result = gRead()(fd, buffer, count);
  endCall(call, result, "read");
  return result;
}

SONDE_EXPORT ssize_t __read_chk(int fd, void* buffer, size_t count, size_t room) {
  const FdEntry entry = trackFd(fd);
  if (!entry.isFollowed())
    return gReadChecked()(fd, buffer, count, room);
  const FdCall call = beginCall(fd, entry, Way::Receive);
  const ssize_t result = gReadChecked()(fd, buffer, count, room);
  endCall(call, result, "read");
  return result;
}

SONDE_EXPORT ssize_t write(int fd, const void* buffer, size_t count) {
  const FdEntry entry = trackFd(fd);
  if (!entry.isFollowed())
    return gWrite()(fd, buffer, count);
  const FdCall call = beginCall(fd, entry, Way::Send);
  const ssize_t result = gWrite()(fd, buffer, count);
  endCall(call, result, "write");
  return result;
}

SONDE_EXPORT ssize_t readv(int fd, const iovec* parts, int count) {
  const FdEntry entry = trackFd(fd);
  if (!entry.isFollowed())
    return gReadv()(fd, parts, count);
  const FdCall call = beginCall(fd, entry, Way::Receive);
  const ssize_t result = gReadv()(fd, parts, count);
  endCall(call, result, "readv");
  return result;
}

SONDE_EXPORT ssize_t writev(int fd, const iovec* parts, int count) {
  const FdEntry entry = trackFd(fd);
  if (!entry.isFollowed())
    return gWritev()(fd, parts, count);
  const FdCall call = beginCall(fd, entry, Way::Send);
  const ssize_t result = gWritev()(fd, parts, count);
  endCall(call, result, "writev");
  return result;
}

SONDE_EXPORT ssize_t preadv2(int fd, const iovec* parts, int count, off_t offset, int flags) {
  return placed(gPreadv2(), Way::Receive, fd, parts, count, offset, flags);
}

SONDE_EXPORT ssize_t preadv64v2(int fd, const iovec* parts, int count, off_t offset, int flags) {
  return placed(gPreadv2(), Way::Receive, fd, parts, count, offset, flags);
}

SONDE_EXPORT ssize_t pwritev2(int fd, const iovec* parts, int count, off_t offset, int flags) {
  return placed(gPwritev2(), Way::Send, fd, parts, count, offset, flags);
}

SONDE_EXPORT ssize_t pwritev64v2(int fd, const iovec* parts, int count, off_t offset, int flags) {
  return placed(gPwritev2(), Way::Send, fd, parts, count, offset, flags);
}
