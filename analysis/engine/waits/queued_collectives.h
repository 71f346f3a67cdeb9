// Collectives of gradients that waited in a queue, as in PyTorch's Gloo, whose two threads take
// buckets one after the other. Such a call begins when its thread is free, which says nothing of
// when its gradients were ready. Uses the database's thread.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/waits/waits.h"
#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::waits {

// A reduction that begins right after another collective of its thread, in a backward pass of
// another thread, was queued. Adds its wait for that thread, to the time at which its gradients
// were ready: gradients are ready in proportion to their bytes, between the begin of the pass, the
// begins of reductions that were not queued, and the wait that ends the pass, if that was recorded.
// Waits that addBackwardWaits() found begin then, too. `lanes` as of readLanes(), `clock` as of
// readWaits(). Requires: called after addBackwardWaits().
Result<void> addQueuedCollectives(const store::Database& trace,
                                  Lanes& lanes,
                                  const align::JobClock& clock,
                                  Waits& into);

}  // namespace sonde::engine::waits
