// Waits of streams for events whose records the trace does not have, as in files of torch.profiler
// without synchronisation records. They are apart from readWaits(), which reports what was
// recorded. Uses the database's thread.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/waits/waits.h"
#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::waits {

// Adds a wait to `into` for work that begins right after another stream's work ended, if the thread
// that launched it had called a function like cudaStreamWaitEvent since it launched the work
// before. Only in processes without records of such waits. `lanes` as of readLanes(), `clock` as of
// readWaits().
Result<void> addUnrecordedEvents(const store::Database& trace,
                                 Lanes& lanes,
                                 const align::JobClock& clock,
                                 Waits& into);

}  // namespace sonde::engine::waits
