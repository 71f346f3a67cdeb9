// Finds when a rank's iterations became longer or shorter, by how much, and what moved with them.
// Plain values; reading uses the database's thread.
//
// Changes come from statistics/change_points.h. They count if they are at least kLeastChange of the
// time before, with an interval that excludes 0. Iterations that were recorded in part are left
// out: recording costs less in them.
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

// Median time of something in an iteration, before and after a change.
struct Moved {
  diff::Kind kind = diff::Kind::Host;
  std::string name;  // "(outside)": outside of all operations
  std::int64_t beforeNs = 0;
  std::int64_t afterNs = 0;
  std::int64_t byNs() const noexcept { return afterNs - beforeNs; }
};

struct IterationChange {
  std::int64_t number = 0;            // of the first iteration after it
  std::int64_t atNs = 0;              // its begin
  std::int64_t iterationsBefore = 0;  // since the previous change
  std::int64_t iterationsAfter = 0;   // until the next change
  std::int64_t beforeNs = 0;          // medians
  std::int64_t afterNs = 0;
  std::int64_t lowNs = 0;  // of after − before, 95 %
  std::int64_t highNs = 0;
  std::vector<Moved> operations;  // on hosts and devices, and kernels: the largest move first
  std::vector<Moved> categories;
};

struct RankChanges {
  std::optional<std::int64_t> rank;
  std::string process;
  std::int64_t iterations = 0;  // those examined
  std::int64_t leftOut = 0;
  bool isEnough = false;  // iterations for a result: statistics::kLeastForChange
  std::vector<IterationChange> changes;
};

// Covers ranks with iterations. Requires: `ranks` come from readRanks(trace).
Result<std::vector<RankChanges>> iterationChanges(const store::Database& trace,
                                                  const std::vector<metrics::RankProcess>& ranks,
                                                  const diff::Correcting& correcting = {});

}  // namespace sonde::engine::changes
