#include "rules/builtin/training/training_rules.h"
#include "tests/rules/process_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

class LossNotDecreasing : public test::ProcessRule {
 protected:
  LossNotDecreasing() : ProcessRule("loss-not-decreasing") {}

  Outcome judge(const std::vector<double>& losses, const std::string& name = "loss") const {
    ProcessFacts facts = test::scalarOf(name, losses);
    facts.scalars["lr"].values = {{0, 0.1, 1}};
    return judgeFacts(facts);
  }
};

// level · (1 + noise); the level changes by `slope` in total.
std::vector<double> curve(int count, double level, double slope, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, noise);
  std::vector<double> losses;
  for (int i = 0; i < count; ++i)
    losses.push_back(level * (1 + slope * i / count) * (1 + normal(random)));
  return losses;
}

TEST_F(LossNotDecreasing, PassesAFallingLossOverManySeeds) {
  for (unsigned seed = 0; seed < 100; ++seed)
    EXPECT_EQ(judge(curve(100, 2.3, -0.3, 0.05, seed)).verdict, Verdict::Pass) << seed;
}

TEST_F(LossNotDecreasing, FiresOnALossThatStandsStill) {
  int fired = 0;
  for (unsigned seed = 0; seed < 100; ++seed)
    fired += judge(curve(100, 2.3, 0, 0.05, seed)).verdict == Verdict::Fired ? 1 : 0;
  EXPECT_GE(fired, 90);  // the test lets one in twenty pass
  const Outcome outcome = judge(std::vector<double>(30, 0.69));
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_THAT(outcome.message, HasSubstr("does not decrease"));
  EXPECT_DOUBLE_EQ(*outcome.value, 0);
  EXPECT_EQ(outcome.window, "iterations 0-29");
}

TEST_F(LossNotDecreasing, FiresOnARisingLossDespiteGreatNoise) {
  const Outcome outcome = judge(curve(100, 1, 2, 0.4, 1));
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_THAT(outcome.message, HasSubstr("rises"));
  EXPECT_DOUBLE_EQ(*outcome.threshold, -0.05);
}

TEST_F(LossNotDecreasing, FiresAtOnceOnNanAndInfinity) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const Outcome outcome = judge({1.0, 0.9, bad});
    EXPECT_EQ(outcome.verdict, Verdict::Fired);
    EXPECT_THAT(outcome.message, HasSubstr("at iteration 2"));
  }
}

TEST_F(LossNotDecreasing, IsInsufficientWithTooFewValues) {
  const Outcome outcome = judge(curve(19, 1, -1, 0, 1));
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(outcome.message, HasSubstr("record 1 more"));
  EXPECT_FALSE(outcome.inputMissing);
  EXPECT_EQ(judge(curve(20, 1, -0.5, 0, 1)).verdict, Verdict::Pass);
}

TEST_F(LossNotDecreasing, IsInsufficientWithoutTheScalarAndNamesIt) {
  const Outcome outcome = judge(std::vector<double>(50, 1.0), "training_loss");
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_TRUE(outcome.inputMissing);
  EXPECT_THAT(outcome.message, HasSubstr("no scalar 'loss' in 50 iterations"));
}

TEST_F(LossNotDecreasing, SaysWhenTheScalarIsInNoIteration) {
  ProcessFacts facts = test::stepsOf(std::vector<std::int64_t>(30, 1000));
  facts.scalars["lr"].outside = 3;
  facts.scalars["loss"].outside = 28;
  const Outcome outcome = judgeFacts(facts);
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_FALSE(outcome.inputMissing);
  EXPECT_THAT(outcome.message,
              HasSubstr("none of the 28 values of 'loss' belongs to one of the 30 iterations"));
}

TEST_F(LossNotDecreasing, IsInsufficientWhenNoiseHidesATrendAndSaysHowMuchMore) {
  std::vector<double> losses;
  for (int i = 0; i < 40; ++i)
    losses.push_back(i % 2 == 0 ? 0.7 : 1.3);
  const Outcome outcome = judge(losses);
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(outcome.message, HasSubstr("noise of"));
  EXPECT_THAT(outcome.message, HasSubstr("needed to detect 5 %"));
}

TEST_F(LossNotDecreasing, TakesAConvergedLossAsHealthy) {
  ASSERT_TRUE(parameters_.set("converged_below", 0.02));
  EXPECT_EQ(judge(std::vector<double>(30, 0.01)).verdict, Verdict::Pass);
  EXPECT_EQ(judge(std::vector<double>(30, 0.03)).verdict, Verdict::Fired);
}

TEST_F(LossNotDecreasing, JudgesNegativeLossesByTheirDirection) {
  EXPECT_EQ(judge(curve(60, -1, 1, 0.01, 1)).verdict, Verdict::Pass);      // -1 → -2
  EXPECT_EQ(judge(curve(60, -2, -0.5, 0.01, 1)).verdict, Verdict::Fired);  // -2 → -1
}

// SageMaker Debugger compares single values ten steps apart, and fires at step 12 of these. The
// rule here needs enough values to tell a trend from noise.
class LossCases : public LossNotDecreasing {
 protected:
  // The losses are recorded in every `every`-th iteration.
  Outcome judgeEvery(std::int64_t every, const std::vector<double>& losses) {
    ProcessFacts facts = test::stepsOf(std::vector<std::int64_t>(100, 1000));
    std::int64_t at = 0;
    for (const double loss : losses) {
      facts.scalars["loss"].values.push_back({at, loss, 1});
      at += every;
    }
    return judgeFacts(facts);
  }
};

TEST_F(LossCases, FiveNoisyValuesAreNoVerdict) {
  const std::vector<double> losses = {0.30, 0.33, 0.31, 0.30, 0.28};
  EXPECT_THAT(judgeEvery(4, losses).message, HasSubstr("5 values of 'loss', but 20 are needed"));
  ASSERT_TRUE(parameters_.set("min_samples", std::int64_t{5}));
  const Outcome outcome = judgeEvery(4, losses);
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(outcome.message, HasSubstr("noise of"));
}

TEST_F(LossCases, AStartThatLeavesOneValueIsNoVerdict) {
  ASSERT_TRUE(parameters_.set("min_samples", std::int64_t{4}));
  ASSERT_TRUE(parameters_.set("warmup", std::int64_t{13}));
  const Outcome outcome = judgeEvery(4, {0.30, 0.33, 0.31, 0.30, 0.28});
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_EQ(outcome.samples, 1);
}

TEST_F(LossCases, ADropToThePointTwentyOfStepTwentyPasses) {
  ASSERT_TRUE(parameters_.set("min_samples", std::int64_t{7}));
  ASSERT_TRUE(parameters_.set("significance", 0.1));
  EXPECT_EQ(judgeEvery(4, {0.33, 0.31, 0.30, 0.30, 0.28, 0.20, 0.19}).verdict, Verdict::Pass);
  // A rise at the end, as with .42 at step 24, is one value among noise.
  EXPECT_NE(judgeEvery(4, {0.30, 0.33, 0.31, 0.30, 0.28, 0.20, 0.42}).verdict, Verdict::Pass);
}

TEST_F(LossCases, ValuesCountWhateverTheirDistance) {
  EXPECT_EQ(judgeEvery(3, curve(33, 2, -0.5, 0.01, 1)).verdict, Verdict::Pass);
  const Outcome outcome = judgeEvery(3, std::vector<double>(33, 0.5));
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.window, "iterations 0-96");
  EXPECT_EQ(outcome.samples, 33);
}

TEST_F(LossCases, DropAndRiseHaveThresholdsOfTheirOwn) {
  std::vector<double> losses(20, 1.0);
  losses.insert(losses.end(), 20, 0.5);
  ASSERT_TRUE(parameters_.set("min_drop", 0.5));
  EXPECT_EQ(judgeEvery(1, losses).verdict, Verdict::Pass);  // the drop itself is enough
  ASSERT_TRUE(parameters_.set("min_drop", 0.5001));
  EXPECT_EQ(judgeEvery(1, losses).verdict, Verdict::Fired);
  std::reverse(losses.begin(), losses.end());  // a rise by 1
  ASSERT_TRUE(parameters_.set("max_rise", 0.999));
  EXPECT_THAT(judgeEvery(1, losses).message, HasSubstr("the loss rises"));
  ASSERT_TRUE(parameters_.set("max_rise", 1.0));
  EXPECT_THAT(judgeEvery(1, losses).message, HasSubstr("does not decrease"));
}

TEST_F(LossNotDecreasing, DoesNotLatch) {
  std::vector<double> losses(100, 1.0);
  EXPECT_EQ(judge(losses).verdict, Verdict::Fired);
  const std::vector<double> falling = curve(100, 1, -0.5, 0.01, 1);
  losses.insert(losses.end(), falling.begin(), falling.end());
  EXPECT_EQ(judge(losses).verdict, Verdict::Pass);
}

}  // namespace
}  // namespace sonde::rules
