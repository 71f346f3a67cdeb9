// NCCL's API as the program calls it: what libsonde_nccl.so tells through the table of
// nccl/nccl_hooks.h becomes calls, communicators and slices here. Each thread knows which call it
// is inside of, so that functions of NCCL that call others count once, and so that the profiler
// interface, which NCCL calls in between, finds the call that it tells of.
#pragma once

#include "collector/preload/nccl/nccl_pool.h"

namespace sonde::preload::nccl {

// The profiler interface tells that this thread calls a function of the API, perhaps for a CUDA
// graph to capture it. What it gives stands for the call in what the interface tells later.
Handle startApi(Handle communicator, bool graphCaptured) noexcept;

}  // namespace sonde::preload::nccl
