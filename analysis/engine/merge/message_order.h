// Orders messages that have the same ends and the same tag. The thread of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::merge {

// Sets transfer.offset and transfer.exact of MPI messages that one process alone could not settle.
//
// MPI assigns the messages of one sender and tag to receives in the order in which the receives
// were posted. A receive for any source gets its number only when its message arrives, perhaps
// after receives that were posted later. So receives that were open at the same time are numbered
// by the time of posting. If records were lost these numbers may be wrong. If several threads had
// such receives open at the same time, the order is unknown: these messages are not exact.
//
// Requires: a transaction, and the rows of whole processes.
Result<void> orderMessages(store::Database& trace);

}  // namespace sonde::engine::merge
