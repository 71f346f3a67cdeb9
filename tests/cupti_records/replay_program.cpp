// Does what the CUDA driver does when it is initialised: calls the library that
// CUDA_INJECTION64_PATH names. Then it ends, when CUPTI (here replay.cpp) has delivered everything.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

int main() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  const auto initialize = library == nullptr
                              ? nullptr
                              : reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr) {
    std::fprintf(stderr, "cupti_replay_program: CUDA_INJECTION64_PATH names no such library\n");
    return 2;
  }
  return initialize() != 0 ? 0 : 1;
}
