#include "recorder/options/capture_schedule.h"

#include <gtest/gtest.h>

namespace sonde::recorder {
namespace {

TEST(CaptureSchedule, IsOnFromTheStartWithoutTimes) {
  CaptureSchedule schedule({}, 100);
  EXPECT_TRUE(schedule.isOn());
  EXPECT_FALSE(schedule.nextNs());
  EXPECT_FALSE(schedule.advance(1 << 30));
}

TEST(CaptureSchedule, TheDurationBeginsWhenTheDelayHasPassed) {
  CaptureSchedule schedule({.delayNs = 50, .durationNs = 30}, 100);
  EXPECT_FALSE(schedule.isOn());
  EXPECT_TRUE(schedule.isWaiting());
  EXPECT_FALSE(schedule.advance(149));
  EXPECT_EQ(schedule.nextNs(), 150);
  EXPECT_TRUE(schedule.advance(155));
  EXPECT_TRUE(schedule.isOn());
  EXPECT_FALSE(schedule.isWaiting());
  EXPECT_EQ(schedule.nextNs(), 185) << "a late start shortens nothing";
  EXPECT_FALSE(schedule.advance(184));
  EXPECT_TRUE(schedule.advance(185));
  EXPECT_FALSE(schedule.isOn());
  EXPECT_FALSE(schedule.nextNs());
}

TEST(CaptureSchedule, WhoeverAsksEndsTheDelayOrTheDuration) {
  CaptureSchedule early({.delayNs = 50, .durationNs = 30}, 100);
  EXPECT_TRUE(early.set(true, 110));
  EXPECT_EQ(early.nextNs(), 140);
  EXPECT_FALSE(early.set(true, 120)) << "it is on already";
  EXPECT_EQ(early.nextNs(), 140);
  EXPECT_TRUE(early.set(false, 120));
  EXPECT_FALSE(early.nextNs());
  EXPECT_TRUE(early.set(true, 130));
  EXPECT_FALSE(early.nextNs()) << "the duration is over";

  CaptureSchedule refused({.delayNs = 50, .durationNs = {}}, 100);
  EXPECT_FALSE(refused.set(false, 110)) << "it is off already";
  EXPECT_FALSE(refused.advance(1000)) << "but is not to go on by itself";
  EXPECT_FALSE(refused.isWaiting());
}

}  // namespace
}  // namespace sonde::recorder
