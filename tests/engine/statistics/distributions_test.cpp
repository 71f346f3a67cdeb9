#include "analysis/engine/statistics/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace sonde::engine::statistics {
namespace {

TEST(Distributions, NormalHasTheTablesValues) {
  EXPECT_NEAR(normalCdf(1.96), 0.9750021048517795, 1e-14);
  EXPECT_NEAR(normalCdf(-8) / 6.220960574271785e-16, 1, 1e-9);
  EXPECT_NEAR(normalQuantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normalQuantile(1e-10), -6.361340902404056, 1e-9);
  EXPECT_EQ(normalQuantile(0.5), 0);
}

TEST(Distributions, StudentHasTheTablesQuantiles) {
  EXPECT_NEAR(studentQuantile(0.975, 1), 12.706204736174698, 1e-8);
  EXPECT_NEAR(studentQuantile(0.975, 2), 4.302652729749464, 1e-9);
  EXPECT_NEAR(studentQuantile(0.975, 5), 2.570581835636314, 1e-9);
  EXPECT_NEAR(studentQuantile(0.975, 30), 2.0422724563012373, 1e-9);
  EXPECT_NEAR(studentQuantile(0.995, 8), 3.3553873313333957, 1e-9);
  EXPECT_NEAR(studentQuantile(0.025, 10), -2.2281388519649385, 1e-9);
}

TEST(Distributions, StudentOfOneAndTwoDegreesHasItsClosedForm) {
  for (const double t : {-40.0, -1.0, -0.01, 0.0, 0.3, 2.0, 7.5}) {
    EXPECT_NEAR(studentCdf(t, 1), 0.5 + std::atan(t) / std::numbers::pi, 1e-12) << t;
    EXPECT_NEAR(studentCdf(t, 2), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-12) << t;
  }
}

// Simpson's rule over the density.
double integrated(double t, double degrees) {
  const double front = std::tgamma((degrees + 1) / 2) / std::tgamma(degrees / 2) /
                       std::sqrt(degrees * std::numbers::pi);
  const auto density = [&](double x) {
    return front * std::pow(1 + x * x / degrees, -(degrees + 1) / 2);
  };
  constexpr int kSteps = 2000;
  double sum = density(0) + density(t);
  for (int i = 1; i < kSteps; ++i)
    sum += density(t * i / kSteps) * (i % 2 == 1 ? 4 : 2);
  return 0.5 + sum * t / kSteps / 3;
}

TEST(Distributions, StudentOfABrokenNumberOfDegreesIsTheIntegralOfItsDensity) {
  for (const double degrees : {1.37, 2.5, 5.52, 13.8})
    for (const double t : {0.4, 1.9, 4.0})
      EXPECT_NEAR(studentCdf(t, degrees), integrated(t, degrees), 1e-10) << degrees << " " << t;
}

TEST(Distributions, StudentOfManyDegreesIsNormal) {
  EXPECT_NEAR(studentTwoSided(2.5, 1e8), std::erfc(2.5 / std::numbers::sqrt2), 1e-8);
  EXPECT_NEAR(studentTwoSided(2.5, 1e12), std::erfc(2.5 / std::numbers::sqrt2), 1e-15);
  EXPECT_NEAR(
      studentQuantile(0.975, std::numeric_limits<double>::infinity()), 1.959963984540054, 1e-12);
}

TEST(Distributions, TinyProbabilitiesAreNotLost) {
  EXPECT_NEAR(studentTwoSided(1e4, 2) / 1e-8, 1, 1e-6);
  EXPECT_GT(studentTwoSided(100, 40), 0);
  EXPECT_EQ(studentTwoSided(std::numeric_limits<double>::infinity(), 3), 0);
}

TEST(Distributions, QuantilesUndoTheDistribution) {
  for (const double degrees : {1.0, 3.3, 12.0, 400.0})
    for (const double p : {1e-8, 0.003, 0.2, 0.7, 0.99999})
      EXPECT_NEAR(studentCdf(studentQuantile(p, degrees), degrees) / p, 1, 1e-7)
          << degrees << " " << p;
}

TEST(Distributions, BinomialTailIsExact) {
  EXPECT_EQ(binomialTail(0, 10, 0.5), 1);
  EXPECT_EQ(binomialTail(0, 0, 0.5), 1);
  EXPECT_EQ(binomialTail(11, 10, 0.5), 0);
  EXPECT_NEAR(binomialTail(10, 10, 0.5), 1.0 / 1024, 1e-15);
  EXPECT_NEAR(binomialTail(2, 3, 0.25), 3 * 0.0625 * 0.75 + 0.015625, 1e-15);
  EXPECT_NEAR(binomialTail(1, 4, 0.5), 15.0 / 16, 1e-15);
  EXPECT_NEAR(binomialTail(40, 40, 1.0 / 8) * std::pow(8, 40), 1, 1e-9);
}

TEST(Distributions, IncompleteBetaOfWholeNumbersIsABinomialSum) {
  // I_x(a, b) = P(at least a of a + b − 1 throws succeed).
  const double x = 0.3;
  double sum = 0;
  for (int k = 3; k <= 6; ++k) {
    const double ways = std::tgamma(7) / std::tgamma(k + 1) / std::tgamma(7 - k);
    sum += ways * std::pow(x, k) * std::pow(1 - x, 6 - k);
  }
  EXPECT_NEAR(incompleteBeta(3, 4, x), sum, 1e-13);
  EXPECT_EQ(incompleteBeta(3, 4, 0), 0);
  EXPECT_EQ(incompleteBeta(3, 4, 1), 1);
}

}  // namespace
}  // namespace sonde::engine::statistics
