#pragma once
// One event on the simulated devices or on the host, independent of the layout of CUPTI's record
// for it. Plain data, copied freely.

#include <cstdint>

namespace cudasim {

struct Extent {
  uint32_t x = 0, y = 0, z = 0;
};

struct Activity {
  uint32_t kind = 0;    // CUpti_ActivityKind; CONCURRENT_KERNEL for kernels
  bool traced = false;  // CUPTI must deliver a record of it
  bool forced = false;  // delivered before it was finished, without times
  uint8_t type = 0;  // copy kind; type of synchronisation, memory operation, overhead, counter or
                     // JIT operation
  uint8_t srcKind = 0;  // CUpti_ActivityMemoryKind
  uint8_t dstKind = 0;  // the same; for memory and sets, the kind of memory
  const char* name = nullptr;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t correlation = 0;
  uint64_t start = 0;  // ns of CLOCK_MONOTONIC until finished, then ticks of CUPTI's clock
  uint64_t end = 0;
  uint64_t ranNs = 0;  // for work on a device: its duration
  uint64_t bytes = 0;
  uint64_t address = 0;
  uint32_t value =
      0;  // of a set; of a stream its priority; of a device its compute capability × 10
  uint32_t srcDevice = 0, srcContext = 0, dstDevice = 0, dstContext = 0;
  Extent grid, block;
  uint32_t sharedMemory = 0;
  uint32_t graph = 0;
  uint64_t graphNode = 0;
  uint32_t event = 0;
  uint64_t eventSync = 0;
  uint32_t cbid = 0;
  uint32_t thread = 0;   // for an API call: gettid()
  uint64_t pthread = 0;  // for an API call: pthread_self()
  uint32_t result = 0;
  uint32_t externalKind = 0;
  uint64_t externalId = 0;
  uint64_t pool = 0;  // address of the memory pool
  uint64_t poolBytes = 0;
  uint64_t poolUsedBytes = 0;
  uint32_t flags = 0;  // for unified memory
};

}  // namespace cudasim
