// Completes a recorded trace. Free functions; any thread.
#pragma once

#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"

#include <filesystem>

namespace sonde::store {

// Turns a recording into a finished trace: inherits scopes across threads, builds indexes and
// level-of-detail tables, gathers statistics, completes `meta`, and folds the write-ahead log into
// the file. Takes the only connection to it and closes it. Requires: no open transaction.
//
// May be killed at any point and called again with the same result. Does not change a finished
// trace. If a reader keeps the file in write-ahead mode, copies the trace into a new file that
// replaces it.
Result<void> finalise(Database trace, const Progress& progress = {});

// Sets meta.origin_ns of a finished trace, after `clock_map` was changed.
Result<void> setOrigin(Database& trace);

}  // namespace sonde::store
