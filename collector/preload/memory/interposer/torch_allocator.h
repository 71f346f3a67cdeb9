// PyTorch's CPU allocator, c10::alloc_cpu and c10::free_cpu. It allocates all tensors in host
// memory.
#pragma once

#include <cstddef>

namespace sonde::preload::memory {

// The size that c10::alloc_cpu is about to request from libc on the calling thread; 0: none. It is
// used once, so a value that an exception leaves behind does no harm.
extern __thread std::size_t tTorchAsks __attribute__((tls_model("initial-exec")));

// Whether c10::alloc_cpu requests this block, which is then recorded as PyTorch's.
inline bool isTorchsOwn(std::size_t bytes) noexcept {
  const bool own = tTorchAsks == bytes;
  if (own)
    tTorchAsks = 0;
  return own;
}

}  // namespace sonde::preload::memory
