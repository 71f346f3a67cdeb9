// Fills `line` and `lod` from the events of a trace. Within analysis/finalise; the thread of the
// database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::store {

// Replaces the contents of the two tables. Requires: a transaction and the index slice_by_line.
Result<void> buildLodTables(Database& trace);

}  // namespace sonde::store
