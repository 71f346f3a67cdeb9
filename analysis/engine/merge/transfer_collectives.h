// Which collective a transfer is part of. The thread of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::merge {

// Sets transfer.collective_id. A transfer that a thread makes while it runs a collective is that
// collective's. A library may leave work to a thread of its own, as Gloo does: so a transfer by
// another thread of the process, on a channel that one of its collectives has used in that way, is
// part of the collective that is open from its begin to its end, provided that no other one is open
// at any instant of it. Everything else keeps NULL.
// Memory grows with the collectives and channels, not with the transfers.
// Requires: a transaction, and all that was recorded of the processes (not a trace that was cut).
Result<void> assignCollectives(store::Database& trace);

}  // namespace sonde::engine::merge
