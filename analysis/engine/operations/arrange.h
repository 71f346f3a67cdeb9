// Puts the rows of an operation-level trace in order after its operations have moved. A free
// function; the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::engine::operations {

// Operations contain nothing; those of a thread that overlap have lanes of their own. An iteration
// lasts from the first operation of its step and worker to the last end.
Result<void> arrangeOperations(store::Database& trace);

}  // namespace sonde::engine::operations
