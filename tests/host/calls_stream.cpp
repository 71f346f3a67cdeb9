// Bytes through any descriptor, and between descriptors.
#include "tests/host/calls.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

extern "C" ssize_t __read_chk(int fd, void* buffer, size_t count, size_t room);

namespace host {
namespace {

// Vectors of bytes, valid and invalid.
struct Vector {
  iovec parts[4];
  const iovec* at;
  const char* name;
  int count;
  Memory first;
};

void chooseVector(Context& c, Vector& vector, bool isWritten) noexcept {
  vector.first = c.buffer(isWritten);
  const Memory second = c.buffer(isWritten);
  vector.parts[0] = {vector.first.at, c.size(40000)};
  vector.parts[1] = {second.at, c.oneOf<std::size_t>({8, 0, 300, SIZE_MAX, SSIZE_MAX}, 60)};
  vector.parts[2] = vector.parts[3] = {vector.first.at, 4};
  constexpr int kCounts[] = {2, 0, 1, 4, -1, IOV_MAX + 1, INT_MAX, INT_MIN};
  vector.count = c.oneOf(kCounts, 60);
  // More parts than exist are refused before they are read.
  vector.at = c.pointer(vector.parts[0], vector.name, true);
}

constexpr int kRwFlags[] = {0, RWF_APPEND, RWF_HIPRI, RWF_DSYNC, RWF_NOWAIT, -1, 0x4000'0000};

void callRead(Context& c) {
  const int fd = c.fd(Kind::PipeOut);
  const Memory to = c.buffer(true);
  const std::size_t bytes = c.size();
  c.call("read", "%d, %s, %zu", fd, to.name, bytes);
  c.resultRead(read(fd, to.at, bytes), to);
}

void callReadChecked(Context& c) {
  const int fd = c.fd(Kind::File);
  const Memory to = c.buffer(true);
  const std::size_t bytes = c.size(5000);
  const std::size_t room = c.isGiven() ? c.oneOf<std::size_t>({5000, 3}) : 5000;
  c.call("__read_chk", "%d, %s, %zu, %zu", fd, to.name, bytes, room);
  c.resultRead(__read_chk(fd, to.at, bytes, room), to);
}

void callWrite(Context& c) {
  const int fd = c.fd(Kind::PipeIn);
  const Memory from = c.buffer(false);
  const std::size_t bytes = c.size();
  c.call("write", "%d, %s, %zu", fd, from.name, bytes);
  c.result(write(fd, from.at, bytes));
}

void callReadv(Context& c) {
  const int fd = c.fd(Kind::File);
  Vector to;
  chooseVector(c, to, true);
  c.call("readv",
         "%d, %s, %d, %zu %zu",
         fd,
         to.name,
         to.count,
         to.parts[0].iov_len,
         to.parts[1].iov_len);
  c.resultRead(readv(fd, to.at, to.count), {nullptr, "", 0});
}

void callWritev(Context& c) {
  const int fd = c.fd(Kind::Unix);
  Vector from;
  chooseVector(c, from, false);
  c.call("writev",
         "%d, %s, %d, %zu %zu",
         fd,
         from.name,
         from.count,
         from.parts[0].iov_len,
         from.parts[1].iov_len);
  c.result(writev(fd, from.at, from.count));
}

template <auto kFunction>
void callPlaced2(Context& c, const char* name, bool reads) {
  const int fd = c.fd(Kind::File);
  Vector bytes;
  chooseVector(c, bytes, reads);
  const off_t offset = c.offset();
  const int flags = c.oneOf(kRwFlags, 70);
  c.call(name,
         "%d, %s, %d, %zu %zu, %ld, %#x",
         fd,
         bytes.name,
         bytes.count,
         bytes.parts[0].iov_len,
         bytes.parts[1].iov_len,
         offset,
         flags);
  c.result(kFunction(fd, bytes.at, bytes.count, offset, flags));
}

void callPreadv2(Context& c) {
  callPlaced2<preadv2>(c, "preadv2", true);
}
void callPreadv64v2(Context& c) {
  callPlaced2<preadv64v2>(c, "preadv64v2", true);
}
void callPwritev2(Context& c) {
  callPlaced2<pwritev2>(c, "pwritev2", false);
}
void callPwritev64v2(Context& c) {
  callPlaced2<pwritev64v2>(c, "pwritev64v2", false);
}

template <auto kFunction>
void callSendfile(Context& c, const char* name) {
  const int out = c.fd(Kind::Unix);
  const int in = c.fd(Kind::File);
  off_t at = c.oneOf<off_t>({0, 100, -1, 1 << 20}, 60);
  const char* place = nullptr;
  auto* offset = c.pointer(at, place, true);
  const std::size_t bytes = c.size(5000);
  c.call(name, "%d, %d, %s %ld, %zu", out, in, place, at, bytes);
  c.result(kFunction(out, in, offset, bytes));
}

void callSendfile32(Context& c) {
  callSendfile<sendfile>(c, "sendfile");
}
void callSendfile64(Context& c) {
  callSendfile<sendfile64>(c, "sendfile64");
}

constexpr unsigned kSpliceFlags[] = {
    SPLICE_F_NONBLOCK, 0, SPLICE_F_MOVE, SPLICE_F_MORE, ~0U, 0x100};

void callSplice(Context& c) {
  const int in = c.fd(Kind::File);
  const int out = c.fd(Kind::PipeIn);
  off64_t from = c.oneOf<off64_t>({0, 100, -1}, 70);
  off64_t to = 0;
  const char* fromName = nullptr;
  const char* toName = nullptr;
  off64_t* inOffset = c.pointer(from, fromName, true);
  off64_t* outOffset = c.choose(2, 80) == 0 ? nullptr : c.pointer(to, toName, true);
  const std::size_t bytes = c.size(5000);
  const unsigned flags = c.oneOf(kSpliceFlags);
  c.call("splice",
         "%d, %s %ld, %d, %s, %zu, %#x",
         in,
         fromName,
         from,
         out,
         toName == nullptr ? "null" : toName,
         bytes,
         flags);
  c.result(splice(in, inOffset, out, outOffset, bytes, flags));
}

void callTee(Context& c) {
  const int in = c.fd(Kind::PipeOut);
  const int out = c.fd(Kind::WaitingIn);
  const std::size_t bytes = c.size(5000);
  const unsigned flags = c.oneOf(kSpliceFlags);
  c.call("tee", "%d, %d, %zu, %#x", in, out, bytes, flags);
  c.result(tee(in, out, bytes, flags));
}

void callVmsplice(Context& c) {
  const int fd = c.fd(Kind::PipeIn);
  Vector from;
  chooseVector(c, from, true);
  const unsigned flags = c.oneOf(kSpliceFlags);
  c.call("vmsplice",
         "%d, %s, %d, %zu %zu, %#x",
         fd,
         from.name,
         from.count,
         from.parts[0].iov_len,
         from.parts[1].iov_len,
         flags);
  c.result(vmsplice(fd, from.at, static_cast<std::size_t>(from.count), flags));
}

constexpr NamedCall kCalls[] = {{"read", callRead, kInVfork},
                                {"__read_chk", callReadChecked, kInVfork},
                                {"write", callWrite, kInVfork},
                                {"readv", callReadv, kInVfork},
                                {"writev", callWritev, kInVfork},
                                {"preadv2", callPreadv2, kInVfork},
                                {"preadv64v2", callPreadv64v2, kInVfork},
                                {"pwritev2", callPwritev2, kInVfork},
                                {"pwritev64v2", callPwritev64v2, kInVfork},
                                {"sendfile", callSendfile32, kInVfork},
                                {"sendfile64", callSendfile64, kInVfork},
                                {"splice", callSplice, kInVfork},
                                {"tee", callTee, kInVfork},
                                {"vmsplice", callVmsplice, kInVfork}};

}  // namespace

CallList streamCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
