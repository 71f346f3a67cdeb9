// Calls on files only: with an offset, to disk, into memory.
#include "tests/host/calls.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

extern "C" ssize_t __pread_chk(int fd, void* buffer, size_t count, off_t offset, size_t room);
extern "C" ssize_t __pread64_chk(int fd, void* buffer, size_t count, off_t offset, size_t room);

namespace host {
namespace {

template <auto kFunction>
void callPread(Context& c, const char* name) {
  const int fd = c.fd(Kind::File);
  const Memory to = c.buffer(true);
  const std::size_t bytes = c.size();
  const off_t offset = c.offset();
  c.call(name, "%d, %s, %zu, %ld", fd, to.name, bytes, offset);
  c.resultRead(kFunction(fd, to.at, bytes, offset), to);
}

template <auto kFunction>
void callPreadChecked(Context& c, const char* name) {
  const int fd = c.fd(Kind::File);
  const Memory to = c.buffer(true);
  const std::size_t bytes = c.size(5000);
  const off_t offset = c.offset();
  const std::size_t room = c.isGiven() ? c.oneOf<std::size_t>({5000, 3}) : 5000;
  c.call(name, "%d, %s, %zu, %ld, %zu", fd, to.name, bytes, offset, room);
  c.resultRead(kFunction(fd, to.at, bytes, offset, room), to);
}

template <auto kFunction>
void callPwrite(Context& c, const char* name) {
  const int fd = c.fd(Kind::File);
  const Memory from = c.buffer(false);
  const std::size_t bytes = c.size();
  const off_t offset = c.offset();
  c.call(name, "%d, %s, %zu, %ld", fd, from.name, bytes, offset);
  c.result(kFunction(fd, from.at, bytes, offset));
}

template <auto kFunction>
void callVector(Context& c, const char* name, bool reads) {
  const int fd = c.fd(Kind::File);
  const Memory bytes = c.buffer(reads);
  iovec parts[2] = {{bytes.at, c.size(40000)}, {bytes.at, 3}};
  const char* vector = nullptr;
  const iovec* at = c.pointer(parts[0], vector, true);
  const int count = c.oneOf<int>({2, 0, 1, -1, IOV_MAX + 1, INT_MAX});
  const off_t offset = c.offset();
  c.call(name, "%d, %s, %d, %s %zu, %ld", fd, vector, count, bytes.name, parts[0].iov_len, offset);
  c.result(kFunction(fd, at, count, offset));
}

template <auto kFunction>
void callSync(Context& c, const char* name) {
  const int fd = c.fd(Kind::File);
  c.call(name, "%d", fd);
  c.result(kFunction(fd));
}

template <auto kFunction>
void callMmap(Context& c, const char* name) {
  const std::size_t length =
      c.oneOf<std::size_t>({4096, 0, 1, 100000, SIZE_MAX, std::size_t{1} << 62});
  const int protection = c.oneOf<int>({PROT_READ, PROT_NONE, PROT_READ | PROT_WRITE, -1});
  const int flags = c.oneOf<int>(
      {MAP_PRIVATE, MAP_SHARED, 0, MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED_VALIDATE | 0x4000'0000});
  const int fd = c.fd(Kind::File);
  const off_t offset = c.oneOf<off_t>({0, 4096, 1, -1, -4096, 1L << 62});
  // Not at a chosen address: the memory there would be lost.
  void* const hint =
      c.oneOf<void*>({nullptr, reinterpret_cast<void*>(1), reinterpret_cast<void*>(-1L)});
  c.call(name, "%p, %zu, %d, %#x, %d, %ld", hint, length, protection, flags, fd, offset);
  void* const at = kFunction(hint, length, protection, flags, fd, offset);
  c.resultPointer(at, "map");
  if (at != MAP_FAILED)
    munmap(at, length);
}

void callMsync(Context& c) {
  const int fd = c.pooled(Kind::File);
  void* const at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const std::size_t shift = c.oneOf<std::size_t>({0, 1, 4096});
  const std::size_t length = c.oneOf<std::size_t>({4096, 0, 1, SIZE_MAX, 1 << 20});
  const int flags = c.oneOf<int>({MS_ASYNC, MS_SYNC, MS_SYNC | MS_ASYNC, MS_INVALIDATE, -1, 0});
  void* const from = at == MAP_FAILED ? nullptr : static_cast<char*>(at) + shift;
  // Another map may begin after the end.
  if (at != MAP_FAILED)
    munmap(at, c.choose(2) == 0 ? 0 : 4096);
  c.call("msync", "map + %zu, %zu, %#x", shift, length > 4096 ? SIZE_MAX : length, flags);
  c.result(msync(from, length > 4096 ? SIZE_MAX : length, flags));
  if (at != MAP_FAILED)
    munmap(at, 4096);
}

// A function created from a template, for the table of calls.
#define HOST_CALL(name, ...)    \
  void name##Call(Context& c) { \
    __VA_ARGS__;                \
  }
HOST_CALL(pread, callPread<pread>(c, "pread"))
HOST_CALL(pread64, callPread<pread64>(c, "pread64"))
HOST_CALL(preadChecked, callPreadChecked<__pread_chk>(c, "__pread_chk"))
HOST_CALL(pread64Checked, callPreadChecked<__pread64_chk>(c, "__pread64_chk"))
HOST_CALL(pwrite, callPwrite<pwrite>(c, "pwrite"))
HOST_CALL(pwrite64, callPwrite<pwrite64>(c, "pwrite64"))
HOST_CALL(preadv, callVector<preadv>(c, "preadv", true))
HOST_CALL(preadv64, callVector<preadv64>(c, "preadv64", true))
HOST_CALL(pwritev, callVector<pwritev>(c, "pwritev", false))
HOST_CALL(pwritev64, callVector<pwritev64>(c, "pwritev64", false))
HOST_CALL(fsync, callSync<fsync>(c, "fsync"))
HOST_CALL(fdatasync, callSync<fdatasync>(c, "fdatasync"))
HOST_CALL(mmap, callMmap<mmap>(c, "mmap"))
HOST_CALL(mmap64, callMmap<mmap64>(c, "mmap64"))

constexpr NamedCall kCalls[] = {{"pread", preadCall, kInVfork},
                                {"pread64", pread64Call, kInVfork},
                                {"__pread_chk", preadCheckedCall, kInVfork},
                                {"__pread64_chk", pread64CheckedCall, kInVfork},
                                {"pwrite", pwriteCall, kInVfork},
                                {"pwrite64", pwrite64Call, kInVfork},
                                {"preadv", preadvCall, kInVfork},
                                {"preadv64", preadv64Call, kInVfork},
                                {"pwritev", pwritevCall, kInVfork},
                                {"pwritev64", pwritev64Call, kInVfork},
                                {"fsync", fsyncCall, kInVfork},
                                {"fdatasync", fdatasyncCall, kInVfork},
                                {"mmap", mmapCall, 0},
                                {"mmap64", mmap64Call, 0},
                                {"msync", callMsync, kAlone}};

}  // namespace

CallList fileCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
