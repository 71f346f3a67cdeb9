// What the ranks in a trace spent in each of their iterations: on the host, on devices, by kernel.
// Plain values; reading uses the database's thread.
#pragma once

#include "analysis/base/result.h"
#include "analysis/engine/diff/subject.h"
#include "analysis/store/database.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::diff {

struct RankTimes {
  std::optional<std::int64_t> rank;
  std::vector<std::int64_t> iterations;  // their numbers, ascending, each once
  Times times;                           // each as long as `iterations`; Subject::rank is nothing
  std::size_t partial = 0;  // iterations that are left out since fewer probes recorded in them
};

// Of all processes that have iterations. Iterations of one number in one process count as one. What
// a device does counts for the iteration that launched it, else for the one in which it began.
// Corrupt: ids or times are none.
Result<std::vector<RankTimes>> readRankTimes(const store::Database& trace, const Dimensions& by);

}  // namespace sonde::engine::diff
