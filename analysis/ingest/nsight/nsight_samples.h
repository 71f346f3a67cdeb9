// Samples of threads' call stacks (COMPOSITE_EVENTS, SAMPLING_CALLCHAINS) → `stack_sample`, `stack`
// and `frame`.
#pragma once

#include "analysis/ingest/nsight/nsight_context.h"
#include "base/result.h"

#include <filesystem>

namespace sonde::ingest {

// Sorts what does not fit into memory in `scratch`.
Result<void> importNsightSamples(NsightContext& context, const std::filesystem::path& scratch);

}  // namespace sonde::ingest
