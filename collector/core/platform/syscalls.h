// System calls without libc: no errno, no cancellation point, and no way through a wrapper of our
// own. Each returns the kernel's value, -errno on failure.
#pragma once

#include <sys/syscall.h>

namespace sonde::core {

// NOLINTNEXTLINE(readability-function-size): a system call has seven words
inline long rawSyscall(
    long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept {
#if defined(__x86_64__)
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory", "cc");
  return x0;
#else
#error "collector/core knows the system call convention of x86-64 and AArch64 only"
#endif
}

inline long asLong(const void* pointer) noexcept {
  return reinterpret_cast<long>(pointer);
}

}  // namespace sonde::core
