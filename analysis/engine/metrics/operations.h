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
  std::int64_t ns = 0;  // union of its slices by thread: nested slices count once
  std::int64_t p50Ns = 0;
  std::int64_t p95Ns = 0;
  std::int64_t p99Ns = 0;
  double share = 0;  // of the rank's window; above 1 if threads ran it at the same time
};

// The rank's operations of all kinds except iterations and marks, longest first. Those that begin
// in a masked iteration do not count. All times are by `clock`; the set of operations and their
// counts do not depend on it. Requires: `rank` is as recorded. Corrupt: a time is invalid.
Result<std::vector<OperationTime>> operationsOf(const store::Database& trace,
                                                const RankProcess& rank,
                                                const Clock& clock = {});

}  // namespace sonde::engine::metrics
