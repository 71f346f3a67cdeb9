// NCCL's API as the program calls it. libsonde_nccl.so reports calls through the table of
// nccl/nccl_hooks.h; here they become calls, communicators and slices. Each thread keeps the call
// that it is in. Calls between NCCL's own functions thus count once. And the profiler interface,
// which NCCL calls in between, finds the call that it reports about.
#pragma once

#include "collector/preload/nccl/nccl_pool.h"

namespace sonde::preload::nccl {

// The profiler interface reports that this thread calls a function of the API, perhaps while a CUDA
// graph captures it. The result identifies the call in later reports of the interface.
Handle startApi(Handle communicator, bool graphCaptured) noexcept;

}  // namespace sonde::preload::nccl
