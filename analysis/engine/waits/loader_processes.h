// The processes that load data for a rank. Uses the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>

namespace sonde::engine::waits {

struct LoaderProcess {
  std::int64_t loadsFor = 0;  // a process
  std::int64_t nameId = 0;    // of table string: that of most of its `data_load` slices
};

// By process: the descendants of a process with `data_load` slices, such as the workers of a
// DataLoader, that
//  - began during such a slice, or
//  - send it bytes through a pipe that one of its threads receives in such a slice. A worker's
//  first
//    instruction may come after the slice that started it.
// They need not be its children: a worker may replace itself (exec), or be made by a server.
Result<std::map<std::int64_t, LoaderProcess>> readLoaderProcesses(const store::Database& trace);

}  // namespace sonde::engine::waits
