// Imports the MPI calls of an Nsight Systems export as slices, and collective ones also as
// collectives. A function; the thread of the context.
#pragma once

#include "analysis/ingest/nsight/nsight_context.h"
#include "base/result.h"

namespace sonde::ingest {

// Communicators stay unknown: a handle is meaningful only in its own process.
Result<void> importNsightMpi(NsightContext& context);

}  // namespace sonde::ingest
