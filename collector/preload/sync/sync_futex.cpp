// Futexes, as C++20's std::atomic::wait, std::future and others use them through syscall(2). Those
// that a library calls the kernel for by itself (libc, libgomp) are not seen.

#include "collector/core/hooks.h"
#include "collector/preload/sync/waiting.h"

#include <linux/futex.h>
#include <sys/syscall.h>

namespace sonde::preload::sync {
namespace {

// Declared with its seven words: <unistd.h> says "...", which has them in the same places.
using SystemCall = long (*)(long, long, long, long, long, long, long);

constinit core::Real<SystemCall> gSyscall{"syscall"};

__attribute__((constructor(102))) void resolve() {
  gSyscall();
}

// futex(2)'s words.
struct FutexCall {
  long address;
  long operation;
  long value;
  long timeout;
  long other;
  long value3;
};

constexpr long kOptions = FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME;

long forward(const FutexCall& call) noexcept {
  return gSyscall()(
      SYS_futex, call.address, call.operation, call.value, call.timeout, call.other, call.value3);
}

// Whether it is somebody's private matter it seldom says: libstdc++ does not for std::future.
long waitAt(const FutexCall& call) noexcept {
  const Wait wait = beginWait(static_cast<std::uint64_t>(call.address));
  const long result = forward(call);
  // Where the value is another one already it is refused.
  endWait(wait, {"futex", wire::SyncObject::Futex, Rule::Any}, outcomeOf(result == 0 ? 0 : errno));
  return result;
}

// The kernel says how many it has woken.
long wakeAt(const FutexCall& call) noexcept {
  constexpr long kAll = 0x7fff'ffff;
  return posting(
      static_cast<std::uint64_t>(call.address),
      call.value >= kAll,
      [&] { return forward(call); },
      [](long result) { return result > 0; });
}

long futex(const FutexCall& call) noexcept {
  switch (call.operation & ~kOptions) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      return waitAt(call);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_WAKE_OP:
      return wakeAt(call);
    default:
      return forward(call);
  }
}

}  // namespace
}  // namespace sonde::preload::sync

using namespace sonde::preload::sync;

// All but futexes go on by a jump: some return twice, or on another stack.
SONDE_EXPORT long sondeSyscall(long number, long a, long b, long c, long d, long e, long f) noexcept
    __asm__("syscall");

long sondeSyscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  if (number != SYS_futex || !isOn())
    return gSyscall()(number, a, b, c, d, e, f);
  return futex({a, b, c, d, e, f});
}
