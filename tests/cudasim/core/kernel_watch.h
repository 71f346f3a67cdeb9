#pragma once
// Adds up the counters of the kernels that run on a device, whichever context, stream or thread
// launched them. Owned by whoever profiles the device; one thread at a time.

#include "tests/cudasim/core/counters.h"

#include <cstdint>
#include <vector>

struct CUstream_st;

namespace cudasim {

class KernelWatch {
 public:
  explicit KernelWatch(uint32_t device);
  ~KernelWatch();
  KernelWatch(const KernelWatch&) = delete;
  KernelWatch& operator=(const KernelWatch&) = delete;

  // The sum over the kernels that have begun before `ns`, of nowNs(), since the last such call.
  // Requires: `ns` has passed.
  Counters takeUntil(uint64_t ns);

  // Requires: the world's lock, and that the kernel has its times, in ns.
  void add(const Activity& kernel);

 private:
  void addUnfinished(const CUstream_st& stream);

  struct Kernel {
    uint64_t startNs = 0;
    Counters counters;
  };

  uint32_t device_;
  std::vector<Kernel> kernels_;
};

// Requires: the world's lock. Any activity; what is no kernel is ignored.
void tellWatches(const Activity& activity);

// Whether there has been a watch in this process: then the truth has the kernels' counters.
bool everWatched();

}  // namespace cudasim
