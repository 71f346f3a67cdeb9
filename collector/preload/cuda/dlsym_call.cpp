// dlsym(): a tool that looks up CUPTI's functions itself (Triton's profiler) gets wrappers that
// hand CUPTI over to it. All other calls continue with a jump, because the caller's library decides
// what RTLD_NEXT means.
#include "collector/core/platform/hooks.h"
#include "collector/core/platform/symbols.h"
#include "collector/preload/cuda/cupti_clients.h"
#include "collector/preload/loading/loaded_objects.h"

#include <dlfcn.h>

#include <cstring>

namespace sonde::preload {
namespace {

// Looks in a library that the caller has opened.
void* lookUpCupti(void* handle, const char* name) noexcept {
  void* const found = core::nextDlsym()(handle, name);
  return found == nullptr ? nullptr : cuda::inFrontOf(name, found);
}

// Without a CUPTI, the lookup would find this library's own symbols.
void* lookUpNothing(void*, const char* name) noexcept {
  return core::nextSymbol(name, nullptr);
}

}  // namespace
}  // namespace sonde::preload

// Returns the address to jump to. `caller`: an address in the calling code.
extern "C" __attribute__((used)) void* sondeChooseDlsym(void* handle,
                                                        const char* name,
                                                        void* caller) noexcept {
  using namespace sonde;
  const bool isCupti =
      name != nullptr && std::strncmp(name, "cupti", 5) == 0 && preload::cuda::handsOver(name);
  if (isCupti && handle != RTLD_DEFAULT && handle != RTLD_NEXT)
    return reinterpret_cast<void*>(&preload::lookUpCupti);
  // This library comes directly after the program.
  const bool findsOurs =
      handle == RTLD_DEFAULT || (handle == RTLD_NEXT && preload::isOfProgram(caller));
  if (isCupti && findsOurs && !preload::cuda::isBehind(name))
    return reinterpret_cast<void*>(&preload::lookUpNothing);
  return reinterpret_cast<void*>(core::nextDlsym());
}

#if defined(__x86_64__)
asm(".pushsection .text\n"
    ".globl dlsym\n"
    ".type dlsym, @function\n"
    "dlsym:\n"
    "  .cfi_startproc\n"
    "  endbr64\n"
    "  pushq %rdi\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  pushq %rsi\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  subq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  movq 24(%rsp), %rdx\n"
    "  call sondeChooseDlsym\n"
    "  addq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rsi\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rdi\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  jmp *%rax\n"
    "  .cfi_endproc\n"
    ".size dlsym, . - dlsym\n"
    ".popsection\n");
#elif defined(__aarch64__)
asm(".pushsection .text\n"
    ".globl dlsym\n"
    ".type dlsym, @function\n"
    "dlsym:\n"
    "  .cfi_startproc\n"
    "  hint #34\n"  // bti c
    "  stp x29, x30, [sp, #-32]!\n"
    "  .cfi_adjust_cfa_offset 32\n"
    "  .cfi_rel_offset x29, 0\n"
    "  .cfi_rel_offset x30, 8\n"
    "  stp x0, x1, [sp, #16]\n"
    "  mov x2, x30\n"
    "  bl sondeChooseDlsym\n"
    "  mov x16, x0\n"
    "  ldp x0, x1, [sp, #16]\n"
    "  ldp x29, x30, [sp], #32\n"
    "  .cfi_restore x29\n"
    "  .cfi_restore x30\n"
    "  .cfi_adjust_cfa_offset -32\n"
    "  br x16\n"
    "  .cfi_endproc\n"
    ".size dlsym, . - dlsym\n"
    ".popsection\n");
#endif
