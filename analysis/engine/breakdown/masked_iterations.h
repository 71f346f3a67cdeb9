// The iterations of a trace, with those of which not all was recorded. The database's thread.
// Within engine/breakdown.
#pragma once

#include "analysis/base/result.h"
#include "analysis/engine/breakdown/process_events.h"
#include "analysis/store/database.h"

namespace sonde::engine::breakdown {

// Adds them to the processes of `events`. Masked are those in which not all probes recorded that
// the run was asked for (`meta.sources`; where it does not say, that the process ever had), and the
// first ones with all probes again after these: hooks have just been put back, and caches are still
// those of before. Processes without iterations inherit those of the process that started them.
Result<void> readIterations(const store::Database& trace, TraceEvents& events);

}  // namespace sonde::engine::breakdown
