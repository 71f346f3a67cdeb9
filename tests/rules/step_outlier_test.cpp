#include "rules/builtin/timing/timing_rules.h"
#include "tests/rules/process_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace sonde::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kMillisecond = 1'000'000;

class StepOutlier : public test::ProcessRule {
 protected:
  StepOutlier() : ProcessRule("step-outlier") {}

  Outcome judge(const std::vector<std::int64_t>& durations) const {
    return judgeFacts(test::stepsOf(durations));
  }
};

std::vector<std::int64_t> noisySteps(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(100.0 * kMillisecond, 3.0 * kMillisecond);
  std::vector<std::int64_t> steps;
  for (int i = 0; i < count; ++i)
    steps.push_back(static_cast<std::int64_t>(noise(random)));
  return steps;
}

TEST_F(StepOutlier, FiresAndNamesTheSlowIterations) {
  std::vector<std::int64_t> steps = noisySteps(100, 1);
  for (const int slow : {20, 40, 60, 70, 80, 90})
    steps[static_cast<std::size_t>(slow)] = 300 * kMillisecond + slow;
  const Outcome outcome = judge(steps);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.samples, 95);
  EXPECT_EQ(outcome.window, "iterations 5-99");
  EXPECT_DOUBLE_EQ(*outcome.value, 6.0 / 95);
  EXPECT_EQ(std::get<std::int64_t>(outcome.evidence.at("outliers")), 6);
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(outcome.evidence.at("worst_iterations")),
              ElementsAre(90, 80, 70, 60, 40, 20));
  EXPECT_THAT(outcome.message, HasSubstr("6 of 95 iterations"));
}

TEST_F(StepOutlier, IterationsWithinAnotherAreNoneOfIts) {
  ProcessFacts facts = test::stepsOf({});
  std::int64_t number = 0;
  for (const std::int64_t duration : noisySteps(30, 1)) {
    facts.steps.push_back({number, 0, duration, false});
    for (int part = 0; part < 4; ++part)
      facts.steps.push_back({number, 0, duration / 4, true});
    ++number;
  }
  const Outcome outcome = judgeFacts(facts);
  EXPECT_EQ(outcome.verdict, Verdict::Pass);
  EXPECT_EQ(outcome.samples, 25);
}

TEST_F(StepOutlier, StaysSilentOnNoiseOverManySeeds) {
  for (unsigned seed = 0; seed < 200; ++seed)
    EXPECT_EQ(judge(noisySteps(200, seed)).verdict, Verdict::Pass) << seed;
}

TEST_F(StepOutlier, StaysSilentOnConstantStepsAndOneSpike) {
  std::vector<std::int64_t> steps(60, 10 * kMillisecond);
  EXPECT_EQ(judge(steps).verdict, Verdict::Pass);
  steps[30] = 1000 * kMillisecond;
  const Outcome outcome = judge(steps);
  EXPECT_EQ(outcome.verdict, Verdict::Pass);
  EXPECT_EQ(std::get<std::int64_t>(outcome.evidence.at("outliers")), 1);
}

// With so many outliers, a mean and its standard deviation would move and hide all of them.
TEST_F(StepOutlier, FindsAThirdOfAllStepsBeingSlow) {
  std::vector<std::int64_t> steps = noisySteps(99, 3);
  for (std::size_t i = 0; i < steps.size(); i += 3)
    steps[i] *= 3;
  const Outcome outcome = judge(steps);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_NEAR(*outcome.value, 1.0 / 3, 0.02);
}

TEST_F(StepOutlier, IsInsufficientAndSaysHowManyAreMissing) {
  const Outcome outcome = judge(noisySteps(24, 1));
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_EQ(outcome.samples, 19);
  EXPECT_THAT(outcome.message, HasSubstr("record 1 more"));
  EXPECT_NE(judge(noisySteps(25, 1)).verdict, Verdict::Insufficient);
  EXPECT_THAT(judge(noisySteps(3, 1)).message, HasSubstr("record 22 more"));
}

TEST_F(StepOutlier, ExactlyTheShareIsStillHealthy) {
  ASSERT_TRUE(parameters_.set("warmup", std::int64_t{0}));
  std::vector<std::int64_t> steps(40, 10 * kMillisecond);
  steps[3] = steps[9] = 20 * kMillisecond;
  EXPECT_EQ(judge(steps).verdict, Verdict::Pass);
  steps[11] = 20 * kMillisecond;
  EXPECT_EQ(judge(steps).verdict, Verdict::Fired);
}

TEST_F(StepOutlier, ExactlyTheLimitIsNoOutlier) {
  ASSERT_TRUE(parameters_.set("warmup", std::int64_t{0}));
  std::vector<std::int64_t> steps(20, 100);
  for (const int at : {1, 2, 3})
    steps[static_cast<std::size_t>(at)] = 125;
  EXPECT_EQ(judge(steps).verdict, Verdict::Pass);
  for (const int at : {1, 2, 3})
    steps[static_cast<std::size_t>(at)] = 126;
  EXPECT_EQ(judge(steps).verdict, Verdict::Fired);
}

TEST_F(StepOutlier, DoesNotLatch) {
  ASSERT_TRUE(parameters_.set("window", std::int64_t{50}));
  std::vector<std::int64_t> steps = noisySteps(40, 1);
  for (std::size_t i = 10; i < 20; ++i)
    steps[i] *= 5;
  EXPECT_EQ(judge(steps).verdict, Verdict::Fired);
  const std::vector<std::int64_t> healthy = noisySteps(50, 2);
  steps.insert(steps.end(), healthy.begin(), healthy.end());
  EXPECT_EQ(judge(steps).verdict, Verdict::Pass);
}

}  // namespace
}  // namespace sonde::rules
