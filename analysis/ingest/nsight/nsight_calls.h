// The calls of an Nsight Systems export (CUDA's API, the operating system's runtime, the profiler's
// own overhead) as slices. Free functions; the thread of the context.
#pragma once

#include "analysis/ingest/nsight/nsight_context.h"
#include "base/result.h"

namespace sonde::ingest {

Result<void> importNsightCalls(NsightContext& context);

}  // namespace sonde::ingest
