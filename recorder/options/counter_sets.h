// The hardware metrics that --counters names. Plain functions; any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace sonde::recorder {

// `wanted` is a list, with commas, of sets (utilization, roofline) and of metrics as CUPTI names
// them. Gives the metrics, each once, with commas between them, and with a question mark before
// those that need not be there. Fails for what is neither and for more than a process measures.
Result<std::string> counterMetrics(std::string_view wanted);

}  // namespace sonde::recorder
