// Time by operation and rank. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::metrics {

struct OperationTime {
  std::string kind;  // phase, operation, forward, …
  std::string name;
  std::int64_t count = 0;
  std::int64_t ns = 0;  // by thread, the union of its slices: what it holds of itself counts once
  std::int64_t p50Ns = 0;
  std::int64_t p95Ns = 0;
  std::int64_t p99Ns = 0;
  double share = 0;  // of the rank's window; above 1 where threads did it at once
};

// The rank's operations of all kinds but iterations and marks, the longest first; those that begin
// in a masked iteration do not count. `clock`: what all times are told by; the operations that
// there are, and their counts, are the same by any. Requires: `rank` is as recorded. Corrupt: times
// are none.
Result<std::vector<OperationTime>> operationsOf(const store::Database& trace,
                                                const RankProcess& rank,
                                                const Clock& clock = {});

}  // namespace sonde::engine::metrics
