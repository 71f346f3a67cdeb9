// libc's streams. libc moves their bytes with internal calls that no wrapper sees. Only the bytes
// between libc and the file are recorded; a call that libc serves from its buffer is not.

#include "collector/core/platform/hooks.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/descriptors/fd_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

namespace sonde::preload {
namespace {

using core::Real;

using OpenCall = FILE* (*)(const char*, const char*);
using ReopenCall = FILE* (*)(const char*, const char*, FILE*);
using FdopenCall = FILE* (*)(int, const char*);
using StreamCall = int (*)(FILE*);
using ReadCall = size_t (*)(void*, size_t, size_t, FILE*);
using ReadCheckedCall = size_t (*)(void*, size_t, size_t, size_t, FILE*);
using WriteCall = size_t (*)(const void*, size_t, size_t, FILE*);

constinit Real<OpenCall> gOpen{"fopen"};
constinit Real<OpenCall> gOpen64{"fopen64"};
constinit Real<ReopenCall> gReopen{"freopen"};
constinit Real<ReopenCall> gReopen64{"freopen64"};
constinit Real<FdopenCall> gFdopen{"fdopen"};
constinit Real<StreamCall> gClose{"fclose"};
constinit Real<StreamCall> gPclose{"pclose"};
constinit Real<StreamCall> gFlush{"fflush"};
constinit Real<StreamCall> gFlushUnlocked{"fflush_unlocked"};
constinit Real<ReadCall> gRead{"fread"};
constinit Real<ReadCall> gReadUnlocked{"fread_unlocked"};
constinit Real<ReadCheckedCall> gReadChecked{"__fread_chk"};
constinit Real<ReadCheckedCall> gReadUnlockedChecked{"__fread_unlocked_chk"};
constinit Real<WriteCall> gWrite{"fwrite"};
constinit Real<WriteCall> gWriteUnlocked{"fwrite_unlocked"};

__attribute__((constructor(102))) void resolve() {
  gOpen();
  gOpen64();
  gReopen();
  gReopen64();
  gFdopen();
  gClose();
  gPclose();
  gFlush();
  gFlushUnlocked();
  gRead();
  gReadUnlocked();
  gReadChecked();
  gReadUnlockedChecked();
  gWrite();
  gWriteUnlocked();
}

// Returns the descriptor of a stream; -1 if it has none. Keeps errno.
int descriptorOf(FILE* stream) noexcept {
  const int before = errno;
  const int fd = stream == nullptr ? -1 : fileno(stream);
  errno = before;
  return fd;
}

FdEntry fileOf(FILE* stream) noexcept {
  const int fd = admitsFiles() ? descriptorOf(stream) : -1;
  const FdEntry entry = fd < 0 ? FdEntry() : trackFd(fd);
  return entry.kind() == FdKind::File ? entry : FdEntry();
}

FILE* openedStream(FILE* stream, std::uint64_t begin, const char* name) noexcept {
  if (stream != nullptr)
    opened(descriptorOf(stream), begin, name);
  return stream;
}

std::int64_t positionOf(int fd) noexcept {
  return core::rawSyscall(SYS_lseek, fd, 0, SEEK_CUR);
}

// Bytes in libc's buffer: read but not yet taken, free, and not yet written. If another thread uses
// the stream, they may change at any time. A call is then timed needlessly, or not timed.
size_t toRead(const FILE* stream) noexcept {
  return static_cast<size_t>(stream->_IO_read_end - stream->_IO_read_ptr);
}
size_t room(const FILE* stream) noexcept {
  return stream->_IO_write_ptr < stream->_IO_write_end
             ? static_cast<size_t>(stream->_IO_write_end - stream->_IO_write_ptr)
             : 0;
}
std::int64_t toWrite(const FILE* stream) noexcept {
  return stream->_IO_write_ptr - stream->_IO_write_base;
}

// act() reads `bytes` from the stream.
template <typename Act>
size_t reading(FILE* stream, size_t bytes, Act act) {
  const FdEntry entry = toRead(stream) >= bytes ? FdEntry() : fileOf(stream);
  if (entry.kind() != FdKind::File)
    return act();
  const int fd = descriptorOf(stream);
  const std::int64_t from = positionOf(fd);
  const FileCall call = beginFileCall(fd, entry, Way::Receive);
  const size_t result = act();
  endFileCall(call, positionOf(fd) - from, from, "fread");
  return result;
}

// act() adds items of `size` bytes to libc's buffer and returns their number.
template <typename Act>
size_t writing(FILE* stream, size_t size, size_t count, Act act) {
  const FdEntry entry = room(stream) >= size * count ? FdEntry() : fileOf(stream);
  if (entry.kind() != FdKind::File)
    return act();
  const std::int64_t before = toWrite(stream);
  const FileCall call = beginFileCall(descriptorOf(stream), entry, Way::Send);
  const size_t result = act();
  const std::int64_t moved = before + static_cast<std::int64_t>(size * result) - toWrite(stream);
  if (moved > 0 || result < count)
    endFileCall(call, moved, kOwnPosition, "fwrite");
  return result;
}

// act() writes libc's buffer; it returns 0 on success.
int flushing(StreamCall real, FILE* stream) {
  const std::int64_t moved = stream == nullptr ? 0 : toWrite(stream);
  const FdEntry entry = moved <= 0 ? FdEntry() : fileOf(stream);
  if (entry.kind() != FdKind::File)
    return real(stream);
  const FileCall call = beginFileCall(descriptorOf(stream), entry, Way::Send);
  const int result = real(stream);
  endFileCall(call, result == 0 ? moved : 0, kOwnPosition, "fflush");
  return result;
}

// libc closes the descriptor with an internal call. The position of bytes that it writes before
// that cannot be queried afterwards.
int closing(StreamCall real, FILE* stream) {
  const int fd = descriptorOf(stream);
  if (fd < 0)
    return real(stream);
  const std::int64_t moved = toWrite(stream);
  const FdEntry entry = moved <= 0 ? FdEntry() : fileOf(stream);
  if (entry.kind() != FdKind::File) {
    forgetFd(fd);
    return real(stream);
  }
  const long flags = core::rawSyscall(SYS_fcntl, fd, F_GETFL);
  const std::int64_t at = (flags & O_APPEND) != 0 ? kOffsetUnknown : positionOf(fd);
  const FileCall call = beginFileCall(fd, entry, Way::Send);
  forgetFd(fd);
  const int result = real(stream);
  endFileCall(call, result == 0 ? moved : 0, at, "fclose");
  return result;
}

}  // namespace
}  // namespace sonde::preload

using namespace sonde::preload;

SONDE_EXPORT FILE* fopen(const char* path, const char* mode) {
  const std::uint64_t begin = beginOpening();
  return openedStream(gOpen()(path, mode), begin, "fopen");
}

SONDE_EXPORT FILE* fopen64(const char* path, const char* mode) {
  const std::uint64_t begin = beginOpening();
  return openedStream(gOpen64()(path, mode), begin, "fopen");
}

SONDE_EXPORT FILE* freopen(const char* path, const char* mode, FILE* stream) {
  const std::uint64_t begin = beginOpening();
  return openedStream(gReopen()(path, mode, stream), begin, "freopen");
}

SONDE_EXPORT FILE* freopen64(const char* path, const char* mode, FILE* stream) {
  const std::uint64_t begin = beginOpening();
  return openedStream(gReopen64()(path, mode, stream), begin, "freopen");
}

// The bytes of this stream bypass the wrappers of sockets and pipes.
SONDE_EXPORT FILE* fdopen(int fd, const char* mode) {
  FILE* stream = gFdopen()(fd, mode);
  if (stream != nullptr) {
    markInexact(fd, Way::Send);
    markInexact(fd, Way::Receive);
  }
  return stream;
}

SONDE_EXPORT int fclose(FILE* stream) {
  return closing(gClose(), stream);
}

SONDE_EXPORT int pclose(FILE* stream) {
  return closing(gPclose(), stream);
}

SONDE_EXPORT int fflush(FILE* stream) {
  return flushing(gFlush(), stream);
}

SONDE_EXPORT int fflush_unlocked(FILE* stream) {
  return flushing(gFlushUnlocked(), stream);
}

SONDE_EXPORT size_t fread(void* data, size_t size, size_t count, FILE* stream) {
  return reading(stream, size * count, [=] { return gRead()(data, size, count, stream); });
}

SONDE_EXPORT size_t fread_unlocked(void* data, size_t size, size_t count, FILE* stream) {
  return reading(stream, size * count, [=] { return gReadUnlocked()(data, size, count, stream); });
}

SONDE_EXPORT size_t __fread_chk(void* data, size_t room, size_t size, size_t count, FILE* stream) {
  return reading(
      stream, size * count, [=] { return gReadChecked()(data, room, size, count, stream); });
}

SONDE_EXPORT size_t
__fread_unlocked_chk(void* data, size_t room, size_t size, size_t count, FILE* stream) {
  return reading(stream, size * count, [=] {
    return gReadUnlockedChecked()(data, room, size, count, stream);
  });
}

SONDE_EXPORT size_t fwrite(const void* data, size_t size, size_t count, FILE* stream) {
  return writing(stream, size, count, [=] { return gWrite()(data, size, count, stream); });
}

SONDE_EXPORT size_t fwrite_unlocked(const void* data, size_t size, size_t count, FILE* stream) {
  return writing(stream, size, count, [=] { return gWriteUnlocked()(data, size, count, stream); });
}
