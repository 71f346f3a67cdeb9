// PyTorch's allocator for the processor, c10::alloc_cpu and c10::free_cpu, through which all its
// tensors in the host's own memory go.
#pragma once

#include <cstddef>

namespace sonde::preload::memory {

// What c10::alloc_cpu is about to ask libc for on the calling thread; 0: it is not at that. Asked
// for once, so that one that an exception has left does no harm.
extern __thread std::size_t tTorchAsks __attribute__((tls_model("initial-exec")));

// Whether this block is the one that c10::alloc_cpu asks for, and is recorded as that.
inline bool isTorchsOwn(std::size_t bytes) noexcept {
  const bool own = tTorchAsks == bytes;
  if (own)
    tTorchAsks = 0;
  return own;
}

}  // namespace sonde::preload::memory
