// Notes calls of vfork() without wrapping it. vfork's child returns through its parent's stack
// frame, so nothing may be between the caller and libc's function; this jumps to it. Thanks to the
// note, all other threads need not check whether they are such a child (core::inVforkChild).

#include "collector/core/platform/hooks.h"
#include "collector/core/vfork.h"

#include <sys/types.h>

namespace sonde::preload {
namespace {

using VforkCall = pid_t (*)();

// A libc without vfork has fork, which may replace it.
constinit core::Real<VforkCall> gVfork{"vfork"};
constinit core::Real<VforkCall> gFork{"fork"};

__attribute__((constructor(102))) void resolve() {
  gVfork();
}

}  // namespace
}  // namespace sonde::preload

// Returns the address to jump to.
extern "C" __attribute__((used)) void* sondeNoteVfork() noexcept {
  using namespace sonde::preload;
  sonde::core::noteVfork();
  return reinterpret_cast<void*>(gVfork() != nullptr ? gVfork() : gFork());
}

#if defined(__x86_64__)
asm(".pushsection .text\n"
    ".globl vfork\n"
    ".type vfork, @function\n"
    "vfork:\n"
    "  .cfi_startproc\n"
    "  endbr64\n"
    "  subq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call sondeNoteVfork\n"
    "  addq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  jmp *%rax\n"
    "  .cfi_endproc\n"
    ".size vfork, . - vfork\n"
    ".popsection\n");
#elif defined(__aarch64__)
asm(".pushsection .text\n"
    ".globl vfork\n"
    ".type vfork, @function\n"
    "vfork:\n"
    "  .cfi_startproc\n"
    "  hint #34\n"  // bti c
    "  stp x29, x30, [sp, #-16]!\n"
    "  .cfi_adjust_cfa_offset 16\n"
    "  .cfi_rel_offset x29, 0\n"
    "  .cfi_rel_offset x30, 8\n"
    "  bl sondeNoteVfork\n"
    "  ldp x29, x30, [sp], #16\n"
    "  .cfi_restore x29\n"
    "  .cfi_restore x30\n"
    "  .cfi_adjust_cfa_offset -16\n"
    "  mov x16, x0\n"
    "  br x16\n"
    "  .cfi_endproc\n"
    ".size vfork, . - vfork\n"
    ".popsection\n");
#endif
