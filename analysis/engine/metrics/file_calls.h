// Calls on files in the windows of the ranks: by whom, of what kind, and what served them. Plain
// values; reading uses the database's thread.
#pragma once

#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::metrics {

struct FileCalls {
  std::optional<std::int64_t> rank;
  std::string process;   // of the rank
  std::string by;        // "iterations": a thread that these run on; "threads": others of the
                         // process; "helpers": other processes of the rank, as a loader's workers
  std::string call;      // read, pwrite, fsync …
  std::string servedBy;  // `v_io.served_by`; empty: does not read
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  std::int64_t diskBytes = 0;  // that reading brought from disks
  std::int64_t ns = 0;         // of the calls together; of those in the window
};

// By rank, then the longest first. Empty where no call on a file was recorded.
Result<std::vector<FileCalls>> fileCallsOf(const store::Database& trace,
                                           const std::vector<RankProcess>& ranks);

}  // namespace sonde::engine::metrics
