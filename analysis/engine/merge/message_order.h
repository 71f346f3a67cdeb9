// The order of the messages that have the same ends and the same tag. The thread of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::merge {

// Settles transfer.offset and transfer.exact of MPI's messages, where a process alone could not.
//
// MPI gives the messages of one sender and tag to receives in the order in which these were posted.
// A receive that was posted for any source is numbered only once its message has come, perhaps
// after ones that were posted later; so among receives that were open together the numbers go by
// the time of posting. Where records were lost these numbers may be wrong. And where several
// threads had such receives under way together, nobody can tell which was first: they are not
// exact.
//
// Requires: a transaction, and the rows of whole processes.
Result<void> orderMessages(store::Database& trace);

}  // namespace sonde::engine::merge
