// When a rank's iterations became longer or shorter, by how much, and what moved with them. Plain
// values; reading uses the database's thread.
//
// Changes are those of statistics/change_points.h, as far as they are at least kLeastChange of what
// iterations took before, with an interval that does not hold 0. Iterations of which not all was
// recorded are left out: recording costs less in them.
#pragma once

#include "analysis/engine/diff/iteration_times.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::changes {

inline constexpr double kLeastChange = 0.01;
inline constexpr std::size_t kMostMoved = 5;

// Time of something in an iteration, in medians.
struct Moved {
  diff::Kind kind = diff::Kind::Host;
  std::string name;  // "(outside)": of no operation
  std::int64_t beforeNs = 0;
  std::int64_t afterNs = 0;
  std::int64_t byNs() const noexcept { return afterNs - beforeNs; }
};

struct IterationChange {
  std::int64_t number = 0;            // of the first iteration after it
  std::int64_t atNs = 0;              // its begin
  std::int64_t iterationsBefore = 0;  // since the change before
  std::int64_t iterationsAfter = 0;   // until the next
  std::int64_t beforeNs = 0;          // medians
  std::int64_t afterNs = 0;
  std::int64_t lowNs = 0;  // of after − before, 95 %
  std::int64_t highNs = 0;
  std::vector<Moved> operations;  // on hosts and devices, and kernels: what moved most first
  std::vector<Moved> categories;
};

struct RankChanges {
  std::optional<std::int64_t> rank;
  std::string process;
  std::int64_t iterations = 0;  // that were looked at
  std::int64_t leftOut = 0;
  bool isEnough = false;  // to tell: statistics::kLeastForChange
  std::vector<IterationChange> changes;
};

// Of the ranks with iterations. Requires: `ranks` are those of readRanks(trace).
Result<std::vector<RankChanges>> iterationChanges(const store::Database& trace,
                                                  const std::vector<metrics::RankProcess>& ranks,
                                                  const diff::Correcting& correcting = {});

}  // namespace sonde::engine::changes
