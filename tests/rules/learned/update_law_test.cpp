// The law of stochastic gradient descent, from the means of weights and gradients.
#include "rules/learned/update_law.h"

#include "rules/learned/judge.h"
#include "tests/rules/learned/made_up_runs.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace sonde::rules {
namespace {

using sonde::test::must;

struct Optimiser {
  double rate = 0.1;
  double momentum = 0.9;
  double decay = 0.01;
  bool onlySigns = false;
};

// A run whose weight follows its random gradients.
RunObservations runOf(unsigned seed, const Optimiser& optimiser, int changesAt = 0) {
  const Optimiser before;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  test::MadeUpRun run{{test::stepsOf(std::vector<std::int64_t>(20, 1000))}, {ProcessCalls{}}};
  double weight = normal(random);
  double velocity = 0;
  for (int i = 0; i < 20; ++i) {
    const Optimiser& now = i < changesAt ? before : optimiser;
    const double gradient = normal(random);
    test::addValues(run.facts[0], "w", "weights", i, {weight, weight + 1});
    test::addValues(run.facts[0], "w", "gradients", i, {gradient, gradient});
    velocity = now.momentum * velocity + gradient + now.decay * (weight + 0.5);
    weight -= now.rate / (1 + i) * (now.onlySigns ? std::copysign(1, gradient) : velocity);
  }
  return run.observed();
}

LearnedInvariants learnedOf(const Optimiser& optimiser) {
  std::vector<RunObservations> runs;
  for (unsigned seed = 1; seed <= 6; ++seed)
    runs.push_back(runOf(seed, optimiser));
  return must(learn(runs));
}

// The iteration in which a run breaks the law; -1: it does not.
std::int64_t brokenIn(const LearnedInvariants& learned, const RunObservations& run) {
  for (const BrokenInvariant& each : judgeInvariants(learned, run, {}).broken)
    if (std::holds_alternative<Law>(each.invariant->form))
      return each.tick.iteration;
  return -1;
}

TEST(UpdateLaw, IsFoundWithItsFactors) {
  const LearnedInvariants learned = learnedOf({});
  const Law* law = nullptr;
  for (const Invariant& each : learned.invariants)
    if (std::holds_alternative<Law>(each.form))
      law = &std::get<Law>(each.form);
  ASSERT_NE(law, nullptr);
  EXPECT_EQ(law->first, 0);
  ASSERT_EQ(law->factors.size(), 19U);  // the last step has no weight after it
  EXPECT_EQ(law->factors[0][0], 0) << "there is no step before";
  EXPECT_NEAR(law->factors[4][0], 0.9 * 4 / 5, 1e-6);
  EXPECT_NEAR(law->factors[4][1], 0.1 / 5, 1e-6);
  EXPECT_NEAR(law->factors[4][2], 0.01 * 0.1 / 5, 1e-6);
  for (unsigned seed = 20; seed < 40; ++seed)
    EXPECT_EQ(brokenIn(learned, runOf(seed, {})), -1) << seed;
}

TEST(UpdateLaw, IsBrokenInTheFirstIterationOfAnotherRateDecayOrMomentum) {
  const LearnedInvariants learned = learnedOf({});
  EXPECT_EQ(brokenIn(learned, runOf(9, {.rate = 0.11}, 7)), 7);
  EXPECT_EQ(brokenIn(learned, runOf(9, {.momentum = 0.8}, 7)), 7);
  EXPECT_EQ(brokenIn(learned, runOf(9, {.decay = 1}, 7)), 7);
  EXPECT_EQ(brokenIn(learned, runOf(9, {.rate = 0}, 7)), 7);
}

TEST(UpdateLaw, IsDroppedForAnOptimiserThatIsNotLinear) {
  const LearnedInvariants learned = learnedOf({.onlySigns = true});
  EXPECT_EQ(learned.dropped.at("updates").at("no linear law"), 1);
}

TEST(UpdateLaw, IsDroppedIfSomeIterationsDoNotObeyIt) {
  std::vector<RunObservations> runs;
  for (unsigned seed = 1; seed <= 6; ++seed)
    runs.push_back(runOf(seed, {.onlySigns = true}, 10));
  EXPECT_EQ(must(learn(runs)).dropped.at("updates").at("no linear law"), 1);
}

TEST(UpdateLaw, FactorsThatThePointsDoNotDetermineAreZero) {
  const std::vector<UpdatePoint> same = {{2, 0, 1, 0}, {4, 0, 2, 0}, {6, 0, 3, 0}};
  EXPECT_EQ(fitUpdate(same), (UpdateFactors{0, 2, 0}));
  EXPECT_EQ(fitUpdate({}), (UpdateFactors{0, 0, 0}));
  const std::vector<UpdatePoint> dependent = {{3, 1, 1, 0}, {6, 2, 2, 0}, {9, 3, 3, 0}};
  EXPECT_EQ(updateError(fitUpdate(dependent), {12, 4, 4, 0}, 0), 0);
}

TEST(UpdateLaw, ErrorsAreSharesOfTheTerms) {
  const UpdateFactors factors = {0, 2, 0};
  EXPECT_EQ(updateError(factors, {0, 0, 0, 0}, 0), 0);
  EXPECT_EQ(updateError(factors, {2, 0, 1, 0}, 0), 0);
  EXPECT_DOUBLE_EQ(updateError(factors, {1, 0, 1, 0}, 0), 0.5);
  EXPECT_DOUBLE_EQ(updateError(factors, {1, 0, 0, 0}, 0), 1);
  EXPECT_DOUBLE_EQ(updateError(factors, {1, 0, 1, 0, 0.1}, 4), 0.3);
  EXPECT_EQ(updateError(factors, {1, 0, 1, 0, 0.1}, 11), 0) << "within its rounding";
}

}  // namespace
}  // namespace sonde::rules
