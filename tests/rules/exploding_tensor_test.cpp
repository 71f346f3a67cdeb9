#include "tests/rules/process_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

class ExplodingTensor : public test::ProcessRule {
 protected:
  ExplodingTensor() : ProcessRule("exploding-tensor") {}
};

TEST_F(ExplodingTensor, NamesTheFirstTensorWithANan) {
  ProcessFacts facts = test::stepsOf({10, 10, 10});
  TensorFact& late = test::addTensor(facts, "fc2.weight", "weights", 2, 300);
  late.nans = 4;
  TensorFact& early = test::addTensor(facts, "fc1.weight", "gradients", 1, 150);
  early.nans = 2;
  early.infs = 1;
  test::addTensor(facts, "fc1.weight", "gradients", 2, 250);
  const Outcome outcome = judgeFacts(facts);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_THAT(outcome.message,
              HasSubstr("fc1.weight (gradients) has 2 NaN and 1 infinite of 100 elements in "
                        "iteration 1; 2 tensors are affected"));
  EXPECT_EQ(outcome.window, "iterations 1-2");
  EXPECT_EQ(outcome.samples, 3);
}

TEST_F(ExplodingTensor, AnInfiniteElementIsHealthyIfOnlyNanCounts) {
  ProcessFacts facts = test::stepsOf({10});
  test::addTensor(facts, "x", "inputs", 0, 5).infs = 1;
  EXPECT_EQ(judgeFacts(facts).verdict, Verdict::Fired);
  ASSERT_TRUE(parameters_.set("only_nan", std::int64_t{1}));
  EXPECT_EQ(judgeFacts(facts).verdict, Verdict::Pass);
}

// SageMaker Debugger's case: NaN at 0, finite at 1, NaN at 2.
TEST_F(ExplodingTensor, ANanBetweenFiniteRecordingsFiresFromEitherStart) {
  ProcessFacts facts = test::stepsOf({10, 10, 10});
  test::addTensor(facts, "x", "inputs", 0, 5).nans = 1;
  test::addTensor(facts, "x", "inputs", 1, 15);
  test::addTensor(facts, "x", "inputs", 2, 25).nans = 1;
  EXPECT_THAT(judgeFacts(facts).message, HasSubstr("in iteration 0"));
  ASSERT_TRUE(parameters_.set("warmup", std::int64_t{1}));
  EXPECT_EQ(judgeFacts(facts).verdict, Verdict::Fired);
  EXPECT_THAT(judgeFacts(facts).message, HasSubstr("in iteration 2"));
}

TEST_F(ExplodingTensor, ATensorOfAnOpenIterationIsNotSeenYet) {
  ProcessFacts facts = test::stepsOf({10, 10});
  test::addTensor(facts, "x", "inputs", 0, 5);
  test::addTensor(facts, "x", "inputs", 2, 25).nans = 1;
  EXPECT_EQ(judgeFacts(facts).verdict, Verdict::Pass);
  facts.steps.push_back({2, 20, 10, false});
  EXPECT_EQ(judgeFacts(facts).verdict, Verdict::Fired);
}

TEST_F(ExplodingTensor, WithoutTensorsItSaysWhatToRecord) {
  ProcessFacts facts = test::stepsOf({10});
  EXPECT_THAT(judgeFacts(facts).message, HasSubstr("--sources +tensor"));
  test::addTensor(facts, "x", "inputs", 0, 5);
  ASSERT_TRUE(parameters_.set("collection", "grad*"));
  const Outcome outcome = judgeFacts(facts);
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(outcome.message, HasSubstr("no tensor '*' of the collection 'grad*'"));
}

}  // namespace
}  // namespace sonde::rules
