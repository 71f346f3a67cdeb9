// dlsym(): a tool that looks CUPTI's functions up by hand (Triton's profiler) gets those that hand
// CUPTI over to it. All else goes to libc's own by a jump, because which library called decides
// what RTLD_NEXT means.
#include "collector/core/symbols.h"
#include "collector/preload/probes/cupti_clients.h"

#include <cstring>

namespace sonde::preload {
namespace {

void* lookUpCupti(void* handle, const char* name) noexcept {
  void* const found = core::realDlsym(handle, name);
  return found == nullptr ? nullptr : cuda::inFrontOf(name, found);
}

}  // namespace
}  // namespace sonde::preload

// Returns where to jump.
extern "C" __attribute__((used)) void* sondeChooseDlsym(void*, const char* name) noexcept {
  using namespace sonde;
  const bool isCupti = name != nullptr && std::strncmp(name, "cupti", 5) == 0;
  return isCupti ? reinterpret_cast<void*>(&preload::lookUpCupti) : core::addressOfDlsym();
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
