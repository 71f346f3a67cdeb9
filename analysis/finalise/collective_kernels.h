// Which kernel carried out which collective of a live recording: NCCL launches its kernels inside
// the call, or inside the end of the call's group. The thread of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::ingest {

// Collectives of NCCL get the kernel that was launched for them, and, when nothing else says when
// they ended, its end; several that NCCL fused share a kernel. It is the last that was launched
// when NCCL's profiler interface told of the collective; where that did not, the only one of its
// function, or of the group, if that is in one communicator: NCCL orders several in its own way.
// Otherwise there is none. What has a kernel keeps it. Requires: a transaction and joinLaunches().
Result<void> joinCollectiveKernels(store::Database& trace);

}  // namespace sonde::ingest
