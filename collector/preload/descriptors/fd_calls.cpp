#include "collector/preload/descriptors/fd_calls.h"

#include "collector/core/emit.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/vfork.h"
#include "collector/preload/descriptors/net_socket.h"
#include "collector/preload/sync/sync_probe.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace sonde::preload {
namespace {

using core::rawSyscall;

constexpr FdEntry kOther(FdKind::Other, 0, 0);

std::atomic<const FdHandler*> gHandlers[static_cast<int>(FdKind::Count)];
std::atomic<const FileHandler*> gFiles{nullptr};

FdKind kindOfPipe(int fd) noexcept {
  const long flags = rawSyscall(SYS_fcntl, fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDWR && (flags & O_PATH) == 0 ? FdKind::Pipe
                                                                              : FdKind::Other;
}

// Opening one waits for its other end.
bool isFifoOrDevice(int fd) noexcept {
  struct stat info {};
  return rawSyscall(SYS_fstat, fd, core::asLong(&info)) == 0 &&
         (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode));
}

// Unknown: no such descriptor.
FdKind kindOf(int fd) noexcept {
  struct stat info {};
  if (rawSyscall(SYS_fstat, fd, core::asLong(&info)) != 0)
    return FdKind::Unknown;
  if (S_ISSOCK(info.st_mode))
    return kindOfSocket(fd);
  if (S_ISFIFO(info.st_mode))
    return kindOfPipe(fd);
  return S_ISREG(info.st_mode) ? FdKind::File : FdKind::Other;
}

FdEntry lookUpPath(int fd) noexcept {
  const FilePath path = gFiles.load(std::memory_order_acquire)->pathOf(fd);
  return path.isFile ? FdEntry(FdKind::File, 0, path.id) : kOther;
}

// Looks up the file's path when it is first recorded; the descriptor and its copies keep it. If
// there is no room for it, the next call tries again.
FdEntry classifyFile(int fd) noexcept {
  FdEntry entry = kOther;
  if (recordsFiles())
    entry = lookUpPath(fd);
  else if (gFiles.load(std::memory_order_acquire) != nullptr)
    entry = FdEntry(FdKind::File, 0, 0);
  fd_table::setFile(fd, entry);
  return entry;
}

// Reads the byte counts of an inherited endpoint; the kernel has them only for TCP.
void adoptOffsets(int fd, Endpoint& endpoint) noexcept {
  TcpTotals totals{};
  const bool known = endpoint.kind == FdKind::Tcp && readTcpTotals(fd, totals);
  endpoint.ways[static_cast<int>(Way::Send)].offset.store(totals.sent, std::memory_order_relaxed);
  endpoint.ways[static_cast<int>(Way::Receive)].offset.store(totals.received,
                                                             std::memory_order_relaxed);
  for (Direction& way : endpoint.ways)
    way.inexact.store(known ? 0 : 1, std::memory_order_relaxed);
}

}  // namespace

void registerFdHandler(FdKind kind, const FdHandler* handler) noexcept {
  gHandlers[static_cast<int>(kind)].store(handler, std::memory_order_release);
}

const FdHandler* fdHandler(FdKind kind) noexcept {
  return gHandlers[static_cast<int>(kind)].load(std::memory_order_acquire);
}

void registerFileHandler(const FileHandler* handler) noexcept {
  gFiles.store(handler, std::memory_order_release);
}

bool recordsFiles() noexcept {
  return gFiles.load(std::memory_order_acquire) != nullptr && core::enabled(wire::Probe::Io);
}

bool admitsFiles() noexcept {
  return gFiles.load(std::memory_order_acquire) != nullptr && core::admits(wire::Probe::Io);
}

std::uint64_t beginOpening() noexcept {
  return admitsFiles() || core::enabled(wire::Probe::Sync) ? core::ticks() : 0;
}

int opened(int fd, std::uint64_t beginTicks, const char* name) noexcept {
  if (fd < 0)
    return fd;
  forgetFd(fd);
  if (beginTicks == 0)
    return fd;
  const std::uint64_t end = core::ticks();
  FdEntry entry = trackFd(fd);
  const bool isFile = entry.kind() == FdKind::File;
  if (isFile && recordsFiles())
    entry = withPath(fd, entry);
  if (entry.kind() == FdKind::File && recordsFiles())
    endFileCall({fd, entry, Way::Send, beginTicks, 0, end}, kMovesNothing, kOwnPosition, name);
  else if (!isFile && isFifoOrDevice(fd))
    notePause(name, beginTicks, end);
  return fd;
}

FdEntry withPath(int fd, FdEntry entry) noexcept {
  if (entry.generation() != 0 || fd < 0)
    return entry;
  // A vfork child's descriptor may differ from its parent's, but the table is its parent's.
  if (core::inVforkChild())
    return kOther;
  const FdEntry named = lookUpPath(fd);
  fd_table::replacePlain(fd, entry, named);
  return named;
}

FileCall beginFileCall(int fd, FdEntry entry, Way way) noexcept {
  return gFiles.load(std::memory_order_acquire)->begin(fd, entry, way);
}

void endFileCall(const FileCall& call,
                 std::int64_t moved,
                 std::int64_t offset,
                 const char* name) noexcept {
  if (call.beginTicks != 0)
    gFiles.load(std::memory_order_acquire)->end(call, moved, offset, name);
}

FdEntry classifyFd(int fd) noexcept {
  if (core::inVforkChild())
    return kOther;
  const FdKind kind = kindOf(fd);
  if (kind == FdKind::Unknown)
    return kOther;
  if (kind == FdKind::File)
    return classifyFile(fd);
  if (fdHandler(kind) == nullptr) {
    fd_table::setPlain(fd, FdKind::Other);
    return kOther;
  }
  const FdEntry entry = fd_table::openEndpoint(fd, kind, true);
  if (Endpoint* endpoint = fd_table::endpointOf(entry); endpoint != nullptr)
    adoptOffsets(fd, *endpoint);
  return entry;
}

FdCall beginCall(int fd, FdEntry entry, Way way) noexcept {
  if (fd_table::settle())
    entry = trackFd(fd);
  if (entry.kind() == FdKind::File) {
    const FileCall call = beginFileCall(fd, entry, way);
    return {fd, call.entry, nullptr, way, call.beginTicks, call.blocks};
  }
  Endpoint* endpoint = fdHandler(entry.kind()) == nullptr ? nullptr : fd_table::endpointOf(entry);
  // The process that shared it has given the endpoint up, but this one has not: only the byte count
  // is lost.
  if (endpoint == nullptr && fd_table::entryOf(fd).word() == entry.word()) {
    entry = classifyFd(fd);
    endpoint = fd_table::endpointOf(entry);
  }
  if (endpoint == nullptr)
    return {fd, entry, nullptr, way, 0};
  Direction& direction = endpoint->ways[static_cast<int>(way)];
  beginCrossing(direction);
  FdCall call{fd, entry, endpoint, way, core::ticks()};
  const std::uint64_t offset = direction.offset.load(std::memory_order_relaxed);
  const FdTransfer begun{fd, entry, endpoint, way, call.beginTicks, 0, offset, 0, false};
  call.open = fdHandler(entry.kind())->begun(begun, __builtin_frame_address(0));
  return call;
}

void endCall(const FdCall& call, ssize_t moved, const char* name) noexcept {
  if (call.entry.kind() == FdKind::File)
    return endFileCall(
        {call.fd, call.entry, call.way, call.beginTicks, call.blocks}, moved, kOwnPosition, name);
  if (call.endpoint == nullptr)
    return;
  core::closeCall(call.open);
  const std::uint64_t end = core::ticks();
  // Closed meanwhile, perhaps reused for another stream: the call no longer belongs to it.
  if (fd_table::endpointOf(call.entry) != call.endpoint)
    return;
  const auto bytes = static_cast<std::uint64_t>(moved > 0 ? moved : 0);
  const Crossing crossing = endCrossing(call.endpoint->ways[static_cast<int>(call.way)], bytes);
  if (bytes == 0) {
    const char* const unnamed = call.way == Way::Receive ? "receive" : "send";
    return notePause(name == nullptr ? unnamed : name, call.beginTicks, end);
  }
  const FdTransfer transfer{call.fd,
                            call.entry,
                            call.endpoint,
                            call.way,
                            call.beginTicks,
                            end,
                            crossing.offset,
                            bytes,
                            crossing.exact};
  fdHandler(call.entry.kind())->transferred(transfer);
}

void markInexact(int fd, Way way) noexcept {
  if (Endpoint* endpoint = fd_table::endpointOf(trackFd(fd)); endpoint != nullptr)
    endpoint->ways[static_cast<int>(way)].inexact.store(1, std::memory_order_relaxed);
}

void inspectClosing(int fd) noexcept {
  const FdEntry entry = fd_table::entryOf(fd);
  if (!entry.hasEndpoint() || core::inVforkChild())
    return;
  const FdHandler* handler = fdHandler(entry.kind());
  if (handler == nullptr || handler->closing == nullptr || !fd_table::mayBeLastReference(entry))
    return;
  if (Endpoint* endpoint = fd_table::endpointOf(entry); endpoint != nullptr)
    handler->closing(fd, entry, *endpoint);
}

// A vfork child has descriptors of its own, but the table is its parent's, so such a child leaves
// the table alone. A stale entry without endpoint does little harm, so the cheap test suffices for
// it; it misses children of a raw clone.
//
// One exchange, no retry: if the entry changes meanwhile, another thread uses `fd` while it is
// being closed. The second store then removes that entry, whatever it is.
void forgetFd(int fd) noexcept {
  if (!fd_table::tracks(fd))
    return;
  const FdEntry entry = fd_table::entryOf(fd);
  if (entry.kind() == FdKind::Unknown)
    return;
  if (!entry.hasEndpoint()) {
    if (core::inNotedVforkChild() || fd_table::replacePlain(fd, entry, FdEntry()))
      return;
  }
  if (!core::inVforkChild())
    fd_table::setPlain(fd, FdKind::Unknown);
}

void forgetFds(unsigned first, unsigned last) noexcept {
  if (fd_table::started() && !core::inVforkChild())
    fd_table::forgetRange(first, last);
}

Endpoint* trackNew(int fd, FdKind kind) noexcept {
  if (fd < 0 || !fd_table::started() || core::inVforkChild())
    return nullptr;
  if (fdHandler(kind) == nullptr) {
    fd_table::setPlain(fd, FdKind::Other);
    return nullptr;
  }
  const FdEntry entry = fd_table::openEndpoint(fd, kind, false);
  if (!entry.hasEndpoint())
    core::countLoss(wire::Probe::Net, wire::RecordKind::Transfer, wire::LossReason::Definitions);
  return fd_table::endpointOf(entry);
}

void trackCopy(int fd, int copy) noexcept {
  if (copy >= 0 && fd_table::started() && !core::inVforkChild())
    fd_table::duplicate(fd, copy);
}

}  // namespace sonde::preload
