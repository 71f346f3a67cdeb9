// Ends in the midst of CUDA calls. Usage: cuda_in_handler exits|execs: by _exit in a signal's
// handler while the main thread launches, or, after 100 kernels, by becoming another program.
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

namespace {

void onAlarm(int) {
  _exit(7);
}

void launch() {
  cudaLaunchKernel(cudasimKernel("k", 100), dim3{1, 1, 1}, dim3{1, 1, 1}, nullptr, 0, nullptr);
}

}  // namespace

int main(int, char** arguments) {
  if (std::strcmp(arguments[1], "execs") == 0) {
    for (int count = 0; count < 100; ++count)
      launch();
    execlp("true", "true", nullptr);
    return 1;
  }
  launch();
  signal(SIGALRM, onAlarm);
  ualarm(20000, 0);
  for (;;)
    launch();
}
