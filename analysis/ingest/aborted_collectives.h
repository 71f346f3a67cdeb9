// Which collectives of a live recording were cut off when their communicator was aborted. The
// thread of the database.
#pragma once

#include "analysis/base/result.h"
#include "analysis/store/database.h"

namespace sonde::ingest {

// A collective that began before its communicator was aborted (its argument `aborted_ns`) and is
// not known to have ended by then gets the argument `aborted`, and no duration: what ended later
// was made to. Those of one communicator run one after the other, so what began before one that had
// ended has ended, too. Requires: a transaction and joinCollectiveKernels().
Result<void> markAbortedCollectives(store::Database& trace);

}  // namespace sonde::ingest
