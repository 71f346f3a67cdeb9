// Reads the iterations of a trace and marks those that were recorded in part. The database's
// thread. Within engine/breakdown.
#pragma once

#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/engine/breakdown/process_events.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <optional>

namespace sonde::engine::breakdown {

// Adds the iterations to the processes of `events`. A process without iterations inherits the
// masked ones of the process that started it.
Result<void> readIterations(const store::Database& trace, TraceEvents& events);

// Looks at iterations that are not masked. Unset: no number repeats.
std::optional<RepeatedNumbers> repeatedNumbers(const TraceEvents& events);

}  // namespace sonde::engine::breakdown
