#include "analysis/engine/retime/lane_times.h"

#include <gtest/gtest.h>

namespace sonde::engine::retime {
namespace {

// Two nodes, of which the second one begins later now, and takes twice as long.
LaneTimes twoNodes() {
  LaneTimes lane;
  lane.addNode({100, 200}, {110, 210});
  lane.addNode({200, 300}, {250, 450});
  return lane;
}

TEST(LaneTimes, MoveInProportionInsideOfANode) {
  EXPECT_EQ(twoNodes().beginAt(150), 160);
  EXPECT_EQ(twoNodes().endAt(225), 300);
}

TEST(LaneTimes, NodesThatComeApartEndAndBeginAtDifferentTimes) {
  EXPECT_EQ(twoNodes().endAt(200), 210);
  EXPECT_EQ(twoNodes().beginAt(200), 250);
}

TEST(LaneTimes, MoveWithTheNearestNodeOutside) {
  EXPECT_EQ(twoNodes().beginAt(40), 50);
  EXPECT_EQ(twoNodes().endAt(320), 470);
}

TEST(LaneTimes, IdleTimeIsStretched) {
  LaneTimes lane;
  lane.addNode({0, 100}, {0, 100});
  lane.addNode({200, 300}, {120, 220});
  EXPECT_EQ(lane.endAt(150), 110);
  EXPECT_EQ(lane.endAt(200), 120);
}

TEST(LaneTimes, NeverChangeTheirOrder) {
  LaneTimes lane;
  lane.addNode({0, 100}, {0, 100});
  lane.addNode({100, 200}, {60, 160});
  EXPECT_EQ(lane.beginAt(100), 100);
  EXPECT_EQ(lane.endAt(200), 160);
  EXPECT_EQ(LaneTimes().beginAt(7), 7);
}

}  // namespace
}  // namespace sonde::engine::retime
