// Lengths of iterations as measured and in a replay, compared within groups. Plain values; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
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
  // That of the measured iterations, within their groups; nullopt: no group has two of them.
  std::optional<double> variance;
  // That of replayedNs - measuredNs; nullopt: no group has two measured or replayed ones.
  std::optional<double> varianceOfError;

  double error() const { return measuredNs > 0 ? replayedNs / measuredNs - 1 : 0; }
  // Roots of the variances, as parts of measuredNs.
  std::optional<double> noise() const { return partOf(variance); }
  std::optional<double> standardError() const { return partOf(varianceOfError); }

 private:
  std::optional<double> partOf(const std::optional<double>& squared) const;
};

Comparison comparisonOf(const std::vector<Lengths>& groups);

}  // namespace sonde::engine::replay
