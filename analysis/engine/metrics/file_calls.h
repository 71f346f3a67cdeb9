// Calls on files in the ranks' windows: who made them, their kind, and what served them. Plain
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
  std::string by;        // "iterations": a thread with iterations; "threads": other threads of the
                         // process; "helpers": other processes of the rank, such as a loader's
                         // workers
  std::string call;      // read, pwrite, fsync …
  std::string servedBy;  // `v_io.served_by`; empty: not a read
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  std::int64_t diskBytes = 0;  // read from disks
  std::int64_t ns = 0;         // sum over the calls; only time in the window
};

// Ordered by rank, then longest first. Empty if no call on a file was recorded.
Result<std::vector<FileCalls>> fileCallsOf(const store::Database& trace,
                                           const std::vector<RankProcess>& ranks);

}  // namespace sonde::engine::metrics
