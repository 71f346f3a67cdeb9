#include "tests/rules/training/tensor_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

class AllZero : public test::TensorRule {
 protected:
  AllZero() : TensorRule("all-zero") {}
};

TEST_F(AllZero, FiresIfAllElementsAreZero) {
  test::addValues(facts_, "a", "gradients", 1, {0, 0, 0, 0});
  test::addValues(facts_, "b", "gradients", 1, {0, 0, 0, 1});
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message, "a (gradients) has 4 zeros of 4 elements in iteration 1");
}

TEST_F(AllZero, FiresAtTheThreshold) {
  test::addValues(facts_, "a", "gradients", 1, {0, 0, 0, 1});
  EXPECT_EQ(verdict(), Verdict::Pass);
  set("threshold", 0.75);
  EXPECT_EQ(verdict(), Verdict::Fired);
  set("threshold", 0.7501);
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(AllZero, DoesNotLatchAndANanNeverPasses) {
  test::addValues(facts_, "a", "gradients", 1, {0, 0});
  test::addValues(facts_, "a", "gradients", 2, {1, 0});
  EXPECT_EQ(verdict(), Verdict::Pass);
  test::addValues(facts_, "a", "gradients", 3, {std::nan(""), 0});
  EXPECT_EQ(verdict(), Verdict::Insufficient);
}

TEST_F(AllZero, IsInsufficientWithoutGradients) {
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_TRUE(outcome.inputMissing);
}

class TensorVariance : public test::TensorRule {
 protected:
  TensorVariance() : TensorRule("tensor-variance") {}
};

TEST_F(TensorVariance, IsSkippedWithoutBounds) {
  test::addValues(facts_, "a", "weights", 1, {1, 3});
  EXPECT_EQ(verdict(), Verdict::Skipped);
}

TEST_F(TensorVariance, FiresBeyondEachBoundButNotAtIt) {
  test::addValues(facts_, "a", "weights", 1, {1, 3});  // variance 1
  set("max_variance", 1.0);
  EXPECT_EQ(verdict(), Verdict::Pass);
  set("max_variance", 0.999);
  EXPECT_EQ(verdict(), Verdict::Fired);
  set("max_variance", 5.0);
  set("min_variance", 1.0);
  EXPECT_EQ(verdict(), Verdict::Pass);
  set("min_variance", 1.001);
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_THAT(outcome.message, HasSubstr("a (weights) has the variance 1 in iteration 1"));
  EXPECT_DOUBLE_EQ(*outcome.threshold, 1.001);
}

TEST_F(TensorVariance, ANanNeverPassesAndNoTensorsAreInsufficient) {
  set("max_variance", 1.0);
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
  test::addValues(facts_, "a", "weights", 1, {1, 1, HUGE_VAL});
  EXPECT_EQ(verdict(), Verdict::Insufficient);
}

}  // namespace
}  // namespace sonde::rules
