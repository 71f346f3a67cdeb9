// The MPI calls of an Nsight Systems export as slices and, where they are of one, collectives. A
// function; the thread of the context.
#pragma once

#include "analysis/ingest/nsight/nsight_context.h"
#include "base/result.h"

namespace sonde::ingest {

// Communicators stay unknown: a handle has a meaning in its own process only.
Result<void> importNsightMpi(NsightContext& context);

}  // namespace sonde::ingest
