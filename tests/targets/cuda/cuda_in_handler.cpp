// Ends in the middle of CUDA calls, after 100 kernels. Usage: cuda_in_handler HOW
//
//   exits   by _exit in a signal's handler, while the main thread goes on launching
//   execs   by becoming another program
//   resets  after a reset of the device in a signal's handler
//   left    after a reset of the device where the stack still has what a handler left there
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

namespace {

void onAlarm(int) {
  _exit(7);
}

void launch() {
  cudaLaunchKernel(cudasimKernel("k", 100), dim3{1, 1, 1}, dim3{1, 1, 1}, nullptr, 0, nullptr);
}

void onUser(int) {}

void onUserReset(int) {
  cudaDeviceReset();
}

void raiseWith(void (*handler)(int)) {
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
}

// Further down in the stack than the start of a reset, in the part that the reset uses.
[[gnu::noinline]] void raiseBelow() {
  volatile char room[8192];
  room[0] = 0;
  raiseWith(onUser);
  room[1] = room[0];
}

[[gnu::noinline]] void resetAbove() {
  char room[32768];
  asm volatile("" ::"r"(room) : "memory");
  cudaDeviceReset();
  asm volatile("" ::"r"(room) : "memory");
}

}  // namespace

int main(int, char** arguments) {
  const std::string_view how = arguments[1];
  for (int count = 0; count < 100; ++count)
    launch();
  if (how == "execs") {
    execlp("true", "true", nullptr);
    return 1;
  }
  cudaDeviceSynchronize();
  if (how == "resets") {
    raiseWith(onUserReset);
    return 0;
  }
  if (how == "left") {
    raiseBelow();
    resetAbove();
    return 0;
  }
  signal(SIGALRM, onAlarm);
  ualarm(20000, 0);
  for (;;)
    launch();
}
