// Whether a rank makes the others wait again and again: a ranking with statistics, and a verdict.
// The verdict is "no straggler" unless one is proven. Pure functions.
//
// A rank's lag in an iteration is how much later than the median rank it arrived, summed over the
// collectives in which every rank needs all others. Some rank is always last; without a straggler
// each rank has the greatest lag equally often. A rank is a straggler if it has the greatest lag
// more often than chance explains (binomial, corrected for the number of ranks, below kMostChance),
// and its median lag is at least kLeastShare of the median iteration. The unit is the iteration
// because collectives within one depend on each other.
#pragma once

#include "analysis/engine/device/collectives.h"
#include "analysis/engine/metrics/ranks.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::device {

inline constexpr double kMostChance = 0.01;
inline constexpr double kLeastShare = 0.01;
inline constexpr std::int64_t kLeastIterations = 8;

struct RankLag {
  std::int64_t processId = 0;
  std::optional<std::int64_t> rank;
  std::int64_t collectives = 0;
  std::int64_t lastIn = 0;       // collectives in which it was last
  std::int64_t iterations = 0;   // with such collectives
  std::int64_t greatestIn = 0;   // iterations in which its lag was the greatest
  std::int64_t medianLagNs = 0;  // per iteration; negative: it was early
  double share = 0;              // of the median iteration
  double chance = 1;             // that any rank has the greatest lag this often by luck
  bool isStraggler = false;
};

struct StragglerVerdict {
  std::vector<RankLag> ranks;           // the greatest median lag first
  std::vector<std::size_t> stragglers;  // places in `ranks`
  std::string reason;                   // of the verdict
};

// Lags of the ranks in one iteration.
struct IterationLags {
  std::int64_t number = 0;
  std::map<std::int64_t, std::int64_t> ns;  // by process
};

// In the order of time. Leaves out iterations in which fewer than two ranks met.
std::vector<IterationLags> lagsByIteration(const std::vector<JoinedCollective>& collectives,
                                           const std::vector<metrics::RankProcess>& processes);

StragglerVerdict findStragglers(const std::vector<JoinedCollective>& collectives,
                                const std::vector<metrics::RankProcess>& processes);

}  // namespace sonde::engine::device
