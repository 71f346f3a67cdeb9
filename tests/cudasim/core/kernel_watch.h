#pragma once
// Adds up the counters of the kernels that run on a device, whatever context, stream or thread
// launched them. Owned by the profiler of the device; one thread at a time.

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

  // Returns the sum over the kernels that began before `ns` (of nowNs()), since the previous call.
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

// Requires: the world's lock. Accepts any activity; ignores all but kernels.
void tellWatches(const Activity& activity);

// Whether there was ever a watch in this process: the truth then has the kernels' counters.
bool everWatched();

}  // namespace cudasim
