#include "analysis/engine/calibration/regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace sonde::engine::calibration {
namespace {

constexpr double kNothing = std::numeric_limits<double>::infinity();

// A job whose iterations take 1 ms, drift, are noisy and sometimes disturbed, in blocks of 8. The
// recording of two probes is on or off by block.
struct Job {
  std::vector<double> factors = {1.3, 0.6};
  std::vector<double> costNs = {40'000, 15'000};
  double noise = 0.03;
  double drift = 0.3;
  double disturbed = 0.02;
  std::size_t blocks = 120;

  std::vector<Observation> run(std::uint32_t seed) const {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    std::vector<Observation> observations;
    for (std::size_t block = 0; block < blocks; ++block) {
      const bool first = random() % 2 == 0;
      const bool second = random() % 2 == 0;
      const double level =
          1e6 * (1 + drift * static_cast<double>(block) / static_cast<double>(blocks));
      for (int iteration = 0; iteration < 8; ++iteration) {
        Observation each;
        each.block = block;
        each.stretch = block / 8;
        each.costNs = {first ? costNs[0] : 0, second ? costNs[1] : 0};
        each.durationNs = level * (1 + noise * normal(random)) + factors[0] * each.costNs[0] +
                          factors[1] * each.costNs[1];
        if (uniform(random) < disturbed)
          each.durationNs *= 3;
        observations.push_back(each);
      }
    }
    return observations;
  }
};

Factors must(Result<Factors> result) {
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *std::move(result) : Factors{};
}

TEST(FitFactors, FindsFactorsThroughDriftAndDisturbances) {
  const Factors factors = must(fitFactors(Job().run(1), Trend::Slope, {kNothing, kNothing}));
  EXPECT_NEAR(factors.values[0], 1.3, 0.25);
  EXPECT_NEAR(factors.values[1], 0.6, 0.6);
  EXPECT_NEAR(factors.noiseNs, 1.15e6 * 0.03, 8e3);
  EXPECT_EQ(factors.blocks, 120U);
}

TEST(FitFactors, HasTheTruthWithinTwoStandardErrorsAsOftenAsItShould) {
  int within = 0;
  const int runs = 400;
  for (std::uint32_t seed = 0; seed < runs; ++seed) {
    const Factors factors = must(fitFactors(Job().run(seed), Trend::Slope, {kNothing, kNothing}));
    const double error = std::sqrt(factors.covariance[0][0]);
    within += std::abs(factors.values[0] - 1.3) < 1.96 * error ? 1 : 0;
  }
  EXPECT_GE(within, runs * 90 / 100);
  EXPECT_LE(within, runs * 99 / 100);
}

TEST(FitFactors, BelievesWhatIsKnownWhereTheIterationsSayLittle) {
  Job job;
  job.blocks = 10;
  job.noise = 0.5;
  const Factors factors = must(fitFactors(job.run(3), Trend::Slope, {0.1, 0.1}));
  EXPECT_NEAR(factors.values[0], 1, 0.05);
  EXPECT_NEAR(std::sqrt(factors.covariance[0][0]), 0.1, 0.03);
}

TEST(FitFactors, BelievesTheIterationsWhereTheyAreManyAndClear) {
  Job job;
  job.noise = 0.005;
  job.disturbed = 0;
  const Factors factors = must(fitFactors(job.run(4), Trend::Slope, {0.5, 0.5}));
  EXPECT_NEAR(factors.values[0], 1.3, 0.02);
  EXPECT_LT(std::sqrt(factors.covariance[0][0]), 0.02);
}

// Only the sum of costs that always occur together can be found.
TEST(FitFactors, KnowsTheSumOfWhatComesTogetherBetterThanItsParts) {
  std::vector<Observation> observations = Job().run(5);
  for (Observation& each : observations) {
    each.durationNs -= 0.6 * each.costNs[1];
    each.costNs[1] = each.costNs[0] > 0 ? 15'000 : 0;
    each.durationNs += 0.6 * each.costNs[1];
  }
  const Factors factors = must(fitFactors(observations, Trend::Slope, {1, 1}));
  const double sum = factors.values[0] * 40'000 + factors.values[1] * 15'000;
  EXPECT_NEAR(sum, 1.3 * 40'000 + 0.6 * 15'000, 9'000);
  EXPECT_LT(factors.covariance[0][1], 0);
}

TEST(FitFactors, RefusesTooFewBlocks) {
  Job job;
  job.blocks = 5;
  const auto factors = fitFactors(job.run(6), Trend::Slope, {kNothing, kNothing});
  ASSERT_FALSE(factors);
  EXPECT_EQ(factors.error().code, ErrorCode::NotFound);
}

TEST(FitFactors, RefusesIterationsThatDoNotDiffer) {
  std::vector<Observation> observations = Job().run(7);
  for (Observation& each : observations)
    each.costNs = {40'000, 0};
  const auto factors = fitFactors(observations, Trend::Slope, {kNothing, kNothing});
  ASSERT_FALSE(factors);
  EXPECT_THAT(factors.error().message, ::testing::HasSubstr("recorded the same"));
}

TEST(FitFactors, IsTheSameHoweverLargeTheCostsAre) {
  std::vector<Observation> observations = Job().run(8);
  const Factors small = must(fitFactors(observations, Trend::Slope, {kNothing, kNothing}));
  for (Observation& each : observations)
    each.costNs[1] *= 1e-6;
  const Factors large = must(fitFactors(observations, Trend::Slope, {kNothing, kNothing}));
  EXPECT_NEAR(large.values[1] * 1e-6, small.values[1], 1e-6);
}

}  // namespace
}  // namespace sonde::engine::calibration
