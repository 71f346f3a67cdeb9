// Finds the kernel of each collective of a live recording: NCCL launches kernels inside the call,
// or inside the end of the call's group. The thread of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::ingest {

// Gives each NCCL collective its kernel and, if its end is unknown, the kernel's end. Several fused
// collectives share a kernel. If NCCL's profiler interface reported the collective, its kernel is
// the last one launched before the report. Else it is the only kernel of its function or of the
// group, provided that this is in one communicator, since NCCL reorders several. Otherwise it gets
// none. Existing assignments stay. Requires: a transaction and joinLaunches().
Result<void> joinCollectiveKernels(store::Database& trace);

}  // namespace sonde::ingest
