#include "collector/preload/nccl/nccl_stream.h"

#include "collector/core/platform/symbol_versions.h"

#include <dlfcn.h>
#include <errno.h>

#include <atomic>

namespace sonde::preload::nccl {
namespace {

using IsCapturing = int (*)(const void* stream, int* status);

// CU_STREAM_CAPTURE_STATUS_NONE and CUDA_SUCCESS are 0.
int noDriver(const void*, int* status) noexcept {
  *status = 0;
  return 0;
}

std::atomic<IsCapturing> gIsCapturing{nullptr};

// NCCL has loaded the driver once it has created a communicator, but its functions may be called
// earlier.
IsCapturing find() noexcept {
  const int error = errno;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  void* const found = driver == nullptr ? nullptr : dlsym(driver, "cuStreamIsCapturing");
  dlerror();
  errno = error;
  return found == nullptr ? noDriver : reinterpret_cast<IsCapturing>(found);
}

}  // namespace

bool isCaptured(const void* stream) noexcept {
  IsCapturing ask = gIsCapturing.load(std::memory_order_acquire);
  if (ask == nullptr) {
    ask = find();
    gIsCapturing.store(ask, std::memory_order_release);
  }
  int status = 0;
  return ask(stream, &status) == 0 && status != 0;
}

void findDriverAgain() noexcept {
  IsCapturing none = noDriver;
  gIsCapturing.compare_exchange_strong(none, nullptr, std::memory_order_acq_rel);
}

}  // namespace sonde::preload::nccl
