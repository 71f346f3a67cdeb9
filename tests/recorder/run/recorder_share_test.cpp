#include "recorder/run/recorder_share.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace sonde::recorder {
namespace {

constexpr std::int64_t kMs = 1'000'000;

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
  share.storingBegins({10 * kMs, 100});
  share.storingEnds(true, {20 * kMs, 8 * kMs});
  share.storingBegins({25 * kMs, 8 * kMs});
  share.storingEnds(false, {28 * kMs, 9 * kMs});
  share.jobEnds({30 * kMs, 9 * kMs});
  EXPECT_EQ(share.ppm(), 50'005) << "1 ms and 100 ns of 20 ms";
}

TEST(RecorderShare, IsOfAShortLookThatStoresLittle) {
  RecorderShare share;
  share.jobBegins({0, 0});
  share.storingBegins({kMs, 0});
  share.storingEnds(true, {2 * kMs - 1, kMs / 2});
  share.jobEnds({10 * kMs, kMs / 2});
  EXPECT_EQ(share.ppm(), 50'000);
}

TEST(RecorderShare, IsNotOfStoringThatGoesOnBeyondTheEnd) {
  RecorderShare share;
  share.jobBegins({0, 0});
  share.storingBegins({10 * kMs, 100'000});
  share.jobEnds({20 * kMs, 9 * kMs});
  share.storingEnds(true, {90 * kMs, 70 * kMs});
  EXPECT_EQ(share.ppm(), 10'000);
}

}  // namespace
}  // namespace sonde::recorder
