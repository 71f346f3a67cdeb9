// The processes that load data for a rank. Uses the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>

namespace sonde::engine::waits {

// Processes that their parent started in a `data_load` slice, as a DataLoader does with its
// workers. By process: the name, of table string, of most such slices of the parent.
Result<std::unordered_map<std::int64_t, std::int64_t>> readLoaderProcesses(
    const store::Database& trace);

}  // namespace sonde::engine::waits
