#include "session/recorder_share.h"

#include <gtest/gtest.h>

#include <optional>

namespace sonde::session {
namespace {

TEST(RecorderShare, IsOfTheJobsTime) {
  RecorderShare share;
  share.jobBegins({1'000, 500});
  EXPECT_EQ(share.ppm(), std::nullopt) << "the job runs";
  share.jobEnds({2'000, 520});
  EXPECT_EQ(share.ppm(), 20'000);
}

TEST(RecorderShare, GoesOnToTheLastEndOfSeveralProcesses) {
  RecorderShare share;
  share.jobBegins({0, 0});
  share.jobEnds({1'000, 500});
  share.jobEnds({4'000, 1'000});
  EXPECT_EQ(share.ppm(), 250'000);
}

TEST(RecorderShare, IsNotOfTheTimeInWhichItStored) {
  RecorderShare share;
  share.jobBegins({0, 0});
  share.storingBegins({1'000, 10});
  share.storingEnds(true, {2'000, 810});
  share.storingBegins({2'500, 815});
  share.storingEnds(false, {2'600, 825});
  share.jobEnds({3'000, 830});
  EXPECT_EQ(share.ppm(), 15'000) << "30 of 2000";
}

TEST(RecorderShare, IsNotOfStoringThatGoesOnBeyondTheEnd) {
  RecorderShare share;
  share.jobBegins({0, 0});
  share.storingBegins({1'000, 10});
  share.jobEnds({2'000, 900});
  share.storingEnds(true, {9'000, 7'000});
  EXPECT_EQ(share.ppm(), 10'000);
}

}  // namespace
}  // namespace sonde::session
