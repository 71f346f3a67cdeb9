// Waits for autograd and for collectives, which the trace shows only by what other threads do
// meanwhile. They are
// apart from readWaits(), which reports what was recorded. Uses the database's thread.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/waits/waits.h"
#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::waits {

// Adds three kinds of waits to `into`:
//  - A thread that called a backward pass waits while an autograd thread works for it and it
//  records
//    nothing itself. Operators that inherit its scope show the autograd thread's work; without
//    scopes, nodes of autograd by their names, and the thread is the driver of its process.
//  - DistributedDataParallel ends a backward pass when its collectives are done. So the thread
//  waits
//    from the begin of the last one that another thread of its process runs, unless its wait is
//    recorded.
//  - Outside of backward passes the thread that drives a process waits for a collective that
//  another
//    thread of it runs, if it begins and ends nothing meanwhile, and is in no operator or call.
// `lanes` as of readLanes(), `clock` as of readWaits().
Result<void> addBackwardWaits(const store::Database& trace,
                              Lanes& lanes,
                              const align::JobClock& clock,
                              Waits& into);

}  // namespace sonde::engine::waits
