#include "collector/preload/stack/interposer/code_ranges.h"

#include "collector/core/platform/apart.h"
#include "collector/core/platform/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <atomic>

namespace sonde::preload::stack {
namespace {

using core::asLong;
using core::rawSyscall;

// "start-end r-xp …"
bool isCode(const char* line, const char* end) noexcept {
  const void* space = memchr(line, ' ', static_cast<std::size_t>(end - line));
  const char* permissions = static_cast<const char*>(space);
  return permissions != nullptr && end - permissions > 3 && permissions[3] == 'x';
}

// Not on a stack, which may be a signal handler's small one. The thread that holds the flag is
// already describing the code.
constinit std::atomic_flag gBusy = ATOMIC_FLAG_INIT;
constinit char gText[8192];

// Lines are collected, to keep the number of definitions small.
struct Collected {
  void (*define)(const char* lines, std::size_t length);
  std::size_t bytes = 0;
  char text[1024];

  void add(const char* line, std::size_t length) noexcept {
    if (bytes + length > sizeof text)
      tell();
    if (length > sizeof text)
      return;
    memcpy(text + bytes, line, length);
    bytes += length;
  }
  void tell() noexcept {
    if (bytes > 0)
      define(text, bytes);
    bytes = 0;
  }
};

// Takes the complete lines of the text that was read. Returns their length in bytes.
std::size_t takeLines(Collected& collected, const char* text, std::size_t bytes) noexcept {
  const char* line = text;
  for (;;) {  // each line once
    const std::size_t left = bytes - static_cast<std::size_t>(line - text);
    const auto* end = static_cast<const char*>(memchr(line, '\n', left));
    if (end == nullptr)
      return static_cast<std::size_t>(line - text);
    if (isCode(line, end))
      collected.add(line, static_cast<std::size_t>(end + 1 - line));
    line = end + 1;
  }
}

constexpr int kMostReads = 1 << 16;  // a limit, in case other threads keep mapping memory

void describe(void (*define)(const char* lines, std::size_t length)) noexcept {
  const long file = core::apart(
      rawSyscall(SYS_openat, AT_FDCWD, asLong("/proc/self/maps"), O_RDONLY | O_CLOEXEC));
  if (file < 0)
    return;
  Collected collected{define, 0, {}};
  char* const text = gText;
  std::size_t held = 0;
  for (int reads = 0; reads < kMostReads; ++reads) {
    const long read =
        rawSyscall(SYS_read, file, asLong(text + held), static_cast<long>(sizeof gText - held));
    if (read == -EINTR)
      continue;
    if (read <= 0)
      break;
    held += static_cast<std::size_t>(read);
    const std::size_t taken = takeLines(collected, text, held);
    held -= taken;
    memmove(text, text + taken, held);
    if (held == sizeof gText)
      held = 0;  // a line longer than any path
  }
  collected.tell();
  rawSyscall(SYS_close, file);
}

}  // namespace

void describeCode(void (*define)(const char* lines, std::size_t length)) noexcept {
  if (gBusy.test_and_set(std::memory_order_acquire))
    return;
  describe(define);
  gBusy.clear(std::memory_order_release);
}

void forgetDescribing() noexcept {
  gBusy.clear(std::memory_order_release);
}

}  // namespace sonde::preload::stack
