// Limits the events of a trace to a range of time. The database's thread. Within engine/breakdown.
#pragma once

#include "analysis/engine/breakdown/process_events.h"
#include "analysis/engine/intervals/intervals.h"
#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::breakdown {

// Sets ProcessEvents::within to `range`, which is job time, by the clock of each process's host.
Result<void> limitTo(const store::Database& trace, metrics::Interval range, TraceEvents& events);

}  // namespace sonde::engine::breakdown
