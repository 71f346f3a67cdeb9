// Fills `line` and `lod` from the events of a trace. Within analysis/store; the thread of the
// database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::store {

// Replaces whatever the two tables hold. Requires: a transaction and the index slice_by_line.
Result<void> buildLodTables(Database& trace);

}  // namespace sonde::store
