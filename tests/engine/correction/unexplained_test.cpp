// The excess of corrected iterations over those of the same run with probes off.
#include "analysis/engine/correction/unexplained.h"

#include "analysis/model/words.h"
#include "tests/engine/correction/recorded_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace sonde::engine::correction {
namespace {

using ::testing::DoubleNear;

const std::int64_t kOff = model::probeBit("annotation");
const std::int64_t kOn = kOff | model::probeBit("io");

class UnexplainedTest : public RecordedRig {
 protected:
  // Blocks of five iterations, alternately on and off. An iteration without probes takes 10,000 ns
  // and up to 200 more; a recorded one takes 100 more for its event, and `more`.
  void run(int blocks, std::int64_t more, std::int64_t whileOff = 0) {
    trace_.add(model::Overhead{.probe = "io",
                               .api = "call",
                               .meanNs = 100,
                               .errorNs = 0,
                               .method = "micro-loop",
                               .beforeNs = 0,
                               .insideNs = 0,
                               .unrecordedNs = static_cast<double>(whileOff)});
    for (int block = 0; block < blocks; ++block)
      for (int number = 0; number < 5; ++number)
        iteration(block % 2 == 0, noise_(random_), more, whileOff);
  }
  // Adds short inner iterations to those with probes on.
  void withInnerIterations() { hasInner_ = true; }
  Unexplained unexplained() { return correction().unexplained; }

 private:
  void iteration(bool isOn, std::int64_t noise, std::int64_t more, std::int64_t whileOff) {
    const std::int64_t duration = 10'000 + noise + (isOn ? 100 + more : whileOff);
    if (isOn)
      trace_.slice(main_, SliceKind::Io, "read", {at_ + 1'000, at_ + 2'000}, {}, "io");
    const auto slice =
        trace_.slice(main_, SliceKind::Iteration, "i", {at_, at_ + duration}, {}, "annotation");
    trace_.add(model::Iteration{.processId = process_,
                                .number = number_++,
                                .startNs = at_,
                                .durNs = duration,
                                .probeMask = isOn ? kOn : kOff,
                                .sliceId = slice});
    if (hasInner_ && isOn)
      trace_.add(model::Iteration{.processId = process_,
                                  .number = number_++,
                                  .startNs = at_ + 10,
                                  .durNs = 100,
                                  .probeMask = kOn,
                                  .sliceId = slice});
    at_ += duration + 10;
  }

  std::mt19937 random_{7};
  std::uniform_int_distribution<std::int64_t> noise_{0, 200};
  std::int64_t at_ = 1'000;
  std::int64_t number_ = 0;
  bool hasInner_ = false;
};

TEST_F(UnexplainedTest, IsNothingWhereEventsAccountForAll) {
  run(160, 0);
  EXPECT_THAT(unexplained().share, DoubleNear(0, 0.002));
  EXPECT_GT(unexplained().error, 0);
  EXPECT_FALSE(unexplained().isCertain());
}

TEST_F(UnexplainedTest, IsWhatNoEventAccountsFor) {
  run(160, 600);
  EXPECT_THAT(unexplained().share, DoubleNear(600 / 10'700.0, 0.003));
  EXPECT_TRUE(unexplained().isCertain());
}

TEST_F(UnexplainedTest, IsOfTheOutermostIterations) {
  withInnerIterations();
  run(160, 600);
  EXPECT_THAT(unexplained().share, DoubleNear(600 / 10'700.0, 0.003));
}

TEST_F(UnexplainedTest, IsNegativeWhereTooMuchWasTakenOut) {
  run(160, -600);
  EXPECT_THAT(unexplained().share, DoubleNear(-600 / 9'500.0, 0.003));
  EXPECT_TRUE(unexplained().isCertain());
}

// Calls prolong iterations with probes off, too; that is not a part of it.
TEST_F(UnexplainedTest, LeavesOutWhatCallsCostWhileTheirProbeIsOff) {
  run(160, 0, 50);
  EXPECT_THAT(unexplained().share, DoubleNear(0, 0.002));
}

TEST_F(UnexplainedTest, IsNotKnownOfAFewBlocks) {
  run(30, 600);
  EXPECT_EQ(unexplained().error, 0);
  EXPECT_EQ(unexplained().share, 0);
}

TEST_F(UnexplainedTest, IsNotKnownWhereNothingWasSwitched) {
  iterations(1'000);
  EXPECT_EQ(unexplained().error, 0);
}

TEST_F(UnexplainedTest, TheRecordersOfAHostAddUp) {
  trace_.meta("recorder_beside_ppm", "12000");
  iterations(1'000);
  EXPECT_DOUBLE_EQ(unexplained().recorder, 0.012);
}

TEST_F(UnexplainedTest, OfSeveralHostsTheRecordersMeanCounts) {
  trace_.add(model::Host{.name = "i", .bootId = "c"});
  trace_.meta("recorder_beside_ppm", "12000");
  iterations(1'000);
  EXPECT_DOUBLE_EQ(unexplained().recorder, 0.006);
}

// The recorder's time only lowers the bound: no time was longer than recorded.
TEST(ErrorIntervalTest, ReachesDownByWhatTheRecorderTook) {
  ErrorInterval interval(1'000, 1'000);
  interval.add(Unexplained{.recorder = 0.02});
  EXPECT_EQ(interval.lowNs(), 980);
  EXPECT_EQ(interval.highNs(), 1'000);
}

TEST(ErrorIntervalTest, HoldsWhatIsNotExplainedAndTheRecorder) {
  ErrorInterval interval(1'000, 900);
  interval.add(Unexplained{0.1, 0.01, 0.02});
  EXPECT_EQ(interval.lowNs(), 900 - 108 - 18);
}

TEST(ErrorIntervalTest, HoldsWhatIsNotExplained) {
  ErrorInterval interval(1'000, 900);
  interval.add(910, 890);
  interval.add(Unexplained{0.1, 0.01});
  EXPECT_EQ(interval.lowNs(), 900 - 108);
  EXPECT_EQ(interval.highNs(), 920);
}

TEST(ErrorIntervalTest, DoesNotHoldWhatMayBeChance) {
  ErrorInterval interval(1'000, 900);
  interval.add(910, 890);
  interval.add(Unexplained{0.1, 0.06});
  EXPECT_EQ(interval.lowNs(), 880);
}

// The run was faster with recording.
TEST(ErrorIntervalTest, ReachesBeyondWhatWasRecordedWhereTheRunSaysSo) {
  ErrorInterval interval(1'000, 1'000);
  interval.add(Unexplained{-0.1, 0.01});
  EXPECT_EQ(interval.lowNs(), 1'000);
  EXPECT_EQ(interval.highNs(), 1'120);
}

}  // namespace
}  // namespace sonde::engine::correction
