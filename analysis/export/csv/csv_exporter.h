// Each table of a trace as a CSV file (RFC 4180, with a header line): the view of it where there is
// one, with names resolved and times on the job's common clock (docs/schema.md).
#pragma once

#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::exports {

// Makes `folder` with one file for each table that has rows. In a folder that is there, files of
// tables without rows are removed, and all others stay. What an error leaves: see OutputFolder.
Result<void> exportCsv(const store::Database& trace,
                       const std::filesystem::path& folder,
                       bool replace,
                       const Progress& progress = {});

// What exportCsv() is about to make, and must not leave when a signal ends it: files, and then
// their folder. None when that folder is there already, and somebody else's.
Result<std::vector<std::string>> unfinishedCsv(const store::Database& trace,
                                               const std::filesystem::path& folder);

}  // namespace sonde::exports
