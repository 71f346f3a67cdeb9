#include "analysis/engine/diff/comparison.h"

#include "analysis/engine/diff/run_centres.h"
#include "tests/engine/diff/simulated_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace sonde::engine::diff {
namespace {

const Judgement kJudgement;

// As if nothing else were compared.
double pOf(const Comparison& comparison) {
  double least = 1;
  for (const Estimate& estimate : comparison.estimates)
    least = std::min(least, estimate.p);
  return std::max(least * static_cast<double>(comparison.estimates.size()), comparison.pRanks);
}

struct Rates {
  double found = 0;    // p at most 0.05
  double covered = 0;  // share of comparisons of typical iterations whose interval contains the
                       // true change
};

Rates ratesOf(const Simulated& like, double change, int rounds = 400) {
  Simulation simulation(17);
  Rates rates;
  for (int i = 0; i < rounds; ++i) {
    const Comparison found =
        compare(simulation.side(like), simulation.side(like, 1 + change), kJudgement);
    const Estimate& typical = found.estimates.front();
    rates.found += pOf(found) <= 0.05 ? 1.0 / rounds : 0;
    rates.covered += *typical.low <= change && change <= *typical.high ? 1.0 / rounds : 0;
  }
  return rates;
}

TEST(Comparison, FalseFindingsAreRareWhateverTheNoise) {
  EXPECT_LE(ratesOf({}, 0).found, 0.05);
  EXPECT_LE(ratesOf({.betweenRuns = 0.05}, 0).found, 0.05) << "runs differ much";
  EXPECT_LE(ratesOf({.betweenRuns = 0, .withinRun = 0.1, .persistence = 0.9}, 0).found, 0.05)
      << "iterations follow each other";
  EXPECT_LE(ratesOf({.disturbedShare = 0.5}, 0).found, 0.05) << "half of them are disturbed";
  EXPECT_LE(ratesOf({.runs = 3}, 0).found, 0.05);
  EXPECT_LE(ratesOf({.runs = 12, .iterations = 100}, 0).found, 0.05);
}

TEST(Comparison, FalseFindingsAreRareWhereHalfOfAllRunsAreSlow) {
  // The sides may have most of their runs in different modes: runs in the other side's mode are not
  // outliers.
  EXPECT_LE(ratesOf({.betweenRuns = 0.001, .disturbedRuns = 0.5}, 0).found, 0.05);
}

TEST(Comparison, FalseFindingsAreRareOfSingleRuns) {
  EXPECT_LE(ratesOf({.runs = 1, .betweenRuns = 0.02}, 0).found, 0.05);
  EXPECT_LE(ratesOf({.runs = 1, .iterations = 200, .betweenRuns = 0.03}, 0).found, 0.05);
}

TEST(Comparison, ThreePerCentAreFoundByFiveRunsOfThirtyIterations) {
  EXPECT_GE(ratesOf({}, 0.03).found, 0.95);
  EXPECT_GE(ratesOf({}, -0.03).found, 0.95);
  EXPECT_GE(ratesOf({.disturbedShare = 0.3}, 0.03).found, 0.9);
}

TEST(Comparison, StallsInAFewIterationsAreFound) {
  Simulation simulation(19);
  const Simulated calm{.iterations = 100, .disturbedShare = 0};
  const Simulated stalling{.iterations = 100, .disturbedShare = 0.25};
  int found = 0;
  for (int i = 0; i < 100; ++i) {
    const Comparison compared =
        compare(simulation.side(calm), simulation.side(stalling), kJudgement);
    found += compared.estimates.back().measure == Measure::Mean && pOf(compared) <= 0.05 ? 1 : 0;
  }
  EXPECT_GE(found, 90);
}

TEST(Comparison, ADisturbedRunDoesNotHideADifference) {
  EXPECT_GE(ratesOf({.disturbedRuns = 0.1}, 0.03).found, 0.85);
}

TEST(Comparison, IntervalsHoldTheTruth) {
  EXPECT_GE(ratesOf({}, 0.03).covered, 0.93);
  EXPECT_GE(ratesOf({.betweenRuns = 0.05}, 0.3).covered, 0.93);
  EXPECT_GE(ratesOf({.runs = 1, .betweenRuns = 0.02}, 0.1).covered, 0.93);
}

TEST(Comparison, DetectableIsWhatIsFoundInFourOfFive) {
  const Simulated like{.disturbedShare = 0};
  Simulation simulation(2);
  std::vector<double> from;
  for (int i = 0; i < 200; ++i) {
    const Comparison found = compare(simulation.side(like), simulation.side(like), kJudgement);
    from.push_back(*detectable(found.estimates.front(), kJudgement, 3));
  }
  std::nth_element(from.begin(), from.begin() + 100, from.end());
  EXPECT_NEAR(ratesOf(like, from[100]).found, 0.85, 0.12);
}

// One iteration is above 97.5 % of the others only if it is much slower.
TEST(Comparison, DetectableIsWhatRanksShowToo) {
  std::vector<double> spread;
  for (int i = 0; i < 200; ++i)
    spread.push_back(100 + i);  // the median is 199.5
  Estimate estimate;
  estimate.a.ns = 199.5;
  estimate.b.ns = 199.5;
  const auto from = [&](double least) {
    return detectableByRank({spread}, {{199.5}}, estimate, least, kJudgement);
  };
  EXPECT_NEAR(from(0.01).value(), 0.5, 0.12);
  EXPECT_EQ(from(0.9), 0.9) << "ranks show it, too";
  EXPECT_FALSE(detectableByRank({{100}}, {{100}}, estimate, 0.1, kJudgement));
}

TEST(Comparison, SwappingTheSidesMirrorsIt) {
  Simulation simulation(4);
  for (const int runs : {1, 2, 5}) {
    const Observations a = simulation.side({.runs = runs, .disturbedRuns = 0.2});
    const Observations b = simulation.side({.runs = 5, .disturbedRuns = 0.2}, 1.02);
    const Comparison one = compare(a, b, kJudgement);
    const Comparison other = compare(b, a, kJudgement);
    ASSERT_EQ(one.estimates.size(), 3U);
    EXPECT_DOUBLE_EQ(one.pRanks, other.pRanks);
    for (std::size_t i = 0; i < 3; ++i) {
      const Estimate& seen = one.estimates[i];
      const Estimate& mirrored = other.estimates[i];
      EXPECT_DOUBLE_EQ(seen.a.ns, mirrored.b.ns);
      EXPECT_EQ(seen.a.disturbed, mirrored.b.disturbed);
      EXPECT_NEAR(seen.p, mirrored.p, 1e-12);
      EXPECT_NEAR(1 + *seen.change, 1 / (1 + *mirrored.change), 1e-12);
      EXPECT_NEAR(1 + *seen.low, 1 / (1 + *mirrored.high), 1e-12);
    }
  }
}

TEST(Comparison, ASideAndItselfDoNotDiffer) {
  Simulation simulation(6);
  for (const int runs : {1, 2, 5}) {
    const Observations side = simulation.side({.runs = runs});
    const Comparison found = compare(side, side, kJudgement);
    EXPECT_EQ(found.estimates.size(), 3U);
    for (const Estimate& estimate : found.estimates) {
      EXPECT_EQ(estimate.change, 0);
      EXPECT_EQ(estimate.p, 1);
      EXPECT_LT(*estimate.low, 0);
      EXPECT_GT(*estimate.high, 0);
    }
  }
}

TEST(Comparison, OneRunIsTakenToVaryAsTheRunsOfTheOtherSide) {
  Simulation simulation(8);
  const Observations many = simulation.side({.runs = 6, .betweenRuns = 0.01});
  const Comparison found = compare(many, {many.front()}, kJudgement);
  EXPECT_NEAR(found.estimates.front().degrees, 5, 0.5);
  EXPECT_GT(found.estimates.front().error, 0.004);
}

// Runs whose iterations are all alike differ by their level alone.
Observations evenRuns(const std::vector<double>& levels) {
  Observations runs;
  for (const double level : levels)
    runs.emplace_back(30, level);
  return runs;
}

TEST(Comparison, DegreesOfFreedomAreWelchs) {
  const Comparison found =
      compare(evenRuns({90, 100, 110}), evenRuns({85, 95, 105, 115}), kJudgement);
  // The means' errors have 2 and 3 degrees of freedom. b's error is that of its own runs. a's runs
  // lie closer together; its error is that of both sides' runs.
  const double a = (200.0 + 500.0) / 5 / 3;
  const double b = 500.0 / 12;
  const double welch = (a + b) * (a + b) / (a * a / 2 + b * b / 3);
  ASSERT_EQ(found.estimates.size(), 3U);
  for (const Estimate& estimate : found.estimates)
    EXPECT_NEAR(estimate.degrees, welch, 1e-3);
  const Comparison equal = compare(evenRuns({90, 100, 110}), evenRuns({91, 101, 111}), kJudgement);
  EXPECT_NEAR(equal.estimates.front().degrees, 4, 1e-3);
}

TEST(Comparison, ARunBesideManyHasTheirDegreesOfFreedom) {
  const Observations many = evenRuns({90, 95, 100, 105, 110});
  EXPECT_NEAR(compare(many, evenRuns({100}), kJudgement).estimates.front().degrees, 4, 1e-3);
  EXPECT_NEAR(compare(evenRuns({100}), many, kJudgement).estimates.front().degrees, 4, 1e-3);
}

TEST(Comparison, SingleRunsHaveTheDegreesOfFreedomOfTheirBlocks) {
  const Observations a{std::vector<double>(60, 100)};
  const Observations b{std::vector<double>(30, 100)};
  const auto blocks = static_cast<double>(centresOf(a, Measure::Mean, 1).front().blocks +
                                          centresOf(b, Measure::Mean, 1).front().blocks);
  ASSERT_GT(blocks, 4);
  EXPECT_DOUBLE_EQ(compare(a, b, kJudgement).estimates.front().degrees, blocks - 2);
}

TEST(Comparison, AssumedNoiseIsTheLeastOfSingleRuns) {
  const std::vector<double> even(30, 100);
  Judgement judgement;
  judgement.runNoise = 0.1;
  const Comparison found = compare({even}, {even}, judgement);
  EXPECT_NEAR(found.estimates.front().error, 0.1 * std::sqrt(2.0), 1e-4);
}

TEST(Comparison, AssumedNoiseIsNoLessThanSoManyNanoseconds) {
  const std::vector<double> even(30, 100);
  const Comparison found = compare({even}, {even}, Judgement{.leastNoiseNs = 50});
  EXPECT_NEAR(found.estimates.front().error, 0.5 * std::sqrt(2.0), 1e-4);
}

TEST(Comparison, ASingleRunThatDriftsIsTakenToDifferByAsMuchFromOthers) {
  std::vector<double> drifting;
  for (int i = 0; i < 60; ++i)
    drifting.push_back(100 + i * 40.0 / 59);
  const Comparison found =
      compare({drifting}, {std::vector<double>(60, 130)}, Judgement{.runNoise = 0});
  // Its blocks are spread evenly over 40, around 120; the scale is 125.
  EXPECT_NEAR(found.estimates.front().error, 40 / std::sqrt(12.0) / 125, 0.02);
}

TEST(Comparison, WhatRepeatsExactlyIsJudgedToo) {
  const Observations a(3, std::vector<double>(20, 100));
  const Observations b(3, std::vector<double>(20, 101));
  EXPECT_LT(pOf(compare(a, b, kJudgement)), 1e-3);
  EXPECT_NEAR(*compare(a, b, kJudgement).estimates.front().change, 0.01, 1e-12);
}

TEST(Comparison, WhatOccursInSomeIterationsIsComparedByItsMean) {
  std::vector<double> every4th(40, 0);
  for (std::size_t i = 0; i < every4th.size(); i += 4)
    every4th[i] = 80;
  std::vector<double> everyOther(40, 0);
  for (std::size_t i = 0; i < everyOther.size(); i += 2)
    everyOther[i] = 80;
  const Comparison found =
      compare(Observations(3, every4th), Observations(3, everyOther), kJudgement);
  ASSERT_EQ(found.estimates.size(), 1U);
  EXPECT_EQ(found.estimates.front().measure, Measure::Mean);
  EXPECT_NEAR(found.estimates.front().a.ns, 20, 1e-9);
  EXPECT_NEAR(*found.estimates.front().change, 1, 1e-9);
}

TEST(Comparison, WhatTheFastestIterationsLackHasNoFastOnes) {
  std::vector<double> fourOf5(40, 80);
  for (std::size_t i = 0; i < fourOf5.size(); i += 5)
    fourOf5[i] = 0;
  const Comparison found = compare(Observations(3, fourOf5), Observations(3, fourOf5), kJudgement);
  ASSERT_EQ(found.estimates.size(), 2U);
  EXPECT_EQ(found.estimates[0].measure, Measure::Typical);
  EXPECT_EQ(found.estimates[1].measure, Measure::Mean);
  EXPECT_GT(found.estimates[0].error, 0);
}

TEST(Comparison, WhatNoSideHasIsNoDifference) {
  const Comparison found = compare({{0, 0, 0}}, {{0, 0}}, kJudgement);
  EXPECT_FALSE(found.estimates.front().change);
  EXPECT_EQ(found.estimates.front().p, 1);
}

TEST(Comparison, OfOneIterationNothingCanBeShown) {
  const Comparison found = compare({{100}}, {{200}}, kJudgement);
  EXPECT_EQ(found.pRanks, 1);
  EXPECT_FALSE(enoughIterations(1, 1, kJudgement));
}

TEST(Comparison, EnoughIterationsAreThoseThatCouldShowADifference) {
  // The least p for 3 and 3 values is 2/20, for 4 and 4 it is 2/70.
  EXPECT_FALSE(enoughIterations(3, 3, kJudgement));
  EXPECT_TRUE(enoughIterations(4, 4, kJudgement));
  EXPECT_FALSE(enoughIterations(4, 4, {.level = 0.02}));
  EXPECT_FALSE(enoughIterations(0, 1000, kJudgement));
  EXPECT_TRUE(enoughIterations(1, 1000, kJudgement));
  EXPECT_FALSE(enoughIterations(1, 30, kJudgement));
}

TEST(Comparison, EnoughIterationsDifferByTheTestThatJudgesThem) {
  for (const std::size_t a : {1U, 2U, 3U, 4U, 10U, 60U, 500U})
    for (const std::size_t b : {1U, 2U, 5U, 38U, 39U, 270U, 1500U}) {
      std::vector<double> low(a);
      std::vector<double> high(b);
      std::iota(low.begin(), low.end(), 100);
      std::iota(high.begin(), high.end(), 5000);
      const Comparison apart = compare({low}, {high}, kJudgement);
      EXPECT_EQ(enoughIterations(a, b, kJudgement), apart.pRanks <= kJudgement.level)
          << a << " and " << b;
    }
  EXPECT_EQ(neededIterations(30, kJudgement), 2U);
  EXPECT_EQ(neededIterations(39, kJudgement), 1U);
  EXPECT_EQ(neededIterations(4, kJudgement), 4U);
}

TEST(Compare, WhatWasTakenOutIsOneMoreVariance) {
  Simulation simulation(7);
  const Simulated like;
  const Observations a = simulation.side(like);
  const Observations b = simulation.side(like);
  TakenOut takenOut{a, b, 0.02 * like.ns};
  for (std::vector<double>& run : takenOut.rawOfB)
    for (double& each : run)
      each += 1e6;
  const Comparison sure = compare(a, b, {});
  const Comparison unsure = compare(a, b, {}, takenOut);
  for (std::size_t at = 0; at < sure.estimates.size(); ++at) {
    const Estimate& one = sure.estimates[at];
    const Estimate& other = unsure.estimates[at];
    EXPECT_NEAR(std::hypot(one.error, 0.02), other.error, 0.001);
    EXPECT_LT(other.low, one.low);
    EXPECT_GT(other.high, one.high);
    EXPECT_NEAR(other.degrees, one.degrees * std::pow(other.error / one.error, 4), 1e-6);
    EXPECT_EQ(other.a.ns, one.a.ns);
    EXPECT_EQ(one.b.rawNs, one.b.ns);
    EXPECT_NEAR(other.b.rawNs - other.b.ns, 1e6, 0.005 * like.ns);
  }
}

// Costs with a random error make the sides differ. If the size of such errors is known, this is
// rarely reported as a difference.
TEST(Compare, AnErrorOfTheCostsIsNoDifference) {
  constexpr int kRounds = 400;
  constexpr double kError = 0.02;
  Simulation simulation(11);
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  int found = 0;
  int foundUnknowing = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Simulated like;
    const Observations a = simulation.side(like);
    const Observations b = simulation.side(like, 1 + kError * normal(random));
    const auto fires = [&](double errorNs) {
      return compare(a, b, {}, {{}, {}, errorNs}).estimates.front().p <= 0.05;
    };
    found += fires(kError * like.ns) ? 1 : 0;
    foundUnknowing += fires(0) ? 1 : 0;
  }
  EXPECT_LT(found, kRounds * 0.08);
  EXPECT_GT(foundUnknowing, kRounds * 0.3);
}

}  // namespace
}  // namespace sonde::engine::diff
