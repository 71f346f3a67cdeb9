#include "analysis/engine/align/difference_constraints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::align {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(DifferenceConstraints, TheShortestWayBoundsAVariable) {
  // Directly x2 is in [−10, 10]; by way of x1 in [1, 5].
  const Ranges found =
      solve(3, {{2, 0, 10}, {0, 2, 10}, {1, 0, 2}, {0, 1, 0}, {2, 1, 3}, {1, 2, -1}});
  EXPECT_EQ(found.ranges[1].lowest, 0);
  EXPECT_EQ(found.ranges[1].highest, 2);
  EXPECT_EQ(found.ranges[2].lowest, 1);
  EXPECT_EQ(found.ranges[2].highest, 5);
  EXPECT_EQ(found.ranges[2].centre(), 3);
  EXPECT_EQ(found.ranges[2].halfWidth(), 2);
  EXPECT_EQ(found.raisedBy, 0);
  EXPECT_THAT(found.contradiction, IsEmpty());
}

TEST(DifferenceConstraints, AVariableWithoutAWayIsUnbounded) {
  const Ranges found = solve(3, {{1, 0, 7}});
  EXPECT_FALSE(found.ranges[1].isBounded());
  EXPECT_EQ(found.ranges[1].highest, 7);
  EXPECT_FALSE(found.ranges[2].isBounded());
  EXPECT_TRUE(found.ranges[0].isBounded());
}

TEST(DifferenceConstraints, AContradictionIsRelaxedByItsMean) {
  // x1 ≤ 5 and x1 ≥ 15; another pair agrees.
  const Ranges found = solve(3, {{1, 0, 5}, {0, 1, -15}, {2, 0, 1}, {0, 2, 1}});
  EXPECT_NEAR(found.raisedBy, 5, 0.1);
  EXPECT_NEAR(found.ranges[1].centre(), 10, 0.1);
  ASSERT_THAT(found.contradiction, SizeIs(2));
  EXPECT_NEAR(found.contradiction[0].limit + found.contradiction[1].limit, -10, 1e-9);
}

TEST(DifferenceConstraints, TheWorstOfTwoContradictionsIsNamed) {
  const Ranges found =
      solve(4, {{1, 0, -1}, {0, 1, -1}, {2, 1, 0}, {3, 2, -50}, {2, 3, -50}, {1, 2, 100}});
  EXPECT_NEAR(found.raisedBy, 50, 0.1);
  for (const Constraint& each : found.contradiction)
    EXPECT_EQ(each.limit, -50);
}

// Contradictions of hosts that nothing connects with the reference do not matter.
TEST(DifferenceConstraints, IgnoresContradictionsElsewhere) {
  EXPECT_EQ(solve(4, {{1, 0, 5}, {0, 1, 5}, {2, 3, -1}, {3, 2, -1}}).raisedBy, 0);
}

}  // namespace
}  // namespace sonde::engine::align
