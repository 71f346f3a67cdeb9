// The `process` probe's share of a process's end: the status that it left with. exit() and the
// return of main come by on_exit, which runs behind everything that the program has registered;
// _exit() by a wrapper, because nothing else runs then. Forked workers (Python's multiprocessing)
// leave so. What CUPTI holds is stored first: with exit() that is the CUDA probe's own business.

#include "collector/core/attach.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/cuda/cuda_capture.h"
#include "collector/preload/stack/stack_probe.h"

#include <stdlib.h>

namespace sonde::preload {
namespace {

using ExitCall = void (*)(int);

constinit core::Real<ExitCall> gExit{"_exit"};

void onExit(int status, void*) {
  noteCodeAtEnd();
  core::noteExit(status);
}

__attribute__((constructor(102))) void prepare() {
  gExit();
  on_exit(onExit, nullptr);
}

[[noreturn]] void leave(int status) {
  cuda::finish();
  noteCodeAtEnd();
  core::noteExit(status);
  if (gExit() != nullptr)
    gExit()(status);
  while (true)  // it does not return
    core::rawSyscall(SYS_exit_group, status);
}

}  // namespace
}  // namespace sonde::preload

SONDE_EXPORT __attribute__((noreturn)) void _exit(int status) {
  sonde::preload::leave(status);
}

SONDE_EXPORT __attribute__((noreturn)) void _Exit(int status) {
  sonde::preload::leave(status);
}
