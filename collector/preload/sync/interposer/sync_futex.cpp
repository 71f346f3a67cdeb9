// Futexes that C++20's std::atomic::wait, std::future and others use through syscall(2). Libraries
// that call the kernel directly (libc, libgomp) are not seen.

#include "collector/core/platform/hooks.h"
#include "collector/preload/sync/interposer/waiting.h"

#include <linux/futex.h>
#include <sys/syscall.h>

namespace sonde::preload::sync {
namespace {

// Declared with its seven words: <unistd.h> declares "...", which passes them in the same places.
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

long forward(long number, const FutexCall& call) noexcept {
  return gSyscall()(
      number, call.address, call.operation, call.value, call.timeout, call.other, call.value3);
}

long forward(const FutexCall& call) noexcept {
  return forward(SYS_futex, call);
}

// Few callers mark the futex as private; libstdc++ does not for std::future.
long waitAt(const FutexCall& call) noexcept {
  const Wait wait = beginWait({"futex", wire::SyncObject::Futex, Rule::Any},
                              {static_cast<std::uint64_t>(call.address)});
  const long result = forward(call);
  // The kernel refuses to wait if the value has already changed.
  endWait(wait, outcomeOf(result == 0 ? 0 : errno));
  return result;
}

// The kernel returns the number of waiters that it has woken or moved.
long wakeAt(const FutexCall& call, PostTraits traits = 0) noexcept {
  constexpr long kAll = 0x7fff'ffff;
  return posting(
      static_cast<std::uint64_t>(call.address),
      [&] {
        return PostKind{traits | (call.value >= kAll ? kWakesAll : 0), kNoTurn};
      },
      [&] { return forward(call); },
      [](long result) { return result > 0; });
}

// Wakes at both addresses and returns the total.
long wakeAtBoth(const FutexCall& call) noexcept {
  return posting(
      static_cast<std::uint64_t>(call.other),
      [] {
        return PostKind{kMayMove, kNoTurn};
      },
      [&] { return wakeAt(call, kMayMove); },
      [](long result) { return result > 0; });
}

long futex(const FutexCall& call) noexcept {
  switch (call.operation & ~kOptions) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      return waitAt(call);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
      return wakeAt(call);
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
      return wakeAt(call, kMayMove);
    case FUTEX_WAKE_OP:
      return wakeAtBoth(call);
    default:
      return forward(call);
  }
}

}  // namespace
}  // namespace sonde::preload::sync

using namespace sonde::preload::sync;

// All other system calls continue with a jump, because some return twice, or on another stack. If
// the seventh word is passed on the stack, the jump is in assembly. Most callers pass no seventh
// word; the stack there is then their own data and must not be written.
#if defined(__x86_64__)
#define SONDE_SYSCALL_NAME "sonde_futex_call"
#define SONDE_SYSCALL_VISIBILITY "hidden"
extern "C" __attribute__((visibility("hidden"), used)) void* sondeRealSyscall() noexcept {
  return reinterpret_cast<void*>(gSyscall());
}

__asm__(R"(
  .text
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  cmpl $202, %edi
  je sonde_futex_call
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  pushq %rcx
  .cfi_adjust_cfa_offset 8
  pushq %r8
  .cfi_adjust_cfa_offset 8
  pushq %r9
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call sondeRealSyscall
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %r9
  .cfi_adjust_cfa_offset -8
  popq %r8
  .cfi_adjust_cfa_offset -8
  popq %rcx
  .cfi_adjust_cfa_offset -8
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmpq *%rax
  .cfi_endproc
  .size syscall, .-syscall
)");
static_assert(SYS_futex == 202);
#else
#define SONDE_SYSCALL_NAME "syscall"
#define SONDE_SYSCALL_VISIBILITY "default"
#endif

extern "C" __attribute__((visibility(SONDE_SYSCALL_VISIBILITY), used)) long sondeSyscall(
    long number, long a, long b, long c, long d, long e, long f) noexcept
    __asm__(SONDE_SYSCALL_NAME);

long sondeSyscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  const FutexCall call = {a, b, c, d, e, f};
  const long result = number == SYS_futex && isOn() ? futex(call) : forward(number, call);
  __asm__ volatile("");  // prevents a jump from here, which would write the seventh word back
  return result;
}
