#include "tests/rules/process_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

// An iteration of 1000 ns for each training loss; each `every`-th has a validation loss, too.
ProcessFacts lossesOf(const std::vector<double>& training,
                      const std::vector<double>& validation,
                      std::int64_t every) {
  ProcessFacts facts = test::scalarOf("loss", training);
  std::int64_t at = every - 1;
  for (const double value : validation) {
    facts.scalars["val_loss"].values.push_back({at, value, 1});
    at += every;
  }
  return facts;
}

class Overfit : public test::ProcessRule {
 protected:
  Overfit() : ProcessRule("overfit") { EXPECT_TRUE(parameters_.set("ratio_threshold", 0.5)); }
};

TEST_F(Overfit, ComparesWithTheTrainingLossesSinceTheLastEvaluation) {
  const Outcome outcome = judgeFacts(lossesOf({9, 9, 1, 3}, {9, 4}, 2));  // 4 over 2
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*outcome.value, 1);
  EXPECT_EQ(outcome.message, "'val_loss' is 4, 100 % above the 2 of 'loss' at iteration 3");
  EXPECT_EQ(judgeFacts(lossesOf({9, 9, 3, 3}, {9, 2}, 2)).verdict, Verdict::Pass);
}

TEST_F(Overfit, TheThresholdItselfIsHealthy) {
  EXPECT_EQ(judgeFacts(lossesOf({2, 2}, {3}, 2)).verdict, Verdict::Pass);
  EXPECT_EQ(judgeFacts(lossesOf({2, 2}, {3.001}, 2)).verdict, Verdict::Fired);
}

TEST_F(Overfit, EachOfTheLastEvaluationsMustBeAbove) {
  ASSERT_TRUE(parameters_.set("evaluations", std::int64_t{2}));
  EXPECT_EQ(judgeFacts(lossesOf({1, 1, 1}, {1, 9, 9}, 1)).verdict, Verdict::Fired);
  EXPECT_EQ(judgeFacts(lossesOf({1, 1, 1}, {9, 1, 9}, 1)).verdict, Verdict::Pass);
  const Outcome few = judgeFacts(lossesOf({1, 1}, {9}, 1));
  EXPECT_EQ(few.verdict, Verdict::Insufficient);
  EXPECT_THAT(few.message, HasSubstr("1 values of 'val_loss' with 'loss' before them, but 2"));
}

TEST_F(Overfit, DoesNotLatch) {
  EXPECT_EQ(judgeFacts(lossesOf({1, 1}, {9}, 1)).verdict, Verdict::Fired);
  EXPECT_EQ(judgeFacts(lossesOf({1, 1}, {9, 1}, 1)).verdict, Verdict::Pass);
}

TEST_F(Overfit, ANanALossOfZeroOrAMissingScalarNeverPasses) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_EQ(judgeFacts(lossesOf({1, 1}, {1, bad}, 1)).verdict, Verdict::Insufficient);
    EXPECT_EQ(judgeFacts(lossesOf({1, bad}, {1, 1}, 1)).verdict, Verdict::Insufficient);
  }
  EXPECT_THAT(judgeFacts(lossesOf({0}, {1}, 1)).message, HasSubstr("'loss' is 0 at iteration 0"));
  const Outcome missing = judgeFacts(lossesOf({1, 1}, {}, 1));
  EXPECT_TRUE(missing.inputMissing);
  EXPECT_THAT(missing.message, HasSubstr("no scalar 'val_loss' in 2 iterations"));
}

class Overtraining : public test::ProcessRule {
 protected:
  Overtraining() : ProcessRule("overtraining") {
    EXPECT_TRUE(parameters_.set("block", std::int64_t{2}));
    EXPECT_TRUE(parameters_.set("patience_train", std::int64_t{2}));
    EXPECT_TRUE(parameters_.set("patience_validation", std::int64_t{3}));
    EXPECT_TRUE(parameters_.set("delta", 0.25));
  }
};

TEST_F(Overtraining, ValidationWithoutANewOptimumFires) {
  const Outcome outcome = judgeFacts(lossesOf({8, 7, 6, 5, 4, 3}, {2, 1, 1.5, 0.875, 3}, 1));
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message, "the last 3 values of 'val_loss' are 0.125 below the best before, 1");
}

TEST_F(Overtraining, AnImprovementByDeltaIsHealthy) {
  EXPECT_EQ(judgeFacts(lossesOf({8, 7, 6, 5, 4, 3}, {1, 2, 0.75, 3}, 1)).verdict, Verdict::Pass);
  EXPECT_EQ(judgeFacts(lossesOf({8, 7, 6, 5, 4, 3}, {1, 2, 0.76, 3}, 1)).verdict, Verdict::Fired);
}

TEST_F(Overtraining, TrainingLossesCountInBlocks) {
  // Means 4, 4.5, 4 of three blocks; the last loss is in no complete one.
  const Outcome outcome = judgeFacts(lossesOf({5, 3, 8, 1, 6, 2, 0}, {}, 1));
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message,
            "the last 2 means of 2 values of 'loss' are 0 below the best before, 4");
  EXPECT_EQ(judgeFacts(lossesOf({5, 3, 8, 1, 6, 1.5, 0}, {}, 1)).verdict, Verdict::Pass);
}

TEST_F(Overtraining, DoesNotLatch) {
  EXPECT_EQ(judgeFacts(lossesOf({8, 7, 6, 5, 4, 3}, {1, 2, 3, 4}, 1)).verdict, Verdict::Fired);
  EXPECT_EQ(judgeFacts(lossesOf({8, 7, 6, 5, 4, 3}, {1, 2, 3, 4, 0.5}, 1)).verdict, Verdict::Pass);
}

TEST_F(Overtraining, IsInsufficientWithFewValuesOrNan) {
  const Outcome few = judgeFacts(lossesOf({5, 4, 3, 2}, {3, 2, 1}, 1));
  EXPECT_EQ(few.verdict, Verdict::Insufficient);
  EXPECT_EQ(
      few.message,
      "3 values of 'val_loss', but 4 are needed; 2 means of 2 values of 'loss', but 3 are needed");
  EXPECT_FALSE(few.inputMissing);
  EXPECT_TRUE(judgeFacts(lossesOf({5, 4, 3, 2}, {}, 1)).inputMissing);
  EXPECT_EQ(judgeFacts(lossesOf({8, 7, 6, 5, 4, 3}, {1, std::nan(""), 0.5, 0.2}, 1)).verdict,
            Verdict::Insufficient);
  EXPECT_TRUE(judgeFacts(test::scalarOf("x", {1, 2})).inputMissing);
}

}  // namespace
}  // namespace sonde::rules
