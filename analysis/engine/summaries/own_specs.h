// The summary tables that Nsight Systems lacks. Within engine/summaries.
#pragma once

#include "analysis/engine/summaries/spec_parts.h"

#include <vector>

namespace sonde::engine::metrics {

std::vector<SummarySpec> ownSpecs(const Limits& limits);

}  // namespace sonde::engine::metrics
