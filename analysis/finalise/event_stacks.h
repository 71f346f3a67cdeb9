// Assigns the stacks taken at events (`--stacks-at`) to these events' rows.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::store {

// Fills in `stack_id` of waits, collectives and file access, by thread and time; of CUDA calls, by
// thread and correlation; of allocations, by their time or the CUDA call that made them.
// Requires: a transaction.
Result<void> placeEventStacks(Database& trace);

}  // namespace sonde::store
