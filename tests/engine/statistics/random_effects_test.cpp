#include "analysis/engine/statistics/random_effects.h"

#include "analysis/engine/statistics/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace sonde::engine::statistics {
namespace {

Group equallySure(const std::vector<double>& values, double variance) {
  Group group;
  for (const double value : values)
    group.push_back({value, variance});
  return group;
}

TEST(RandomEffects, VarianceBetweenIsWhatTheErrorsDoNotExplain) {
  // Equal errors: the variance of the values minus that of the errors.
  EXPECT_NEAR(varianceBetween({equallySure({1, 2, 3, 4}, 0.5)}), 5.0 / 3 - 0.5, 1e-9);
  EXPECT_EQ(varianceBetween({equallySure({1, 2, 3, 4}, 2)}), 0) << "errors explain it all";
  // The groups' means may differ: only differences inside a group count.
  EXPECT_NEAR(varianceBetween({equallySure({1, 3}, 0.5), equallySure({101, 103}, 0.5)}), 1.5, 1e-9);
  EXPECT_EQ(varianceBetween({equallySure({1}, 0.5), equallySure({7}, 0.5)}), 0);
  EXPECT_EQ(varianceBetween({}), 0);
}

TEST(RandomEffects, MeanOfEqualErrorsIsTheTextbooks) {
  const GroupMean mean = meanOf(equallySure({1, 2, 3, 4}, 1e-9), 5.0 / 3);
  EXPECT_NEAR(mean.value, 2.5, 1e-12);
  EXPECT_NEAR(mean.variance, 5.0 / 3 / 4, 1e-8);
  EXPECT_NEAR(mean.degrees, 3, 1e-6);
}

TEST(RandomEffects, MeanIsNoSurerThanItsMeasurements) {
  const GroupMean mean = meanOf(equallySure({5, 5, 5, 5}, 4), 0);
  EXPECT_NEAR(mean.variance, 1, 1e-12);
}

TEST(RandomEffects, ADisturbedMeasurementWeighsLittle) {
  const GroupMean mean = meanOf({{1, 0.01}, {1.1, 0.01}, {0.9, 0.01}, {9, 100}}, 0.01);
  EXPECT_NEAR(mean.value, 1, 0.01);
  EXPECT_LT(std::sqrt(mean.variance), 0.15);
  EXPECT_NEAR(mean.degrees, 2, 0.01) << "three measurements, not four";
}

TEST(RandomEffects, DifferenceIsWelchs) {
  const GroupMean first = meanOf(equallySure({1, 2, 3, 4}, 1e-9), 1);
  const GroupMean second = meanOf(equallySure({2, 4, 6, 8, 10}, 1e-9), 1);
  const Difference difference = differenceOf(first, second);
  EXPECT_NEAR(difference.value, 3.5, 1e-9);
  EXPECT_NEAR(difference.value / difference.error, 2.2514363231593695, 1e-7);
  EXPECT_NEAR(difference.degrees, 5.520787746170677, 1e-6);
  EXPECT_NEAR(twoSided(difference), 0.06913359319239129, 1e-7);
  const Difference swapped = differenceOf(second, first);
  EXPECT_EQ(swapped.value, -difference.value);
  EXPECT_EQ(swapped.error, difference.error);
}

TEST(RandomEffects, OneMeasurementBorrowsItsVarianceFromTheOtherGroup) {
  const Group many = equallySure({1, 2, 3, 4}, 0.5);
  const double between = varianceBetween({many, equallySure({9}, 0.5)});
  const GroupMean one = meanOf({{9, 0.5}}, between);
  EXPECT_EQ(one.degrees, 0);
  EXPECT_NEAR(one.variance, 5.0 / 3, 1e-9);
  EXPECT_NEAR(differenceOf(meanOf(many, between), one).degrees, 3, 1e-6);
  EXPECT_EQ(differenceOf(one, one).degrees, 0);
  EXPECT_EQ(twoSided(differenceOf(one, one)), 1);
}

// Measurements of two groups whose true values are 0 and `apart`, in units of the deviation between
// runs. Errors within runs vary, and are known with 8 degrees of freedom.
class Simulation {
 public:
  explicit Simulation(unsigned seed) : random_(seed) {}

  Difference next(int runs, double apart, double within) {
    const Group first = group(runs, 0, within);
    const Group second = group(runs, apart, within);
    const double between = varianceBetween({first, second});
    return differenceOf(meanOf(first, between), meanOf(second, between));
  }

 private:
  Group group(int runs, double value, double within) {
    Group group;
    for (int i = 0; i < runs; ++i) {
      const double error = within * std::exp(0.5 * normal_(random_));
      const double stated = error * error * std::gamma_distribution<double>(4, 0.25)(random_);
      group.push_back({value + normal_(random_) + error * normal_(random_), stated});
    }
    return group;
  }

  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

struct Rates {
  double found = 0;    // with p < 0.05
  double covered = 0;  // the true difference lies in the 95 % interval
};

Rates ratesOf(int runs, double apart, double within) {
  Simulation simulation(5);
  constexpr int kRounds = 2000;
  Rates rates;
  for (int i = 0; i < kRounds; ++i) {
    const Difference difference = simulation.next(runs, apart, within);
    const double half = studentQuantile(0.975, difference.degrees) * difference.error;
    rates.found += twoSided(difference) < 0.05 ? 1.0 / kRounds : 0;
    rates.covered += std::abs(difference.value - apart) <= half ? 1.0 / kRounds : 0;
  }
  return rates;
}

TEST(RandomEffects, FalseFindingsAreNoMoreThanTheLevelSays) {
  for (const int runs : {2, 3, 5, 10})
    for (const double within : {0.2, 1.0, 3.0})
      EXPECT_LE(ratesOf(runs, 0, within).found, 0.065) << runs << " runs, errors of " << within;
}

TEST(RandomEffects, IntervalsHoldTheTruth) {
  for (const int runs : {3, 5, 10})
    EXPECT_GE(ratesOf(runs, 2, 0.5).covered, 0.935) << runs;
}

TEST(RandomEffects, LargeDifferencesAreFound) {
  EXPECT_GE(ratesOf(5, 4, 0.5).found, 0.95);
  EXPECT_GE(ratesOf(10, 2, 0.5).found, 0.9);
}

}  // namespace
}  // namespace sonde::engine::statistics
