// What ties a live recording's device work to the host: where the calls of CUDA stand among the
// slices of their threads, and which call launched what. A tracing library tells of both late, so
// it is found when all are there. The thread of the database.
#pragma once

#include "analysis/base/result.h"
#include "analysis/store/database.h"

namespace sonde::ingest {

// Puts each call that has no place yet under the innermost slice of its thread that holds it, and
// gives it the scope that is open when it begins. What lies in a call goes under it. Requires: a
// transaction.
Result<void> placeDeviceCalls(store::Database& trace);

// Kernels and copies get the call of their process and correlation as launch, and its scope; the
// record of an event the time of its call, and a wait for an event the record before it. What has
// them keeps them. Requires: a transaction and placeDeviceCalls().
Result<void> joinLaunches(store::Database& trace);

}  // namespace sonde::ingest
