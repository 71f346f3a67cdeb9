// Calls that move bytes between descriptors inside the kernel: sendfile, splice, tee, vmsplice.

#include "collector/core/platform/hooks.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/descriptors/fd_calls.h"

#include <fcntl.h>
#include <sys/types.h>
#include <sys/uio.h>

namespace sonde::preload {
namespace {

using core::Real;

using SendFileCall = ssize_t (*)(int, int, off_t*, size_t);
using SpliceCall = ssize_t (*)(int, off64_t*, int, off64_t*, size_t, unsigned);
using TeeCall = ssize_t (*)(int, int, size_t, unsigned);
using VmspliceCall = ssize_t (*)(int, const iovec*, size_t, unsigned);

constinit Real<SendFileCall> gSendFile{"sendfile"};
constinit Real<SpliceCall> gSplice{"splice"};
constinit Real<TeeCall> gTee{"tee"};
constinit Real<VmspliceCall> gVmsplice{"vmsplice"};

__attribute__((constructor(102))) void resolve() {
  gSendFile();
  gSplice();
  gTee();
  gVmsplice();
}

ssize_t sendFile(int out, int in, off_t* offset, size_t count) {
  const FdEntry entry = trackFd(out);
  if (!entry.hasEndpoint())
    return gSendFile()(out, in, offset, count);
  const FdCall call = beginCall(out, entry, Way::Send);
  const ssize_t result = gSendFile()(out, in, offset, count);
  endCall(call, result);
  return result;
}

FdCall beginIfTracked(int fd, Way way) noexcept {
  const FdEntry entry = trackFd(fd);
  return entry.hasEndpoint() ? beginCall(fd, entry, way) : FdCall{fd, entry, nullptr, way, 0};
}

// vmsplice writes to one end of a pipe and reads from the other.
Way wayOfPipe(int fd) noexcept {
  const long flags =
      fd_table::entryOf(fd).kind() == FdKind::Other ? 0 : core::rawSyscall(SYS_fcntl, fd, F_GETFL);
  return (flags & O_ACCMODE) == O_RDONLY ? Way::Receive : Way::Send;
}

}  // namespace
}  // namespace sonde::preload

using namespace sonde::preload;

SONDE_EXPORT ssize_t sendfile(int out, int in, off_t* offset, size_t count) {
  return sendFile(out, in, offset, count);
}

SONDE_EXPORT ssize_t sendfile64(int out, int in, off_t* offset, size_t count) {
  return sendFile(out, in, offset, count);
}

SONDE_EXPORT ssize_t
splice(int in, off64_t* inOffset, int out, off64_t* outOffset, size_t count, unsigned flags) {
  const FdCall receive = beginIfTracked(in, Way::Receive);
  const FdCall sending = beginIfTracked(out, Way::Send);
  const ssize_t result = gSplice()(in, inOffset, out, outOffset, count, flags);
  endCall(receive, result);
  endCall(sending, result);
  return result;
}

// Copies without removing anything from `in`.
SONDE_EXPORT ssize_t tee(int in, int out, size_t count, unsigned flags) {
  const FdCall sending = beginIfTracked(out, Way::Send);
  const ssize_t result = gTee()(in, out, count, flags);
  endCall(sending, result);
  return result;
}

SONDE_EXPORT ssize_t vmsplice(int fd, const iovec* parts, size_t count, unsigned flags) {
  const FdCall call = beginIfTracked(fd, wayOfPipe(fd));
  const ssize_t result = gVmsplice()(fd, parts, count, flags);
  endCall(call, result);
  return result;
}
