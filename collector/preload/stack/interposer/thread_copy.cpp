#include "collector/preload/stack/interposer/thread_copy.h"

#include "collector/core/platform/hooks.h"
#include "collector/preload/stack/interposer/own_memory.h"

#include <pthread.h>
#include <string.h>
#include <ucontext.h>

namespace sonde::preload::stack {
namespace {

using AttributesCall = int (*)(pthread_t, pthread_attr_t*);
using StackCall = int (*)(const pthread_attr_t*, void**, std::size_t*);
using SizeCall = int (*)(const pthread_attr_t*, std::size_t*);
using AttributeCall = int (*)(pthread_attr_t*);

// Looked up at run time, because glibc has given them new versions.
constinit core::Real<AttributesCall> gAttributes{"pthread_getattr_np"};
constinit core::Real<StackCall> gStack{"pthread_attr_getstack"};
constinit core::Real<SizeCall> gStackSize{"pthread_attr_getstacksize"};
constinit core::Real<SizeCall> gGuardSize{"pthread_attr_getguardsize"};
constinit core::Real<AttributeCall> gInit{"pthread_attr_init"};
constinit core::Real<AttributeCall> gDestroy{"pthread_attr_destroy"};

__attribute__((constructor(102))) void resolve() {
  gAttributes();
  gStack();
  gStackSize();
  gGuardSize();
  gInit();
  gDestroy();
}

struct Bounds {
  std::uint64_t begin;
  std::uint64_t end;
};
constinit __thread Bounds tBounds __attribute__((tls_model("initial-exec"))) = {};

}  // namespace

void copyRegisters(const void* context, std::uint64_t* to) noexcept {
  const auto& from = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  constexpr int kOrder[] = {REG_RAX,
                            REG_RDX,
                            REG_RCX,
                            REG_RBX,
                            REG_RSI,
                            REG_RDI,
                            REG_RBP,
                            REG_RSP,
                            REG_R8,
                            REG_R9,
                            REG_R10,
                            REG_R11,
                            REG_R12,
                            REG_R13,
                            REG_R14,
                            REG_R15,
                            REG_RIP};
  for (const int number : kOrder)
    *to++ = static_cast<std::uint64_t>(from.gregs[number]);
#else
  memcpy(to, from.regs, sizeof from.regs);
  to[31] = from.sp;
  to[32] = from.pc;
#endif
}

// The values that the registers will have after the return.
#if defined(__x86_64__)
[[gnu::naked]] void copyOwnRegisters(const void*, std::uint64_t*) noexcept {
  __asm__(
      "movq %rbx, 24(%rsi)\n\t"
      "movq %rbp, 48(%rsi)\n\t"
      "leaq 8(%rsp), %rax\n\t"
      "movq %rax, 56(%rsi)\n\t"
      "movq %r12, 96(%rsi)\n\t"
      "movq %r13, 104(%rsi)\n\t"
      "movq %r14, 112(%rsi)\n\t"
      "movq %r15, 120(%rsi)\n\t"
      "movq (%rsp), %rax\n\t"
      "movq %rax, 128(%rsi)\n\t"
      "ret");
}
#else
[[gnu::noinline]] void copyOwnRegisters(const void*, std::uint64_t* to) noexcept {
  __asm__ volatile(
      "stp x19, x20, [%0, #152]\n\t"
      "stp x21, x22, [%0, #168]\n\t"
      "stp x23, x24, [%0, #184]\n\t"
      "stp x25, x26, [%0, #200]\n\t"
      "stp x27, x28, [%0, #216]\n\t"
      "stp x29, x30, [%0, #232]\n\t"
      "mov x9, sp\n\t"
      "stp x9, x30, [%0, #248]"
      :
      : "r"(to)
      : "x9", "memory");
}
#endif

void rememberStack() noexcept {
  pthread_attr_t attributes;
  if (gAttributes() == nullptr || gAttributes()(pthread_self(), &attributes) != 0)
    return;
  void* begin = nullptr;
  std::size_t bytes = 0;
  if (gStack()(&attributes, &begin, &bytes) == 0)
    tBounds = {reinterpret_cast<std::uint64_t>(begin),
               reinterpret_cast<std::uint64_t>(begin) + bytes};
  gDestroy()(&attributes);
}

std::size_t stackBytes(const pthread_attr_t* attributes) noexcept {
  pthread_attr_t defaults;
  if (attributes == nullptr && (gInit() == nullptr || gInit()(&defaults) != 0))
    return 0;
  const pthread_attr_t* const of = attributes == nullptr ? &defaults : attributes;
  std::size_t bytes = 0;
  std::size_t guard = 0;
  const bool isKnown = gStackSize() != nullptr && gGuardSize() != nullptr &&
                       gStackSize()(of, &bytes) == 0 && gGuardSize()(of, &guard) == 0;
  if (attributes == nullptr)
    gDestroy()(&defaults);
  constexpr std::size_t kDescriptorBytes = 65536;  // more than glibc keeps above the stack
  return isKnown && bytes > guard + kDescriptorBytes ? bytes - guard - kDescriptorBytes : 0;
}

// glibc keeps the thread's descriptor at the end of its stack.
void rememberStack(std::size_t bytes) noexcept {
  const auto end = static_cast<std::uint64_t>(pthread_self());
  tBounds = {end - bytes, end};
}

StackCopy copyStack(std::uint64_t stackPointer, char* to, std::size_t most) noexcept {
  StackCopy copy;
  copy.address = (stackPointer - wire::kRedZoneBytes) & ~std::uint64_t{7};
  const Bounds bounds = tBounds;
  if (copy.address >= bounds.begin && stackPointer < bounds.end) {
    const std::uint64_t left = bounds.end - copy.address;
    copy.truncated = left > most;
    copy.bytes = static_cast<std::uint32_t>(copy.truncated ? most : left);
    memcpy(to, reinterpret_cast<const void*>(copy.address), copy.bytes);
  } else {
    copy.bytes = static_cast<std::uint32_t>(OwnMemory().readSome(copy.address, to, most));
    copy.truncated = copy.bytes == most;
  }
  copy.bytes &= ~std::uint32_t{7};
  return copy;
}

}  // namespace sonde::preload::stack
