#include "analysis/engine/statistics/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace sonde::engine::statistics {
namespace {

double medianOf(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

TEST(Series, MeanAndVarianceAreTheSamples) {
  EXPECT_DOUBLE_EQ(mean({2, 4, 4, 4, 5, 5, 7, 9}), 5);
  EXPECT_DOUBLE_EQ(variance({2, 4, 4, 4, 5, 5, 7, 9}), 32.0 / 7);
}

TEST(Series, BlocksAreOfThreeOrMoreAndTwentyAtMost) {
  EXPECT_EQ(blocksFor(0), 0U);
  EXPECT_EQ(blocksFor(1), 1U);
  EXPECT_EQ(blocksFor(2), 2U);
  EXPECT_EQ(blocksFor(5), 2U);
  EXPECT_EQ(blocksFor(27), 9U);
  EXPECT_EQ(blocksFor(60), 20U);
  EXPECT_EQ(blocksFor(10'000), 20U);
}

TEST(Series, BlocksHoldAllValuesInOrder) {
  EXPECT_EQ(blockCentres({1, 2, 3, 4, 5, 6, 7}, 3, mean), (std::vector<double>{1.5, 3.5, 6}));
  EXPECT_EQ(blockCentres({9, 1, 5}, 1, medianOf), (std::vector<double>{5}));
}

TEST(Series, ErrorOfAMeanInBlocksOfOneIsTheTextbooks) {
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_NEAR(blockedError(values, values.size(), mean), std::sqrt(32.0 / 7 / 8), 1e-14);
  EXPECT_EQ(blockedError({3}, 1, mean), 0);
  EXPECT_EQ(blockedError({3, 3, 3, 3}, 2, mean), 0);
}

// x(i) = φ x(i − 1) + noise, like a run on a machine that is slow for a while.
std::vector<double> autoregressive(std::mt19937& random, int count, double phi) {
  std::normal_distribution<double> noise;
  std::vector<double> values;
  double value = noise(random) / std::sqrt(1 - phi * phi);
  for (int i = 0; i < count; ++i, value = phi * value + noise(random))
    values.push_back(value);
  return values;
}

struct Errors {
  double stated = 0;
  double naive = 0;  // as if the values were independent
  double real = 0;   // how much the centre varies from series to series
};

Errors errorsOf(const Centre& centre, double phi) {
  std::mt19937 random(3);
  std::vector<double> centres;
  Errors errors;
  constexpr int kRounds = 400;
  for (int i = 0; i < kRounds; ++i) {
    const std::vector<double> values = autoregressive(random, 200, phi);
    centres.push_back(centre(values));
    errors.stated += blockedError(values, blocksFor(values.size()), centre) / kRounds;
    errors.naive += std::sqrt(variance(values) / 200) / kRounds;
  }
  errors.real = std::sqrt(variance(centres));
  return errors;
}

TEST(Series, ErrorsOfIndependentValuesAreReal) {
  const Errors ofMean = errorsOf(mean, 0);
  EXPECT_NEAR(ofMean.stated / ofMean.real, 1, 0.1);
  const Errors ofMedian = errorsOf(medianOf, 0);
  EXPECT_NEAR(ofMedian.stated / ofMedian.real, 1, 0.2);
}

TEST(Series, ErrorsOfValuesThatFollowEachOtherAreNearlyReal) {
  const Errors errors = errorsOf(mean, 0.6);
  EXPECT_NEAR(errors.stated / errors.real, 1, 0.2);
  EXPECT_LT(errors.naive / errors.real, 0.6) << "or there is nothing to take into account";
}

}  // namespace
}  // namespace sonde::engine::statistics
