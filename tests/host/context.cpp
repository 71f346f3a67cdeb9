#include "tests/host/context.h"

#include "tests/host/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstdarg>

namespace host {
namespace {

constexpr int kNoError = 1234;  // the value of errno before each call
constexpr std::size_t kRoom = 64 * 1024;
constexpr std::size_t kPage = 4096;

char* gReadOnly = nullptr;
char* gUnmapped = nullptr;  // inaccessible; the next map would fill a hole
char gLong[5001];           // too long for a path

constexpr int kBad[] = {-1, -2, 1 << 20, (1 << 20) - 1, 1023, 4000, INT_MAX, INT_MIN, AT_FDCWD, 60};
constexpr int kBadCount = sizeof kBad / sizeof kBad[0];

std::uint32_t hashOf(const void* data, std::size_t bytes) noexcept {
  std::uint32_t hash = 2166136261;
  for (std::size_t at = 0; at < bytes; ++at)
    hash = (hash ^ static_cast<const unsigned char*>(data)[at]) * 16777619;
  return hash;
}

char* mapBefore(std::size_t bytes, int protection) noexcept {
  // An inaccessible page follows it.
  const long at =
      raw(SYS_mmap, 0, bytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* memory = reinterpret_cast<char*>(at);
  for (std::size_t byte = 0; byte < bytes; ++byte)
    memory[byte] = static_cast<char>('a' + byte % 26);
  raw(SYS_mprotect, at, bytes, protection);
  raw(SYS_mprotect, at + static_cast<long>(bytes), kPage, PROT_NONE);
  return memory;
}

}  // namespace

void makeMemory() noexcept {
  memset(gLong, 'x', sizeof gLong - 1);
  gReadOnly = mapBefore(kPage, PROT_READ);
  gUnmapped = mapBefore(kPage, PROT_NONE);
}

std::uint64_t Context::next() noexcept {
  random_ += 0x9e37'79b9'7f4a'7c15;
  std::uint64_t mixed = random_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58'476d'1ce4'e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11eb;
  return mixed ^ (mixed >> 31);
}

int Context::choose(int count, int oftenFirst) noexcept {
  if (!given_)
    return below(100) < oftenFirst ? 0 : below(count);
  const int point = points < 32 ? points++ : 31;
  alternatives[point] = count;
  return point == point_ ? std::min(value_, count - 1) : 0;
}

int Context::fromPool(int choice) const noexcept {
  return choice < kKinds ? pool_[choice] : extra_[choice - kKinds];
}

int Context::bad(int choice) const noexcept {
  // Number 60 belongs to nobody, or to this thread's own numbers and was never opened.
  return kBad[choice] == 60 && ownFirst >= 0 ? ownFirst + 99 : kBad[choice];
}

int Context::fd(Kind kind) noexcept {
  if (given_) {
    const int choice = choose(1 + kKinds + kBadCount);
    if (choice == 0)
      return pooled(kind);
    return choice <= kKinds ? pool_[choice - 1] : bad(choice - kKinds - 1);
  }
  const int luck = below(100);
  if (luck < 45)
    return pooled(kind);
  if (luck < 80)
    return fromPool(below(kKinds + extras_));
  if (luck < 85 && ownFirst < 0)
    return below(24);
  return bad(below(kBadCount));
}

int Context::target() noexcept {
  const int first = ownFirst < 0 ? 0 : ownFirst;
  if (!given_ && below(100) < 70)
    return first + below(40);
  const int choice = choose(1 + kBadCount, 0);
  return choice == 0 ? first + 50 : bad(choice - 1);
}

int Context::made(long fd) noexcept {
  if (fd < 0)
    return static_cast<int>(fd);
  if (ownFirst >= 0 && (fd < ownFirst || fd >= ownFirst + 100)) {
    // The actual number depends on other threads.
    const int own = ownFirst + 60 + extras_ % 30;
    raw(SYS_dup3, fd, own, O_CLOEXEC);
    raw(SYS_close, fd);
    fd = own;
  }
  extra_[extras_ < 32 ? extras_++ : below(32)] = static_cast<int>(fd);
  return static_cast<int>(fd);
}

Memory Context::buffer(bool isWritten) noexcept {
  if (room_ == nullptr)
    room_ = mapBefore(kRoom, PROT_READ | PROT_WRITE);
  switch (choose(isWritten ? 7 : 6, 80)) {
    case 0:
      return {room_, "room", kRoom};
    case 1:
      return {nullptr, "null", 0};
    case 2:
      return {reinterpret_cast<void*>(1), "one", 0};
    case 3:
      return {gUnmapped, "unmapped", 0};
    case 4:
      return {reinterpret_cast<void*>(0xdead'0000'0000'0000), "nowhere", 0};
    case 5:
      return {room_ + kRoom - 8, "edge", 8};
    default:
      return {gReadOnly, "readonly", kPage};
  }
}

void* Context::badOr(void* good, const char*& name, bool mayBeNull) noexcept {
  switch (choose(mayBeNull ? 5 : 4, 85)) {
    case 0:
      name = "good";
      return good;
    case 1:
      name = "one";
      return reinterpret_cast<void*>(1);
    case 2:
      name = "unmapped";
      return gUnmapped;
    case 3:
      name = "nowhere";
      return reinterpret_cast<void*>(0xdead'0000'0000'0000);
    default:
      name = "null";
      return nullptr;
  }
}

std::size_t Context::size(std::size_t most) noexcept {
  const std::size_t sizes[] = {
      16, 0, 1, 7, 100, 4096, 5000, 40000, std::size_t{1} << 31, SSIZE_MAX, SIZE_MAX};
  const std::size_t size = oneOf(sizes, 30);
  return most == 0 || size <= most ? size : most;
}

off_t Context::offset() noexcept {
  constexpr off_t kOffsets[] = {
      0, 5, 100, 5000, 70000, -1, -2, INT64_MIN, INT64_MAX, INT64_MAX - 10};
  return oneOf(kOffsets, 40);
}

void Context::nameFiles(int firstFd) noexcept {
  static constexpr const char* kNames[] = {
      "data", "fresh", "none/such", "folder", "data/under", "locked", "loop"};
  for (std::size_t at = 0; at < sizeof kNames / sizeof kNames[0]; ++at) {
    if (firstFd < 0)
      snprintf(names_[at], sizeof names_[at], "%s", kNames[at]);
    else
      snprintf(names_[at], sizeof names_[at], "own%d/%s", firstFd, kNames[at]);
  }
}

Path Context::path(Path good) noexcept {
  if (good.at == nullptr)
    good = {names_[0], "data"};
  const Path paths[] = {good,
                        {names_[0], "file"},
                        {names_[1], "fresh"},
                        {names_[2], "none/such"},
                        {names_[3], "folder"},
                        {names_[4], "data/under"},
                        {names_[5], "locked"},
                        {names_[6], "loop"},
                        {"", ""},
                        {"/dev/null", "/dev/null"},
                        {gLong, "long"},
                        {nullptr, "null"},
                        {reinterpret_cast<const char*>(1), "one"},
                        {gUnmapped, "unmapped"}};
  return oneOf(paths, 50);
}

void Context::call(const char* name, const char* format, ...) noexcept {
  char arguments[256];
  va_list values;
  va_start(values, format);
  vsnprintf(arguments, sizeof arguments, format, values);
  va_end(values);
  say(*area, "%s(%s)", name, arguments);
  if (guard_ >= 0) {
    const itimerspec soon = {{0, kGuardNs}, {0, kGuardNs}};
    guarded_ = raw(SYS_timer_settime, guard_, 0, &soon, 0) == 0;
  }
  errno = kNoError;
}

void Context::callUnguarded(const char* name, const char* format, ...) noexcept {
  char arguments[256];
  va_list values;
  va_start(values, format);
  vsnprintf(arguments, sizeof arguments, format, values);
  va_end(values);
  say(*area, "%s(%s)", name, arguments);
  errno = kNoError;
}

void Context::end(int error) noexcept {
  if (guarded_) {
    const itimerspec never = {};
    raw(SYS_timer_settime, guard_, 0, &never, 0);
    guarded_ = false;
  }
  if (error == kNoError)
    say(*area, "\n");
  else
    say(*area, " errno %d\n", error);
}

void Context::result(long value) noexcept {
  const int error = errno;
  say(*area, " = %ld", value);
  end(error);
}

void Context::resultFd(long value) noexcept {
  const int error = errno;
  say(*area, " = %d", made(value));
  end(error);
}

void Context::resultRead(long value, const Memory& bytes) noexcept {
  const int error = errno;
  say(*area, " = %ld", value);
  if (value > 0 && bytes.room > 0)
    say(*area, " %08x", hashOf(bytes.at, std::min(static_cast<std::size_t>(value), bytes.room)));
  end(error);
}

void Context::resultPointer(const void* value, const char* what) noexcept {
  const int error = errno;
  say(*area, " = %s", value == nullptr ? "null" : value == MAP_FAILED ? "failed" : what);
  end(error);
}

void Context::note(const char* format, ...) noexcept {
  char text[512];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  say(*area, "%s\n", text);
}

void Context::startGuard() noexcept {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = static_cast<pid_t>(raw(SYS_gettid));
  int timer = -1;
  guard_ = raw(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0 ? timer : -1;
}

void Context::endGuard() noexcept {
  if (guard_ >= 0)
    raw(SYS_timer_delete, guard_);
  guard_ = -1;
}

void Context::forgetMemory() noexcept {
  room_ = nullptr;
  guard_ = -1;
  guarded_ = false;
  for (FILE*& stream : streams)
    stream = nullptr;
  for (void*& folder : folders)
    folder = nullptr;
  for (void*& block : blocks)
    block = nullptr;
}

}  // namespace host
