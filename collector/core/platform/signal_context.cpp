#include "collector/core/platform/signal_context.h"

#include "collector/core/platform/apart.h"
#include "collector/core/platform/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace sonde::core {
namespace {

// The kernel's own layout, which differs from libc's struct sigaction.
struct KernelAction {
  std::uintptr_t handler;
  unsigned long flags;
  std::uintptr_t restorer;
  std::uint64_t mask;
};

constexpr std::size_t kPiece = 4096;
constexpr std::size_t kPieces = 32;  // a handler that calls this has a shallow stack
constexpr int kSignals = 65;         // their numbers are less

bool hasHandler(int signal, KernelAction& action) noexcept {
  const long result = rawSyscall(
      SYS_rt_sigaction, signal, 0, asLong(&action), static_cast<long>(sizeof action.mask));
  return result == 0 && action.handler > 1;  // not SIG_DFL or SIG_IGN
}

// The complement of the address to which all handlers return, libc's one function for that. Thanks
// to the complement, the address itself is on the stack only in a handler's frame. 0: there are no
// handlers.
[[gnu::noinline]] std::uintptr_t hiddenRestorer() noexcept {
  for (int number = 1; number < kSignals; ++number) {
    volatile KernelAction action{};
    const bool isThere = hasHandler(number, const_cast<KernelAction&>(action));
    const std::uintptr_t hidden = ~action.restorer;
    action.restorer = 0;
    if (isThere)
      return hidden;
  }
  return 0;
}

// For containers that forbid process_vm_readv.
long readProcMem(std::uintptr_t from, void* into, std::size_t bytes) noexcept {
  const long file =
      apart(rawSyscall(SYS_openat, AT_FDCWD, asLong("/proc/self/mem"), O_RDONLY | O_CLOEXEC));
  if (file < 0)
    return file;
  const long read = rawSyscall(
      SYS_pread64, file, asLong(into), static_cast<long>(bytes), static_cast<long>(from));
  rawSyscall(SYS_close, file);
  return read;
}

// Copies mapped memory of this process without faulting. False: some of it is not mapped, or
// reading is forbidden.
bool readMemory(std::uintptr_t from, void* into, std::size_t bytes) noexcept {
  iovec local{into, bytes};
  iovec remote{reinterpret_cast<void*>(from), bytes};
  const long self = rawSyscall(SYS_getpid);
  long read = rawSyscall(SYS_process_vm_readv, self, asLong(&local), 1, asLong(&remote), 1, 0);
  if (read == -EPERM || read == -ENOSYS)
    read = readProcMem(from, into, bytes);
  return read >= 0 && static_cast<std::size_t>(read) == bytes;
}

#if defined(__x86_64__)
// The signals that the calling thread blocks.
std::uint64_t blockedSignals() noexcept {
  std::uint64_t mask = 0;
  rawSyscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, asLong(&mask), static_cast<long>(sizeof mask));
  return mask;
}

// Whether a handler runs without its own signal blocked (SA_NODEFER).
bool anyHandlerNests() noexcept {
  for (int number = 1; number < kSignals; ++number) {
    KernelAction action{};
    if (hasHandler(number, action) && (action.flags & SA_NODEFER) != 0)
      return true;
  }
  return false;
}

// Whether the kernel's frame for a handler is at this address: the restorer, then the ucontext. The
// restorer's address alone may be left over from something else, and a whole frame from a handler
// that has returned. While a handler runs, its signal is blocked, which it was not in the
// interrupted code.
bool isFrame(std::uintptr_t at) noexcept {
  constexpr std::size_t kFlags = 1;
  constexpr std::size_t kLink = 2;
  constexpr std::size_t kEflags = 23;
  constexpr std::size_t kSegments = 24;
  constexpr std::size_t kMask = 38;  // signals that the interrupted code blocked
  std::uintptr_t words[kMask + 1] = {};
  if (!readMemory(at, words, sizeof words))
    return false;
  constexpr std::uintptr_t kUserCode = 0x33;
  constexpr std::uintptr_t kAlwaysSet = 2;
  const bool isWhole = words[kFlags] < 8 && words[kLink] == 0 &&
                       (words[kSegments] & 0xffff) == kUserCode &&
                       (words[kEflags] & kAlwaysSet) != 0;
  return isWhole && ((blockedSignals() & ~words[kMask]) != 0 || anyHandlerNests());
}

// Searches the mapped pages upwards.
bool frameIsOnStack(std::uintptr_t hidden) noexcept {
  std::uintptr_t words[kPiece / sizeof(std::uintptr_t)] = {};
  auto from = reinterpret_cast<std::uintptr_t>(&words + 1) & ~(sizeof(std::uintptr_t) - 1);
  for (std::size_t piece = 0; piece < kPieces; ++piece) {
    const std::size_t bytes = kPiece - from % kPiece;
    if (!readMemory(from, words, bytes))
      return piece == 0;  // not even this page could be read: a handler cannot be ruled out
    for (std::size_t at = 0; at < bytes / sizeof(std::uintptr_t); ++at) {
      if (~words[at] == hidden && isFrame(from + at * sizeof(std::uintptr_t)))
        return true;
    }
    from += bytes;
  }
  return false;
}
#endif

}  // namespace

bool maybeInSignalHandler() noexcept {
  stack_t alternate{};
  const bool isKnown = rawSyscall(SYS_sigaltstack, 0, asLong(&alternate)) == 0;
  if (!isKnown || (alternate.ss_flags & SS_ONSTACK) != 0)
    return true;
  const std::uintptr_t hidden = hiddenRestorer();
#if defined(__x86_64__)
  return hidden != 0 && frameIsOnStack(hidden);
#else
  return hidden != 0;
#endif
}

}  // namespace sonde::core
