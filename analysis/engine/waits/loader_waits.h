// Waits for the processes that load data. The trace shows only what these send meanwhile. They are
// apart from readWaits(), which reports what was recorded. Uses the database's thread.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/waits/waits.h"
#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::waits {

// Adds waits to `into`, in which threads poll for bytes before they receive them:
//  - A thread inside a `data_load` slice waits for the bytes that another process sends to it.
//  - A process that loads data waits for the next order of its parent once it has sent a batch for
//    each order before. The thread that sends a batch waits for the thread that took the order.
//  - A thread of such a process that greets a client waited for its connection.
// `lanes` as of readLanes(), `clock` as of readWaits().
Result<void> addLoaderWaits(const store::Database& trace,
                            Lanes& lanes,
                            const align::JobClock& clock,
                            Waits& into);

}  // namespace sonde::engine::waits
