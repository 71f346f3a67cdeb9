// The `process` probe at a process's end: records the exit status. For exit() and the return of
// main it uses on_exit, which runs after all functions that the program has registered. For _exit()
// it uses a wrapper, because nothing else runs then; forked workers (Python's multiprocessing)
// leave that way. CUPTI's records are stored first; with exit() the CUDA probe does that itself.

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
