#include "analysis/engine/statistics/random_effects.h"

#include "analysis/engine/statistics/distributions.h"

#include <algorithm>
#include <cmath>

namespace sonde::engine::statistics {
namespace {

struct Weighted {
  double weights = 0;
  double squaredWeights = 0;
  double mean = 0;
  double squares = 0;  // weighted, of distances from the mean
};

Weighted weighted(const Group& group, double between) {
  Weighted sums;
  double values = 0;
  for (const Measurement& each : group) {
    const double weight = 1 / (between + each.variance);
    sums.weights += weight;
    sums.squaredWeights += weight * weight;
    values += weight * each.value;
  }
  sums.mean = values / sums.weights;
  for (const Measurement& each : group) {
    const double distance = each.value - sums.mean;
    sums.squares += distance * distance / (between + each.variance);
  }
  return sums;
}

}  // namespace

double varianceBetween(const std::vector<Group>& groups) {
  double expected = 0;
  for (const Group& group : groups)
    expected += group.empty() ? 0 : static_cast<double>(group.size() - 1);
  const auto excess = [&](double between) {
    double squares = 0;
    for (const Group& group : groups)
      squares += group.size() < 2 ? 0 : weighted(group, between).squares;
    return squares - expected;
  };
  if (expected == 0 || excess(0) <= 0)
    return 0;
  double low = 0;
  double high = 1e-12;
  while (excess(high) > 0 && std::isfinite(high))
    high *= 4;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (excess(middle) > 0 ? low : high) = middle;
  }
  return high;
}

GroupMean meanOf(const Group& group, double between) {
  const Weighted sums = weighted(group, between);
  const double least = 1 / sums.weights;
  if (group.size() == 1)
    return {sums.mean, least, 0};
  const auto others = static_cast<double>(group.size() - 1);
  const double shown = sums.squares / others / sums.weights;
  const double effective = sums.weights * sums.weights / sums.squaredWeights - 1;
  return {sums.mean, std::max(shown, least), std::max(1.0, effective)};
}

Difference differenceOf(const GroupMean& first, const GroupMean& second) {
  const double sum = first.variance + second.variance;
  double degrees = std::max(first.degrees, second.degrees);
  if (first.degrees > 0 && second.degrees > 0)
    degrees = sum * sum /
              (first.variance * first.variance / first.degrees +
               second.variance * second.variance / second.degrees);
  return {second.value - first.value, std::sqrt(sum), degrees};
}

double twoSided(const Difference& difference) {
  if (difference.value == 0)
    return 1;
  return studentTwoSided(difference.value / difference.error, difference.degrees);
}

}  // namespace sonde::engine::statistics
