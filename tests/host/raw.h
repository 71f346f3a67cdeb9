// System calls that no library can intercept: the fuzzer's own calls, which are not compared. Does
// not even use syscall(2), which Sonde also wraps.
#pragma once

#include <sys/syscall.h>

namespace host {

template <typename T>
long word(T value) noexcept {
  return (long)value;
}

#if defined(__x86_64__)
inline long rawCall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  long result = 0;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
inline long rawCall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc #0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
}
#endif

// Returns the result, or the negative error number. Keeps errno.
template <typename A = long,
          typename B = long,
          typename C = long,
          typename D = long,
          typename E = long,
          typename F = long>
long raw(long number, A a = 0, B b = 0, C c = 0, D d = 0, E e = 0, F f = 0) noexcept {
  return rawCall(number, word(a), word(b), word(c), word(d), word(e), word(f));
}

}  // namespace host
