#include "tests/rules/training/tensor_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

class WeightUpdateRatio : public test::TensorRule {
 protected:
  WeightUpdateRatio() : TensorRule("weight-update-ratio") { set("epsilon", 0.0); }

  void save(std::int64_t iteration, const std::vector<double>& values) {
    test::addSaved(facts_, "w", "weights", iteration, values, "2,");
  }
};

TEST_F(WeightUpdateRatio, SavedTensorsGiveTheRatio) {
  save(0, {3, 4});
  save(1, {3, 9});  // by 5 of 5
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Pass);
  EXPECT_DOUBLE_EQ(*outcome.value, 1);
  EXPECT_EQ(outcome.message, "w (weights) changed by 1 of its norm from iteration 0 to 1");
}

TEST_F(WeightUpdateRatio, FiresOutsideOfTheBoundsButNotAtThem) {
  save(0, {3, 4});
  save(1, {3, 9});
  set("large_threshold", 1.0);
  EXPECT_EQ(verdict(), Verdict::Pass);
  set("large_threshold", 0.999);
  EXPECT_EQ(verdict(), Verdict::Fired);
  set("large_threshold", 10.0);
  set("small_threshold", 1.0);
  EXPECT_EQ(verdict(), Verdict::Pass);
  set("small_threshold", 1.001);
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(WeightUpdateRatio, ASavedWeightThatStaysFires) {
  save(0, {3, 4});
  save(1, {3, 4});
  EXPECT_EQ(verdict(), Verdict::Fired);
  save(2, {3.1, 4});  // does not latch
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(WeightUpdateRatio, AChangeWithTheSameStatisticsIsSeenInSavedTensors) {
  save(0, {3, 4});
  save(1, {4, 3});
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(WeightUpdateRatio, EpsilonIsAddedToTheOlderNorm) {
  set("epsilon", 5.0);
  save(0, {0, 0});
  save(1, {3, 4});
  EXPECT_DOUBLE_EQ(*judgeFacts(facts_).value, 1);
}

TEST_F(WeightUpdateRatio, StatisticsDecideIfTheirBoundsDo) {
  test::addValues(facts_, "w", "weights", 0, {3, 4});
  test::addValues(facts_, "w", "weights", 1, {3, 4.5});
  EXPECT_EQ(verdict(), Verdict::Pass);  // at least 0.1, at most 2.1
  set("large_threshold", 2.0);
  EXPECT_EQ(verdict(), Verdict::Insufficient);
  set("large_threshold", 10.0);
  test::addValues(facts_, "w", "weights", 2, {3, 400});
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_THAT(outcome.message, HasSubstr("changed by at least 73.1 of its norm"));
}

TEST_F(WeightUpdateRatio, EqualStatisticsAskForSavedTensors) {
  test::addValues(facts_, "w", "weights", 0, {3, 4});
  test::addValues(facts_, "w", "weights", 1, {4, 3});
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(outcome.message, HasSubstr("save = true in the --tensors file"));
  EXPECT_TRUE(outcome.inputMissing);
}

TEST_F(WeightUpdateRatio, IsInsufficientWithOneRecordingANanOrAnUnreadableFile) {
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
  save(0, {3, 4});
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("was recorded once, in iteration 0"));
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
  save(1, {3, std::nan("")});
  EXPECT_EQ(verdict(), Verdict::Insufficient);
  save(2, {3, 5});
  EXPECT_EQ(verdict(), Verdict::Insufficient);
  save(3, {3, 6});
  EXPECT_EQ(verdict(), Verdict::Pass);
  facts_.folder /= "elsewhere";
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("by at least"));  // by the statistics
  EXPECT_EQ(verdict(), Verdict::Pass);
  test::addValues(facts_, "w", "weights", 4, {3, 6}).file = "saved.npy";
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("w (weights) cannot be read: cannot open"));
}

}  // namespace
}  // namespace sonde::rules
