#pragma once
// Device memory, and the work of kernels, copies and sets. No bytes move: device addresses are
// numbers that nobody may read; pinned and managed memory is real. Any thread.

#include "tests/cudasim/core/device.h"

#include <cuda.h>

struct CUmemPoolHandle_st {
  uint32_t device = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;  // whole blocks
  uint64_t used = 0;   // of these
};

namespace cudasim {

// `kind`: a CUpti_ActivityMemoryKind. With a stream, the memory comes from the device's pool.
CUresult allocate(
    CUcontext context, size_t bytes, uint8_t kind, CUstream stream, uint64_t* address);
CUresult release(uint64_t address, CUstream stream);

CUmemoryPool createPool(uint32_t device);
CUmemoryPool defaultPool(uint32_t device);  // exists without being created
CUresult destroyPool(CUmemoryPool pool);
CUresult trimPool(CUmemoryPool pool, size_t keep);

// The kind of copy follows from the two addresses; between devices it is a peer copy.
Work copyWork(CUcontext context, uint64_t to, uint64_t from, size_t bytes);
Work peerCopyWork(CUcontext to, CUcontext from, size_t bytes);
Work setWork(uint64_t address, uint32_t value, size_t bytes);
Work kernelWork(CUfunction function, Extent grid, Extent block, uint32_t sharedMemory);

}  // namespace cudasim
