// Making and opening trace files. Free functions; any thread, each Database by one.
//
// Errors are one line that says what is wrong with which file and what to do; a verb puts its name
// before it and exits with 3 when a trace could not be opened.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <filesystem>

namespace sonde::store {

// How a trace is written. With a log what is committed survives the writer's death, and readers may
// look at it meanwhile. Without one every page is written once: for what is worth nothing before it
// is complete, and is made anew when its writer dies.
enum class WriteMode { Log, NoLog };

// A new trace at `path` (by convention "….part" until it is finished), ready for a TraceWriter:
// schema and views are there. InvalidArgument when something is there already, but for an empty
// file, as TracePart makes it.
Result<Database> createTrace(const std::filesystem::path& path, WriteMode mode = WriteMode::Log);

// An unfinished trace, to go on writing. A file whose creation was cut short before it had a schema
// is begun anew.
Result<Database> reopenTrace(const std::filesystem::path& path);

// A trace to read, finished or not, also while it is recorded. NotFound: no such file. Corrupt: no
// regular file, empty, no SQLite database, no trace, shorter than it should be, without a table, or
// finished and with events at what is no time. Unsupported: of a newer schema. Io: the system
// refused.
Result<Database> openTrace(const std::filesystem::path& path);

// Whether the finaliser has completed this trace. An unfinished one has no level-of-detail tables
// or indexes.
Result<bool> isFinished(const Database& trace);

}  // namespace sonde::store
