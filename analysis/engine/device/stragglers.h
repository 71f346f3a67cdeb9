// Whether a rank makes the others wait, again and again: a ranking with its statistics, and a
// verdict, which is that there is none unless one is shown. Pure functions.
//
// In each iteration a rank's lag is the sum, over the collectives in which every rank needs all
// others, of how much later than the median rank it arrived. Somebody is last every time, so that
// alone says nothing: without a straggler each rank has the greatest lag equally often. A rank is
// one where it has it more often than chance explains (binomial, corrected for the number of ranks,
// below kMostChance), and its median lag is at least kLeastShare of the median iteration. The
// iteration is the unit because collectives within it depend on one another.
#pragma once

#include "analysis/engine/device/collectives.h"
#include "analysis/engine/metrics/ranks.h"

#include <cstdint>
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
  std::int64_t lastIn = 0;       // collectives that it was the last to come to
  std::int64_t iterations = 0;   // with such collectives
  std::int64_t greatestIn = 0;   // iterations in which its lag was the greatest
  std::int64_t medianLagNs = 0;  // of an iteration; negative: it was early
  double share = 0;              // of the median iteration
  double chance = 1;             // that it had the greatest lag so often by luck, of all ranks
  bool isStraggler = false;
};

struct StragglerVerdict {
  std::vector<RankLag> ranks;           // the greatest median lag first
  std::vector<std::size_t> stragglers;  // places in `ranks`
  std::string reason;                   // why there is none, or why they are
};

StragglerVerdict findStragglers(const std::vector<JoinedCollective>& collectives,
                                const std::vector<metrics::RankProcess>& processes);

}  // namespace sonde::engine::device
