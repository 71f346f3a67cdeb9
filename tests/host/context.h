// The context of a fuzzer's call: choices, descriptors, memory, and the log. One per thread; a
// forked child continues with its copy, a child of vfork with its parent's.
//
// Choices are random (a seed) or given (a row of the table). A given choice 0 is valid for the
// call; all others are invalid in some way.
#pragma once

#include "tests/host/log.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/types.h>

#include <cstdint>

namespace host {

// The pool has one descriptor of each kind.
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
  std::size_t room;  // readable bytes
};

struct Path {
  const char* at;
  const char* name;
};

constexpr int kGuardNs = 4'000'000;  // a waiting call is interrupted after this time

class Context {
 public:
  Log* log = nullptr;
  Area* area = nullptr;
  const char* logPath = nullptr;
  const char* program = nullptr;

  // Random choices of this seed from now on.
  void seed(std::uint64_t seed) noexcept {
    random_ = seed;
    random_ = next();  // otherwise a later choice of the next seed would be the same
  }
  // Choice `point` is `value` and all others are 0.
  void giveOnly(int point, int value) noexcept {
    given_ = true;
    point_ = point;
    value_ = value;
    points = 0;
  }
  bool isGiven() const noexcept { return given_; }
  // For the last row: the number of choices, and the number of alternatives of each.
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

  // Creates the pool, with numbers from `firstFd` on unless that is -1.
  void makePool(int firstFd) noexcept;
  void nameFiles(int firstFd) noexcept;
  // This thread's own numbers: [ownFirst, ownFirst + 100); -1: all.
  int ownFirst = -1;
  int fd(Kind kind) noexcept;
  int pooled(Kind kind) const noexcept { return pool_[static_cast<int>(kind)]; }
  // The target number for a copy.
  int target() noexcept;
  // Notes a new descriptor; returns the number to log.
  int made(long fd) noexcept;

  Memory buffer(bool isWritten) noexcept;
  // Memory for a small object that the kernel gets, with `good` in it.
  template <typename T>
  T* pointer(T& good, const char*& name, bool mayBeNull = false) noexcept {
    return static_cast<T*>(badOr(&good, name, mayBeNull));
  }
  std::size_t size(std::size_t most = 0) noexcept;
  off_t offset() noexcept;
  // A path; `good`: valid for the call.
  Path path(Path good = {nullptr, nullptr}) noexcept;

  // Called before and after each call. The first line has the call's name, so that it is known if
  // the call hangs; the guard interrupts calls that wait for ever.
  __attribute__((format(printf, 3, 4))) void call(const char* name,
                                                  const char* format,
                                                  ...) noexcept;
  __attribute__((format(printf, 3, 4))) void callUnguarded(const char* name,
                                                           const char* format,
                                                           ...) noexcept;
  void result(long value) noexcept;
  void resultFd(long value) noexcept;
  // Also logs the bytes that were read to `bytes`.
  void resultRead(long value, const Memory& bytes) noexcept;
  void resultPointer(const void* value, const char* what) noexcept;
  __attribute__((format(printf, 2, 3))) void note(const char* format, ...) noexcept;

  // For calls that need state in between.
  FILE* streams[4] = {};
  void* folders[2] = {};
  void* blocks[8] = {};
  int depth = 0;
  int spareArea = 0;  // for a thread's child, while other threads take areas, too
  bool isConcurrent() const noexcept { return ownFirst >= 0; }
  void startGuard() noexcept;
  void endGuard() noexcept;
  void forgetMemory() noexcept;  // of the context that was copied
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

// Memory shared by all contexts: pages that cannot be read, or not be written.
void makeMemory() noexcept;

}  // namespace host
