// Imports samples of threads' call stacks (COMPOSITE_EVENTS, SAMPLING_CALLCHAINS) into
// `stack_sample`, `stack` and `frame`.
#pragma once

#include "analysis/ingest/nsight/nsight_context.h"
#include "base/result.h"

#include <filesystem>

namespace sonde::ingest {

// Sorts data that does not fit into memory in files in `scratch`.
Result<void> importNsightSamples(NsightContext& context, const std::filesystem::path& scratch);

}  // namespace sonde::ingest
