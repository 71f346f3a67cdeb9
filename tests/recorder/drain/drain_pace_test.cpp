#include "recorder/drain/drain_pace.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace sonde::recorder {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kLimit = 1024;
constexpr std::uint64_t kWait = 128;

DrainProgress found(std::uint64_t bytes, std::uint64_t waiting = 0) {
  DrainProgress progress;
  progress.bytes = bytes;
  progress.waitingBytes = waiting;
  return progress;
}

TEST(DrainPace, LooksMoreOftenTheMoreThereIs) {
  DrainPace pace(kLimit, kWait, false);
  EXPECT_EQ(pace.after(found(0)), milliseconds(500));
  EXPECT_EQ(pace.after(found(31)), milliseconds(250));
  EXPECT_EQ(pace.after(found(32)), milliseconds(25));
}

TEST(DrainPace, WaitsForWhatIsToBeStoredTogether) {
  DrainPace pace(kLimit, kWait, false);
  EXPECT_EQ(pace.after(found(0, 63)), milliseconds(250));
  EXPECT_EQ(pace.after(found(0, 64)), milliseconds(25));
}

TEST(DrainPace, GivesWayUntilItIsBehindAndAgainWhenItHasCaughtUp) {
  DrainPace pace(kLimit, kWait, false);
  EXPECT_TRUE(pace.givesWay());
  pace.after(found(kWait + 64));
  EXPECT_TRUE(pace.givesWay());
  pace.after(found(kWait + 65));
  EXPECT_TRUE(pace.isBehind());
  EXPECT_FALSE(pace.givesWay());
  pace.after(found(9));
  EXPECT_FALSE(pace.givesWay());
  pace.after(found(8));
  EXPECT_TRUE(pace.givesWay());
}

TEST(DrainPace, OfARingIsNeitherNiceNorRare) {
  DrainPace pace(kLimit, 0, true);
  EXPECT_FALSE(pace.givesWay());
  EXPECT_EQ(pace.after(found(0)), milliseconds(100));
  EXPECT_EQ(pace.after(found(1)), milliseconds(25));
}

TEST(DrainPace, LetsAPartOfTheSpoolWaitAndOfASmallTraceLess) {
  EXPECT_EQ(bytesThatWait(kLimit, 0), 128U);
  EXPECT_EQ(bytesThatWait(kLimit, 640), 10U);
  EXPECT_EQ(bytesThatWait(kLimit, 1'000'000), 128U);
}

}  // namespace
}  // namespace sonde::recorder
