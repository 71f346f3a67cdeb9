// What a call of the fuzzer has: choices, descriptors, memory, and the log. One of these a thread;
// a forked child goes on with its copy, a child of vfork with its parent's.
//
// Choices are random (a seed) or given (a row of the table): of a given choice 0 is what suits the
// call, all others are bad in some way or other.
#pragma once

#include "tests/host/log.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/types.h>

#include <cstdint>

namespace host {

// What the pool has one descriptor each of.
enum class Kind {
  File,
  ReadOnly,
  WriteOnly,
  PipeOut,  // not blocking
  PipeIn,
  WaitingOut,  // blocking
  WaitingIn,
  Unix,
  UnixPeer,
  Packets,
  PacketsPeer,
  Tcp,
  TcpPeer,
  Listener,
  UnixListener,
  Folder,
  PathOnly,
  Event,
  Poll,
  Null,
  Count
};
constexpr int kKinds = static_cast<int>(Kind::Count);

struct Memory {
  void* at;
  const char* name;
  std::size_t room;  // that may be looked at
};

struct Path {
  const char* at;
  const char* name;
};

constexpr int kGuardNs = 4'000'000;  // a call that waits is interrupted after that

class Context {
 public:
  Log* log = nullptr;
  Area* area = nullptr;
  const char* logPath = nullptr;
  const char* program = nullptr;

  // Random choices of this seed from now on.
  void seed(std::uint64_t seed) noexcept {
    random_ = seed;
    random_ = next();  // or the next seed would choose the same one later
  }
  // Choice `point` is `value` and all others are 0.
  void giveOnly(int point, int value) noexcept {
    given_ = true;
    point_ = point;
    value_ = value;
    points = 0;
  }
  bool isGiven() const noexcept { return given_; }
  // Of the last row: how many choices there were, and of how many alternatives each.
  int points = 0;
  int alternatives[32];

  std::uint64_t next() noexcept;
  int below(int count) noexcept {
    return static_cast<int>(next() % static_cast<std::uint64_t>(count));
  }
  // One of `count`; `oftenFirst`: how many of a hundred random choices are the first one.
  int choose(int count, int oftenFirst = 60) noexcept;
  template <typename T, std::size_t kCount>
  T oneOf(const T (&values)[kCount], int oftenFirst = 60) noexcept {
    return values[choose(static_cast<int>(kCount), oftenFirst)];
  }

  // Makes the pool: numbers from `firstFd` on where that is not -1.
  void makePool(int firstFd) noexcept;
  void nameFiles(int firstFd) noexcept;
  // Numbers of this thread's own: [ownFirst, ownFirst + 100); -1: all are.
  int ownFirst = -1;
  int fd(Kind kind) noexcept;
  int pooled(Kind kind) const noexcept { return pool_[static_cast<int>(kind)]; }
  // Where a copy may go.
  int target() noexcept;
  // Notes a new descriptor; what is to be logged of it.
  int made(long fd) noexcept;

  Memory buffer(bool isWritten) noexcept;
  // Memory for a small thing that the kernel is given, with `good` in it.
  template <typename T>
  T* pointer(T& good, const char*& name, bool mayBeNull = false) noexcept {
    return static_cast<T*>(badOr(&good, name, mayBeNull));
  }
  std::size_t size(std::size_t most = 0) noexcept;
  off_t offset() noexcept;
  // A path; `good`: what suits the call.
  Path path(Path good = {nullptr, nullptr}) noexcept;

  // Before and after each call. The first line says which it is, so that one that hangs has its
  // name there; the guard interrupts what waits for good.
  __attribute__((format(printf, 3, 4))) void call(const char* name,
                                                  const char* format,
                                                  ...) noexcept;
  __attribute__((format(printf, 3, 4))) void callUnguarded(const char* name,
                                                           const char* format,
                                                           ...) noexcept;
  void result(long value) noexcept;
  void resultFd(long value) noexcept;
  // Beside it what has been read to `bytes`.
  void resultRead(long value, const Memory& bytes) noexcept;
  void resultPointer(const void* value, const char* what) noexcept;
  __attribute__((format(printf, 2, 3))) void note(const char* format, ...) noexcept;

  // For the calls that need some state between them.
  FILE* streams[4] = {};
  void* folders[2] = {};
  void* blocks[8] = {};
  int depth = 0;
  int spareArea = 0;  // of a thread's child, while other threads take some, too
  bool isConcurrent() const noexcept { return ownFirst >= 0; }
  void startGuard() noexcept;
  void endGuard() noexcept;
  void forgetMemory() noexcept;  // of the context that this is a copy of
  int guard() const noexcept { return guard_; }
  void setGuard(int guard) noexcept { guard_ = guard; }

 private:
  void* badOr(void* good, const char*& name, bool mayBeNull) noexcept;
  void end(int error) noexcept;
  int fromPool(int choice) const noexcept;
  int bad(int choice) const noexcept;
  void keep(Kind kind, long fd) noexcept;

  std::uint64_t random_ = 1;
  bool given_ = false;
  int point_ = -1;
  int value_ = 0;
  int pool_[kKinds];
  char names_[7][32];  // the paths of this thread's own files
  int firstFd_ = -1;
  int extra_[32];
  int extras_ = 0;
  char* room_ = nullptr;
  int guard_ = -1;
  bool guarded_ = false;
};

// Memory that all contexts have: pages that cannot be read, or not written to.
void makeMemory() noexcept;

}  // namespace host
