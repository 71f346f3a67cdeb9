// What the wrappers in fd_calls_*.cpp share: finding out what a descriptor leads to, and handing
// what a call moved to the handler of that kind. Any thread; keeps errno.
//
// A wrapper asks trackFd(); for a descriptor of no interest that is one look into the table, and
// the wrapper ends in the forwarded call. Otherwise it brackets the call:
//
//   FdCall call = beginCall(entry, Way::Receive);
//   const ssize_t result = real.read()(fd, buffer, count);
//   endCall(call, result);
#pragma once

#include "collector/core/open_calls.h"
#include "collector/preload/descriptors/fd_table.h"

#include <sys/types.h>

#include <cstdint>

namespace sonde::preload {

// A finished call that moved bytes.
struct FdTransfer {
  int fd;
  FdEntry entry;
  Endpoint* endpoint;
  Way way;
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  std::uint64_t offset;
  std::uint64_t bytes;
  bool exact;
};

// A kind of descriptor that somebody records. All calls come from the thread that made the wrapped
// call.
struct FdHandler {
  // A call that may wait for the other end begins; `transfer` has neither an end nor bytes.
  // `frame`: as in open_calls.h.
  core::OpenCall (*begun)(const FdTransfer& transfer, const void* frame);
  void (*transferred)(const FdTransfer& transfer);
  // The last descriptor of an endpoint is about to be closed.
  void (*closing)(int fd, FdEntry entry, Endpoint& endpoint);
};

// A call on a regular file, while it runs. beginTicks 0: it is not recorded.
struct FileCall {
  int fd;
  FdEntry entry;  // its generation is the id of the file's path; 0: not known
  Way way;
  std::uint64_t beginTicks;
  std::uint64_t blocks;        // the handler's own
  std::uint64_t endTicks = 0;  // 0: it ends when the handler is told
};
inline constexpr std::int64_t kMovesNothing = INT64_MIN;  // instead of a number of bytes
inline constexpr std::int64_t kOwnPosition = -1;          // the descriptor's, instead of an offset
inline constexpr std::int64_t kOffsetUnknown = -2;        // the file's end, where that was

struct FilePath {
  bool isFile;       // else memory or a device after all
  std::uint32_t id;  // 0: not known now
};

// Who records files. As FdHandler, for calls that are no part of a stream.
struct FileHandler {
  FilePath (*pathOf)(int fd);
  FileCall (*begin)(int fd, FdEntry entry, Way way);
  void (*end)(const FileCall& call, std::int64_t moved, std::int64_t offset, const char* name);
};
void registerFileHandler(const FileHandler* handler) noexcept;
bool recordsFiles() noexcept;
// The same, once for each call that is recorded; see core::admits().
bool admitsFiles() noexcept;
// The entry of `fd`, a file, with its path, which is looked up only for calls that are recorded;
// Other: it is memory or a device after all, or the caller is a vfork child. Requires: a handler.
FdEntry withPath(int fd, FdEntry entry) noexcept;

// Before a call that opens by name: ticks; 0 when neither files nor waits are recorded.
std::uint64_t beginOpening() noexcept;
// Its `fd`, which it returns; one that did not open (-1) has no record.
int opened(int fd, std::uint64_t beginTicks, const char* name) noexcept;

// Before start() of the wrappers: `handler` must live for ever. Kinds without one are forwarded
// untouched.
void registerFdHandler(FdKind kind, const FdHandler* handler) noexcept;
const FdHandler* fdHandler(FdKind kind) noexcept;

// Looks at a descriptor that the table does not know: it was there before this image, or came in a
// way that no wrapper sees.
FdEntry classifyFd(int fd) noexcept;

inline FdEntry trackFd(int fd) noexcept {
  const FdEntry entry = fd_table::entryOf(fd);
  return __builtin_expect(entry.kind() != FdKind::Unknown, 1) ? entry : classifyFd(fd);
}

struct FdCall {
  int fd;
  FdEntry entry;
  Endpoint* endpoint;  // nullptr: nothing to do afterwards, unless it is a file
  Way way;
  std::uint64_t beginTicks;
  std::uint64_t blocks = 0;  // as FileCall's
  core::OpenCall open{};
};

// Of a stream or a file, from where it stands.
FdCall beginCall(int fd, FdEntry entry, Way way) noexcept;
// `moved`: bytes, or a failure's -1. `name`: of the call, for files.
void endCall(const FdCall& call, ssize_t moved, const char* name = nullptr) noexcept;

// Requires: the entry's kind is File. Errors are as endCall's.
FileCall beginFileCall(int fd, FdEntry entry, Way way) noexcept;
void endFileCall(const FileCall& call,
                 std::int64_t moved,
                 std::int64_t offset,
                 const char* name) noexcept;

// Bytes may go `way` through `fd` that no wrapper counts.
void markInexact(int fd, Way way) noexcept;

// About to close `fd` by whatever call: lets its handler look at it one last time.
void inspectClosing(int fd) noexcept;
// `fd` is closed, or another file by now: to be looked at when it is next used.
void forgetFd(int fd) noexcept;
void forgetFds(unsigned first, unsigned last) noexcept;
// `fd` is a new stream, from its first byte on. The endpoint is nullptr when it is not followed.
Endpoint* trackNew(int fd, FdKind kind) noexcept;
void trackCopy(int fd, int copy) noexcept;

}  // namespace sonde::preload
