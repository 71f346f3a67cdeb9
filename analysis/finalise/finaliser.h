// Completes a recorded trace. Free functions; any thread.
#pragma once

#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"

#include <filesystem>

namespace sonde::store {

// Turns a recording into a finished trace: scopes are inherited across threads, indexes and the
// level-of-detail tables built, statistics gathered, `meta` completed, and the write-ahead log
// folded into the one file. Takes the only connection to it and closes it. Requires: no transaction
// is open.
//
// May be killed at any point and called again: the result is the same. On a finished trace it
// changes nothing. When a reader holds the file in its write-ahead mode, the trace is copied into a
// new file that takes its place.
Result<void> finalise(Database trace, const Progress& progress = {});

}  // namespace sonde::store
