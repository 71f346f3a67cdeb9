// Each table of a trace as a CSV file (RFC 4180, with a header line): the view of it where there is
// one, with names resolved and times on the job's common clock (docs/schema.md).
#pragma once

#include "analysis/base/progress.h"
#include "analysis/base/result.h"
#include "analysis/store/database.h"

#include <filesystem>

namespace sonde::exports {

// Makes `folder` with one file for each table that has rows. InvalidArgument: it exists and is not
// empty, and nothing may be replaced.
Result<void> exportCsv(const store::Database& trace,
                       const std::filesystem::path& folder,
                       bool replace,
                       const Progress& progress = {});

}  // namespace sonde::exports
