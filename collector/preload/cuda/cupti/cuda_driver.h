// The functions of the CUDA driver that measuring hardware counters needs.
#pragma once

namespace sonde::preload::cuda {

struct Driver {
  int (*currentContext)(void** context);
  int (*setContext)(void* context);
  int (*synchronize)();
  int (*contextDevice)(int* device);
  int (*isCapturing)(void* stream, int* status);
};
// False: the driver lacks one of them; `missing` is then its name.
bool bindDriver(Driver& driver, const char*& missing) noexcept;

}  // namespace sonde::preload::cuda
