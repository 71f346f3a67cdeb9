// Finds the collectives of a live recording that were cut off when their communicator was aborted.
// The thread of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::ingest {

// A collective that began before its communicator was aborted (its argument `aborted_ns`) and had
// not ended then gets the argument `aborted`, and no duration: a later end was forced. It had not
// ended if one of these holds:
// - Its call had not returned.
// - Its work never ended (argument `unfinished`).
// - Some ends are known for the communicator, but before the abort neither its own end nor a later
//   collective's: those of one communicator run one after the other.
//
// Requires: a transaction and joinCollectiveKernels().
Result<void> markAbortedCollectives(store::Database& trace);

}  // namespace sonde::ingest
