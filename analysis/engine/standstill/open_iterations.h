// How far each rank has come in the iteration that is open at the end of its trace, beside its
// earlier iterations. Plain values; reading uses the database's thread.
//
// Progress is counted in events that have ended: scopes, collectives, kernels and copies. Times
// are of each process's own host, and count from the begin of their iteration.
#pragma once

#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::standstill {

inline constexpr std::size_t kPastIterations = 20;

struct PastIteration {
  std::int64_t number = 0;
  std::int64_t durNs = 0;
  std::vector<std::int64_t> endedNs;  // when each event ended, ascending; then durNs
};

struct OpenIteration {
  std::int64_t number = 0;     // one more than that of the last one that ended
  std::int64_t startNs = 0;    // of its host
  std::int64_t elapsedNs = 0;  // until the end of what is known of the process
  std::vector<std::int64_t> endedNs;
};

struct RankProgress {
  std::int64_t processId = 0;
  std::string name;                   // "rank 3"
  std::optional<OpenIteration> open;  // unset: it is between two iterations, or has ended
  std::vector<PastIteration> past;    // its last kPastIterations, oldest first
};

// In the order of `ranks`; then ranks in their first iteration, where others have ended theirs. If
// no rank has an open iteration, past ones are not read.
Result<std::vector<RankProgress>> readProgress(const store::Database& trace,
                                               const std::vector<metrics::RankProcess>& ranks);

}  // namespace sonde::engine::standstill
