// Shared by the wrappers in fd_calls_*.cpp: finds out what a descriptor leads to, and passes a
// call's bytes to the handler of that kind. Any thread; keeps errno.
//
// A wrapper calls trackFd(). For a descriptor that is not recorded this is one lookup in the table,
// and the wrapper only forwards the call. Otherwise it brackets the call:
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

// The handler of a kind of descriptor. It is called on the thread that made the wrapped call.
struct FdHandler {
  // A call that may wait for the other end begins; `transfer` has no end and no bytes yet. `frame`:
  // as in open_calls.h.
  core::OpenCall (*begun)(const FdTransfer& transfer, const void* frame);
  void (*transferred)(const FdTransfer& transfer);
  // The last descriptor of an endpoint is about to be closed.
  void (*closing)(int fd, FdEntry entry, Endpoint& endpoint);
};

// A call on a regular file, while it runs. beginTicks 0: not recorded.
struct FileCall {
  int fd;
  FdEntry entry;  // its generation is the id of the file's path; 0: unknown
  Way way;
  std::uint64_t beginTicks;
  std::uint64_t blocks;        // private to the handler
  std::uint64_t endTicks = 0;  // 0: the call ends when the handler is called
};
inline constexpr std::int64_t kMovesNothing = INT64_MIN;  // instead of a number of bytes
inline constexpr std::int64_t kOwnPosition = -1;  // the descriptor's position, instead of an offset
inline constexpr std::int64_t kOffsetUnknown = -2;  // at the end of the file, wherever that was

struct FilePath {
  bool isFile;       // false: memory or a device after all
  std::uint32_t id;  // 0: unknown now
};

// The handler for files. As FdHandler, for calls that are not part of a stream.
struct FileHandler {
  FilePath (*pathOf)(int fd);
  FileCall (*begin)(int fd, FdEntry entry, Way way);
  void (*end)(const FileCall& call, std::int64_t moved, std::int64_t offset, const char* name);
};
void registerFileHandler(const FileHandler* handler) noexcept;
bool recordsFiles() noexcept;
// The same; call it once for each call that is recorded. See core::admits().
bool admitsFiles() noexcept;
// Returns the entry of the file `fd` with its path, which is looked up only for recorded calls.
// Returns Other if `fd` is memory or a device after all, or the caller is a vfork child. Requires:
// a handler.
FdEntry withPath(int fd, FdEntry entry) noexcept;

// Call it before a call that opens by name. Returns ticks, 0 if neither files nor waits are
// recorded.
std::uint64_t beginOpening() noexcept;
// Records the opening of `fd` and returns `fd`; -1 (not opened) has no record.
int opened(int fd, std::uint64_t beginTicks, const char* name) noexcept;

// Call it before start() of the wrappers. `handler` must live for ever. Calls on kinds without a
// handler are only forwarded.
void registerFdHandler(FdKind kind, const FdHandler* handler) noexcept;
const FdHandler* fdHandler(FdKind kind) noexcept;

// Inspects a descriptor that is not in the table: it existed before this image, or no wrapper saw
// how it was created.
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
  std::uint64_t blocks = 0;  // as FileCall::blocks
  core::OpenCall open{};
};

// For a stream or a file, from its current position.
FdCall beginCall(int fd, FdEntry entry, Way way) noexcept;
// `moved`: bytes, or -1 for a failure. `name`: the call's name, for files.
void endCall(const FdCall& call, ssize_t moved, const char* name = nullptr) noexcept;

// Requires: the entry's kind is File. Errors as in endCall.
FileCall beginFileCall(int fd, FdEntry entry, Way way) noexcept;
void endFileCall(const FileCall& call,
                 std::int64_t moved,
                 std::int64_t offset,
                 const char* name) noexcept;

// Bytes may go `way` through `fd` without a wrapper counting them.
void markInexact(int fd, Way way) noexcept;

// `fd` is about to be closed, by whatever call: its handler inspects it a last time.
void inspectClosing(int fd) noexcept;
// `fd` has been closed, or may be another file now: it is inspected at its next use.
void forgetFd(int fd) noexcept;
void forgetFds(unsigned first, unsigned last) noexcept;
// `fd` is a new stream, from its first byte on. Returns nullptr if the endpoint is not followed.
Endpoint* trackNew(int fd, FdKind kind) noexcept;
void trackCopy(int fd, int copy) noexcept;

}  // namespace sonde::preload
