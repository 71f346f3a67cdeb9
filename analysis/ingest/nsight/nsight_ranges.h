// Imports the NVTX events of an Nsight Systems export as the NVTX probe stores them: ranges and
// marks with domain, category and payload. A function; the thread of the context.
#pragma once

#include "analysis/ingest/nsight/nsight_context.h"
#include "base/result.h"

namespace sonde::ingest {

Result<void> importNsightRanges(NsightContext& context);

}  // namespace sonde::ingest
