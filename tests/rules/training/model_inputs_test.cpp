#include "tests/rules/training/tensor_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

class CheckInputImages : public test::TensorRule {
 protected:
  CheckInputImages() : TensorRule("check-input-images") {
    set("threshold_samples", std::int64_t{2});
    set("threshold_mean", 0.5);
  }
};

TEST_F(CheckInputImages, SavedImagesAreJudgedByChannel) {
  // Two images of two channels: the means are 1 and -1.
  test::addSaved(facts_, "Net.0", "inputs", 0, {1, 1, -1, -1, 1, 1, -1, -1}, "2,2,1,2,");
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message, "Net.0 (inputs) has the mean 1 in channel 0 of 2 images");
  set("channel_axis", std::int64_t{3});
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(CheckInputImages, TheThresholdItselfIsHealthy) {
  test::addSaved(facts_, "Net.0", "inputs", 0, {-0.5, 0.25, -0.5, 0.25}, "2,2,1,1,");
  EXPECT_EQ(verdict(), Verdict::Pass);
  set("threshold_mean", 0.4999);
  EXPECT_EQ(verdict(), Verdict::Fired);
}

TEST_F(CheckInputImages, ImagesAddUpFromTheNewest) {
  test::addSaved(facts_, "Net.0", "inputs", 0, {99}, "1,1,1,1,");
  test::addSaved(facts_, "Net.0", "inputs", 1, {0.5}, "1,1,1,1,");
  test::addSaved(facts_, "Net.0", "inputs", 2, {-0.25}, "1,1,1,1,");
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Pass);
  EXPECT_DOUBLE_EQ(*outcome.value, 0.125);
  set("threshold_samples", std::int64_t{4});
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("has 3 images, but 4 are needed"));
}

TEST_F(CheckInputImages, StatisticsDecideForOneChannelOrAGreatMean) {
  test::addValues(facts_, "Net.0", "inputs", 0, {1, 1, 0, 2}).shape = "[2, 2, 1, 1]";
  EXPECT_EQ(verdict(), Verdict::Fired);
  test::addValues(facts_, "Net.0", "inputs", 1, {1, -1, 1, -1}).shape = "[2, 2, 1, 1]";
  Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(outcome.message, HasSubstr("save = true"));
  test::addValues(facts_, "Net.0", "inputs", 2, {1, -1, 1, -1}).shape = "[2, 1, 1, 2]";
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(CheckInputImages, IsSkippedWithoutImagesAndInsufficientWithoutInputsOrWithNan) {
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
  test::addValues(facts_, "Net.0", "inputs", 0, {1, 2});
  EXPECT_EQ(verdict(), Verdict::Skipped);
  test::addSaved(facts_, "Net.1", "inputs", 0, {0, std::nan("")}, "2,1,1,1,");
  EXPECT_EQ(verdict(), Verdict::Insufficient);
}

class NlpSequenceRatio : public test::TensorRule {
 protected:
  NlpSequenceRatio() : TensorRule("nlp-sequence-ratio") {}

  void tokens(std::int64_t iteration, const std::vector<double>& values) {
    test::addValues(facts_, "Net.0", "inputs", iteration, values).dtype = "int64";
  }
  void saveTokens(std::int64_t iteration, const std::vector<double>& values) {
    test::addSaved(facts_, "Net.0", "inputs", iteration, values, fmt::format("{},", values.size()))
        .dtype = "int64";
  }
};

TEST_F(NlpSequenceRatio, MorePaddingThanHalfFires) {
  tokens(0, {5, 0, 0, 0});
  const Outcome outcome = judgeFacts(facts_);
  EXPECT_EQ(outcome.verdict, Verdict::Fired);
  EXPECT_EQ(outcome.message, "75 % of Net.0 (inputs) are the token 0 in iteration 0");
  tokens(1, {5, 6, 0, 0});  // the share itself is healthy
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(NlpSequenceRatio, OtherTokensNeedSavedTensors) {
  set("token_values", std::string("0, 7"));
  set("token_shares", std::string("0.5,0.25"));
  tokens(0, {7, 7, 1, 0});
  const Outcome unsaved = judgeFacts(facts_);
  EXPECT_EQ(unsaved.verdict, Verdict::Insufficient);
  EXPECT_TRUE(unsaved.inputMissing);
  saveTokens(1, {7, 7, 1, 0});
  EXPECT_THAT(judgeFacts(facts_).message, HasSubstr("50 % of Net.0 (inputs) are the token 7"));
  EXPECT_EQ(verdict(), Verdict::Fired);
  saveTokens(2, {7, 1, 1, 0});
  EXPECT_EQ(verdict(), Verdict::Pass);
}

TEST_F(NlpSequenceRatio, ListsThatDoNotFitAreAnError) {
  tokens(0, {1, 2});
  for (const char* shares : {"", "0.5,", "a", "0.5 0.5", "0.5,0.5", "nan"}) {
    set("token_shares", std::string(shares));
    EXPECT_EQ(verdict(), Verdict::Error) << shares;
  }
}

TEST_F(NlpSequenceRatio, IsSkippedWithoutIntegersAndInsufficientWithoutInputs) {
  EXPECT_TRUE(judgeFacts(facts_).inputMissing);
  test::addValues(facts_, "Net.0", "inputs", 0, {0, 0});
  EXPECT_EQ(verdict(), Verdict::Skipped);
}

}  // namespace
}  // namespace sonde::rules
