// The hardware metrics for --counters. Plain functions; any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace sonde::recorder {

// `wanted`: a comma-separated list of sets (utilization, roofline) and of CUPTI's metric names.
// Returns the metrics, each once, separated by commas, with a question mark before optional ones.
// Fails for a word that is neither, and for more metrics than a process can measure.
Result<std::string> counterMetrics(std::string_view wanted);

}  // namespace sonde::recorder
