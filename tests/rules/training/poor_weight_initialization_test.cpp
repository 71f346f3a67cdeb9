#include "tests/rules/training/tensor_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

class PoorWeightInitialization : public test::TensorRule {
 protected:
  PoorWeightInitialization() : TensorRule("poor-weight-initialization") {}

  void lose(const std::vector<double>& losses) {
    std::int64_t iteration = 0;
    facts_.scalars["loss"].values.clear();
    for (const double loss : losses)
      facts_.scalars["loss"].values.push_back({iteration++, loss, 1});
  }
};

TEST_F(PoorWeightInitialization, InputsOfVeryDifferentVarianceFire) {
  test::addValues(facts_, "fc1", "relu_input", 0, {-1, 1});  // variance 1
  test::addValues(facts_, "fc2", "relu_input", 0, {-4, 4});
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message,
            "the variances of the inputs of activations are 1 to 16 in iteration 0, a ratio of 16");
  set("threshold", 16.0);
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(PoorWeightInitialization, OtherLayersMayDiffer) {
  test::addValues(facts_, "fc1", "activations", 0, {-1, 1});
  test::addValues(facts_, "softmax", "activations", 0, {0.01, 0.02});
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(PoorWeightInitialization, ALayerWithoutVarianceFires) {
  test::addValues(facts_, "fc1", "activations", 0, {-1, 1});
  test::addValues(facts_, "loss", "activations", 0, {3});
  EXPECT_EQ(verdict(), Verdict::Pass);
  test::addValues(facts_, "fc2", "activations", 1, {2, 2});
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message, "fc2 (activations) has the variance 0 in iteration 1");
}

TEST_F(PoorWeightInitialization, OnlyNarrowGradientsFire) {
  set("distribution_range", 0.25);
  test::addValues(facts_, "fc1", "gradients", 0, {-0.0625, 0.0625});
  EXPECT_EQ(verdict(), Verdict::Fired);
  EXPECT_THAT(judgeFacts(facts_).message,
              HasSubstr("the widest gradient, fc1 (gradients), has 0.125"));
  test::addValues(facts_, "fc2", "gradients", 0, {-0.125, 0.125});  // the range itself
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(PoorWeightInitialization, AFlatLossFires) {
  lose({3, 2, 2, 2, 2, 2, 2, 1});
  EXPECT_EQ(verdict(), Verdict::Fired);
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("'loss' changes by 0 of its value within 6"));
  lose({4, 2, 2, 2, 2, 2, 1, 1});
  EXPECT_EQ(verdict(), Verdict::Pass);
  set("flat_tolerance", 0.5);  // from 2 to 1
  EXPECT_EQ(verdict(), Verdict::Fired);
  set("flat_tolerance", 0.4999);
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(PoorWeightInitialization, OnlyTheFirstIterationsCount) {
  test::addValues(facts_, "fc1", "gradients", 9, {-1, 1});
  test::addValues(facts_, "fc1", "activations", 10, {0, 0});
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Pass);
  EXPECT_EQ(outcome.window, "iterations 0-9");
  set("steps", std::int64_t{11});
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(PoorWeightInitialization, NanNeverPassesAndNothingIsInsufficient) {
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
  test::addValues(facts_, "fc1", "gradients", 0, {-1, 1});
  test::addValues(facts_, "fc1", "activations", 0, {1, std::nan("")});
  EXPECT_EQ(verdict(), Verdict::Insufficient);
  facts_.tensors.pop_back();
  EXPECT_EQ(verdict(), Verdict::Pass);
  lose({3, std::nan("")});
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("'loss' is nan at iteration 1"));
  EXPECT_EQ(verdict(), Verdict::Insufficient);
  EXPECT_TRUE(judgeFacts(test::stepsOf({})).inputMissing);
}

}  // namespace
}  // namespace sonde::rules
