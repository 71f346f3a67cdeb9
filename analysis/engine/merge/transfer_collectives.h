// Assigns transfers to collectives. The thread of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::merge {

// Sets transfer.collective_id. A transfer that a thread makes while it runs a collective belongs to
// that collective. A library may use its own thread, as Gloo does. So a transfer of another thread
// of the process belongs to a collective if three conditions hold: one of the process's collectives
// has used the channel as above, the collective is open during the whole transfer, and no other one
// is open at any instant of it. All other transfers keep NULL. Memory grows with the collectives
// and channels, not with the transfers. Requires: a transaction, and complete records of the
// processes (not a trimmed trace).
Result<void> assignCollectives(store::Database& trace);

}  // namespace sonde::engine::merge
