// Which collectives of a live recording were cut off when their communicator was aborted. The
// thread of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::ingest {

// A collective that began before its communicator was aborted (its argument `aborted_ns`) and had
// not ended by then gets the argument `aborted`, and no duration: what ended later was made to. Its
// call had not returned, or work of it never ended (argument `unfinished`), or ends are known of
// the communicator, but not one of it by then, nor of a later one: those of one communicator run
// one after the other. Requires: a transaction and joinCollectiveKernels().
Result<void> markAbortedCollectives(store::Database& trace);

}  // namespace sonde::ingest
