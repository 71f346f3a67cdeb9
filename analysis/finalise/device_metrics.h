// Assigns hardware counters to scopes: what a device counted in a stretch of a thread's time
// belongs to the innermost scope there. Runs when all slices are there. The thread of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::ingest {

// Gives each metric without a scope the innermost scope of its thread that is open when its stretch
// begins. Requires: a transaction.
Result<void> placeDeviceMetrics(store::Database& trace);

}  // namespace sonde::ingest
