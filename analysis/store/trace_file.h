// Creates and opens trace files. Free functions; any thread, each Database by one.
//
// Errors are one line with the problem, the file and the remedy. A verb puts its name in front, and
// exits with 3 if a trace could not be opened.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <filesystem>

namespace sonde::store {

// How a trace is written. With a log, committed rows survive the writer's death, and readers may
// read meanwhile. Without a log, every page is written once; for traces that are worthless until
// complete and are created again if the writer dies.
enum class WriteMode { Log, NoLog };

// Creates a trace at `path` (by convention "….part" until finished), with schema and views, ready
// for a TraceWriter. InvalidArgument: the path exists, unless it is an empty file as from
// TracePart.
Result<Database> createTrace(const std::filesystem::path& path, WriteMode mode = WriteMode::Log);

// Opens an unfinished trace to continue writing. If its creation was cut short before the schema,
// starts anew.
Result<Database> reopenTrace(const std::filesystem::path& path);

// Opens a trace for reading, finished or not, also while it is recorded. NotFound: no such file.
// Corrupt: not a regular file, empty, not an SQLite database, not a trace, too short, lacks a
// table, or is finished and has events at invalid times. Unsupported: has a newer schema. Io: the
// system refused.
Result<Database> openTrace(const std::filesystem::path& path);

// Whether the finaliser has completed this trace. An unfinished one has no level-of-detail tables
// or indexes.
Result<bool> isFinished(const Database& trace);

}  // namespace sonde::store
