// The iterations of a trace, with those of which not all was recorded. The database's thread.
// Within engine/breakdown.
#pragma once

#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/engine/breakdown/process_events.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <optional>

namespace sonde::engine::breakdown {

// Adds them to the processes of `events`. Processes without iterations inherit those that are
// masked of the process that started them.
Result<void> readIterations(const store::Database& trace, TraceEvents& events);

// Of iterations that count.
std::optional<RepeatedNumbers> repeatedNumbers(const TraceEvents& events);

}  // namespace sonde::engine::breakdown
