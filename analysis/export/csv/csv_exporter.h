// Writes each table of a trace to a CSV file (RFC 4180, with a header line). Uses the table's view
// if it has one, with names resolved and times on the job's common clock (docs/schema.md).
#pragma once

#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::exports {

// Makes `folder` with one file for each table that has rows. In an existing folder, removes files
// of tables without rows and keeps all others. After an error: see OutputFolder.
Result<void> exportCsv(const store::Database& trace,
                       const std::filesystem::path& folder,
                       bool replace,
                       const Progress& progress = {});

// The files, then the folder, that exportCsv() will make and that must not remain after a signal.
// Empty if the folder exists and belongs to somebody else.
Result<std::vector<std::string>> unfinishedCsv(const store::Database& trace,
                                               const std::filesystem::path& folder);

}  // namespace sonde::exports
