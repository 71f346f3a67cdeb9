// Lengths of iterations as measured and in a replay, compared within groups. Plain values; any
// thread.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde::engine::replay {

struct Sample {
  std::vector<double> values;

  double mean() const;
  double variance() const;  // 0 of fewer than two
  double varianceOfMean() const;
};

// Those of a group's iterations.
struct Lengths {
  Sample measured;
  Sample replayed;
};

// The means of groups that have both, weighted by their measured iterations.
struct Comparison {
  std::int64_t iterations = 0;
  double measuredNs = 0;
  double replayedNs = 0;
  double variance = 0;         // of the measured iterations, within their groups
  double varianceOfError = 0;  // of replayedNs - measuredNs

  double error() const { return measuredNs > 0 ? replayedNs / measuredNs - 1 : 0; }
};

Comparison comparisonOf(const std::vector<Lengths>& groups);

}  // namespace sonde::engine::replay
