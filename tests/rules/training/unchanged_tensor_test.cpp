#include "tests/rules/training/tensor_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

class UnchangedTensor : public test::TensorRule {
 protected:
  UnchangedTensor() : TensorRule("unchanged-tensor") {}

  void add(std::int64_t iteration, const std::vector<double>& values) {
    test::addValues(facts_, "w", "weights", iteration, values);
  }
  void save(std::int64_t iteration, const std::vector<double>& values) {
    test::addSaved(facts_, "w", "weights", iteration, values, "2,");
  }
};

// SageMaker Debugger's case: ones of shape (10, 3, 2) at 0, 1, 2.
TEST_F(UnchangedTensor, OnesFireAtTheThirdRecording) {
  const std::vector<double> ones(60, 1.0);
  add(0, ones);
  EXPECT_EQ(verdict(), Verdict::Insufficient);
  add(1, ones);
  EXPECT_EQ(verdict(), Verdict::Insufficient);
  EXPECT_THAT(judgeFacts(facts_).message,
              HasSubstr("has 2 of the 3 recordings that are needed: record it more often"));
  add(2, ones);
  EXPECT_EQ(verdict(), Verdict::Fired);
  EXPECT_EQ(judgeFacts(facts_).message,
            "w (weights) kept all its statistics in its last 3 recordings, iterations 0-2");
}

TEST_F(UnchangedTensor, ATensorSeenOnceNeverFires) {
  add(5, std::vector<double>(60, 1.0));
  EXPECT_EQ(verdict(), Verdict::Insufficient);
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
}

TEST_F(UnchangedTensor, TheLastRecordingsCountWhateverTheirDistance) {
  add(0, {1, 2});
  add(1, {1, 3});
  add(7, {1, 3});
  EXPECT_EQ(verdict(), Verdict::Pass);
  add(19, {1, 3});
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(UnchangedTensor, SavedTensorsAreComparedByElement) {
  save(0, {1, 2});
  save(1, {2, 1});
  save(2, {1, 2});
  EXPECT_EQ(verdict(), Verdict::Pass);
  save(3, {1, 2});
  save(4, {1, 2});
  EXPECT_EQ(verdict(), Verdict::Fired);
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("did not change"));
}

TEST_F(UnchangedTensor, StatisticsCannotSeeElementsThatChangePlaces) {
  add(0, {1, 2});
  add(1, {2, 1});
  add(2, {1, 2});
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(UnchangedTensor, TheToleranceIsThatOfAllclose) {
  set("num_steps", std::int64_t{2});
  set("rtol", 0.25);
  set("atol", 0.5);
  save(0, {4, 8});
  save(1, {4, 10.5});  // 0.5 + 0.25 · 8
  EXPECT_EQ(verdict(), Verdict::Fired);
  save(2, {4, 8});
  save(3, {4, 10.75});
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(UnchangedTensor, AStatisticBeyondTheToleranceProvesAChange) {
  set("num_steps", std::int64_t{2});
  set("rtol", 0.0);
  set("atol", 0.5);
  add(0, {4, 8});
  add(1, {4, 8.5});
  EXPECT_EQ(verdict(), Verdict::Fired);
  add(2, {4, 9.25});
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(UnchangedTensor, ANanNeverPassesNorDoesAMissingFile) {
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
  add(0, {1, std::nan("")});
  add(1, {1, 2});
  add(2, {1, 3});
  EXPECT_EQ(verdict(), Verdict::Insufficient);
  for (const std::int64_t iteration : {3, 4, 5})
    save(iteration, {1, 2});
  facts_.folder /= "elsewhere";
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace sonde::rules
