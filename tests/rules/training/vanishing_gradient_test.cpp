#include "tests/rules/training/tensor_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

class VanishingGradient : public test::TensorRule {
 protected:
  VanishingGradient() : TensorRule("vanishing-gradient") {}
};

TEST_F(VanishingGradient, NamesTheSmallestOfThoseThatVanished) {
  test::addValues(facts_, "a", "gradients", 3, {1e-8, -3e-8});
  test::addValues(facts_, "b", "gradients", 3, {1e-9, -3e-9});
  test::addValues(facts_, "c", "gradients", 3, {1, 2});
  test::addValues(facts_, "d", "weights", 3, {0, 0});
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message,
            "b (gradients) has a mean magnitude of 2e-09 in iteration 3; 2 tensors are affected");
  EXPECT_DOUBLE_EQ(*outcome.value, 2e-9);
  EXPECT_DOUBLE_EQ(*outcome.threshold, 1e-7);
}

// As of a convolution before a BatchNorm.
TEST_F(VanishingGradient, ABiasWithOnlyRoundingIsNotJudged) {
  for (const std::int64_t iteration : {3, 4}) {
    test::addValues(facts_, "c.bias", "gradients", iteration, {1e-8, -2e-8});
    test::addValues(facts_, "c.weight", "gradients", iteration, {0.01, -0.02});
  }
  EXPECT_EQ(verdict(), Verdict::Pass);
  set("tensors", "*.bias");  // nothing tells that it is rounding
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(VanishingGradient, ABiasThatVanishesLikeItsWeightIsBad) {
  test::addValues(facts_, "c.bias", "gradients", 3, {1e-8, -2e-8});
  test::addValues(facts_, "c.weight", "gradients", 3, {1e-4, -2e-4});
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(VanishingGradient, ABiasThatOnceLearntIsBad) {
  test::addValues(facts_, "c.bias", "gradients", 3, {0.1, -0.2});
  test::addValues(facts_, "c.bias", "gradients", 4, {1e-8, -2e-8});
  for (const std::int64_t iteration : {3, 4})
    test::addValues(facts_, "c.weight", "gradients", iteration, {0.01, -0.02});
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(VanishingGradient, AMeanMagnitudeAtTheThresholdIsHealthy) {
  set("threshold", 0.25);
  test::addValues(facts_, "a", "gradients", 3, {0.5, 0});
  EXPECT_EQ(verdict(), Verdict::Pass);
  set("threshold", std::nextafter(0.25, 1));
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(VanishingGradient, TheNewestRecordingCounts) {
  test::addValues(facts_, "a", "gradients", 3, {0, 0});
  EXPECT_EQ(verdict(), Verdict::Fired);
  test::addValues(facts_, "a", "gradients", 4, {1, 1});
  EXPECT_EQ(verdict(), Verdict::Pass);
  EXPECT_EQ(judgeFacts(facts_).window, "iterations 4-4");
}

TEST_F(VanishingGradient, ANanNeverPasses) {
  test::addValues(facts_, "a", "gradients", 3, {1, std::nan("")});
  test::addValues(facts_, "b", "gradients", 3, {1, 1});
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(outcome.message, HasSubstr("a (gradients) has 1 NaN and 0 infinite of 2 elements"));
  EXPECT_FALSE(outcome.inputMissing);
  test::addValues(facts_, "b", "gradients", 4, {0, 0});
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(VanishingGradient, StatisticsThatOverflowedNeverPass) {
  test::addValues(facts_, "a", "gradients", 3, {1, 1}).l1 = HUGE_VAL;
  EXPECT_EQ(verdict(), Verdict::Insufficient);
}

TEST_F(VanishingGradient, WithoutGradientsItSaysWhatToRecord) {
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("--sources +tensor"));
  test::addValues(facts_, "a", "weights", 3, {1});
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_TRUE(outcome.inputMissing);
  test::addValues(facts_, "a", "gradients", 3, {});
  EXPECT_EQ(judgeFacts(facts_).message, "none of 1 tensors has elements");
}

}  // namespace
}  // namespace sonde::rules
