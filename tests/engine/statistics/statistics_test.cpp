#include "analysis/engine/statistics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sonde::engine::metrics {
namespace {

TEST(Statistics, PercentileIsTheNearestRank) {
  const std::vector<std::int64_t> values = {15, 20, 35, 40, 50};
  EXPECT_EQ(percentile(values, 0.05), 15);
  EXPECT_EQ(percentile(values, 0.30), 20);
  EXPECT_EQ(percentile(values, 0.40), 20);
  EXPECT_EQ(percentile(values, 0.50), 35);
  EXPECT_EQ(percentile(values, 1.00), 50);
  EXPECT_EQ(percentile({7}, 0.95), 7);
}

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(median({-1}), -1);
}

TEST(Statistics, DeviationsFindTheSigmaOfNormalNoiseDespiteOutliersAndTrend) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(10, 2);
  std::vector<double> flat;
  std::vector<double> falling;
  for (int i = 0; i < 20'000; ++i) {
    flat.push_back(i % 50 == 0 ? 1e6 : noise(random));
    falling.push_back(noise(random) - 0.01 * i);
  }
  EXPECT_NEAR(robustDeviation(flat), 2, 0.1);
  EXPECT_NEAR(noiseAroundTrend(falling), 2, 0.1);
}

TEST(Statistics, NoiseOfAlternatingValuesIsNotZero) {
  EXPECT_NEAR(noiseAroundTrend({1, 2, 1, 2, 1, 2, 1}), 1.048, 0.001);
}

// The share of all splits of the pooled values whose rank sum is at most the observed one.
double exactProbability(const std::vector<double>& lower, const std::vector<double>& upper) {
  std::vector<double> pool = lower;
  pool.insert(pool.end(), upper.begin(), upper.end());
  const auto winsBelow = [&](const std::vector<bool>& mask) {
    double u = 0;
    for (std::size_t i = 0; i < pool.size(); ++i)
      for (std::size_t j = 0; j < pool.size(); ++j)
        if (mask[i] && !mask[j])
          u += pool[i] > pool[j] ? 1 : pool[i] == pool[j] ? 0.5 : 0;
    return u;
  };
  std::vector<bool> mask(pool.size(), false);
  std::fill(mask.begin(), mask.begin() + static_cast<std::ptrdiff_t>(lower.size()), true);
  const double seen = winsBelow(mask);
  int atMost = 0;
  int all = 0;
  std::sort(mask.begin(), mask.end());
  do {
    ++all;
    atMost += winsBelow(mask) <= seen ? 1 : 0;
  } while (std::next_permutation(mask.begin(), mask.end()));
  return static_cast<double>(atMost) / all;
}

TEST(Statistics, MannWhitneyAgreesWithCountingAllSplits) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> value(0, 12);  // ties happen
  for (int round = 0; round < 25; ++round) {
    std::vector<double> lower;
    std::vector<double> upper;
    for (int i = 0; i < 8; ++i) {
      lower.push_back(value(random));
      upper.push_back(value(random) + round % 5);
    }
    EXPECT_NEAR(probabilityNotLower(lower, upper), exactProbability(lower, upper), 0.02);
  }
}

TEST(Statistics, MannWhitneyOfEqualValuesProvesNothing) {
  EXPECT_DOUBLE_EQ(probabilityNotLower({1, 1, 1}, {1, 1, 1}), 1);
}

}  // namespace
}  // namespace sonde::engine::metrics
