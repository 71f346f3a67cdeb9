#include "analysis/engine/models/collective_model.h"

#include "analysis/engine/models/fit_collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <vector>

namespace sonde::engine::models {
namespace {

constexpr double kStepNs = 20'000;
constexpr double kByteNs = 0.01;

double ringNs(const CollectiveCost& cost) {
  return kStepNs * cost.steps + kByteNs * cost.bytes;
}

CollectivePoint pointOf(std::int64_t bytes, std::int64_t ranks) {
  const CollectiveCost cost = costOf("allreduce", bytes, ranks);
  return {cost, ringNs(cost), 1, ranks};
}

std::vector<CollectivePoint> pointsOf(std::initializer_list<std::int64_t> sizes,
                                      std::initializer_list<std::int64_t> ranks) {
  std::vector<CollectivePoint> points;
  for (const std::int64_t ofRanks : ranks)
    for (const std::int64_t size : sizes)
      points.push_back(pointOf(size, ofRanks));
  return points;
}

// A library that needs as long to start for all rank counts, and copies the buffer.
std::vector<CollectivePoint> withCallsAndCopies(std::vector<CollectivePoint> points) {
  for (CollectivePoint& each : points)
    each.ns += 50'000 * each.cost.calls + 0.005 * each.cost.payload;
  return points;
}

constexpr std::int64_t kMiB = 1 << 20;

TEST(CollectiveModel, FindsTheRing) {
  const CollectiveModel model = fitCollectives(pointsOf({kMiB, 8 * kMiB, 64 * kMiB}, {4}));
  EXPECT_NEAR(model.stepNs, kStepNs, 1);
  EXPECT_NEAR(model.byteNs, kByteNs, 1e-6);
  EXPECT_EQ(model.callNs, 0);
  EXPECT_EQ(model.payloadNs, 0);
  EXPECT_TRUE(model.isErrorMeasured);
  EXPECT_NEAR(model.error, 0, 1e-6);
  EXPECT_NEAR(model.interval(4 * kMiB, 4), 0, 1e-6);
  EXPECT_NEAR(model.ns("allreduce", 4 * kMiB, 8), pointOf(4 * kMiB, 8).ns, 10);
}

// A job that is asked how long it would take on one rank.
TEST(CollectiveModel, TakesNoTimeOnOneRank) {
  const auto sizes = {kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB};
  const CollectiveModel model = fitCollectives(withCallsAndCopies(pointsOf(sizes, {2, 4})));
  for (const char* op : {"allreduce", "allgather", "broadcast"}) {
    EXPECT_GT(model.ns(op, kMiB, 2), 0) << op;
    EXPECT_EQ(model.ns(op, kMiB, 1), 0) << op;
  }
}

TEST(CollectiveModel, CannotTellLatencyFromBandwidthByOneSize) {
  const CollectiveModel model = fitCollectives(pointsOf({kMiB}, {4}));
  EXPECT_EQ(model.stepNs, 0);
  EXPECT_NEAR(model.ns("allreduce", kMiB, 4), pointOf(kMiB, 4).ns, 1e-3);
  EXPECT_FALSE(model.isErrorMeasured);
  EXPECT_EQ(model.error, 0.5);
  EXPECT_NEAR(model.interval(kMiB, 4), 1, 1e-9);
}

TEST(CollectiveModel, AssumesItsErrorOnTwoSizes) {
  const CollectiveModel model = fitCollectives(pointsOf({kMiB, 8 * kMiB}, {4}));
  EXPECT_NEAR(model.stepNs, kStepNs, 1);
  EXPECT_FALSE(model.isErrorMeasured);
  EXPECT_EQ(model.error, 0.1);
  EXPECT_NEAR(model.interval(2 * kMiB, 4), 0.2, 1e-9);
}

// The tail of a job's buckets: without it, the two others do not tell α from β.
TEST(CollectiveModel, LeavesOutNoPointThatItNeeds) {
  std::vector<CollectivePoint> points = pointsOf({1000, 8 * kMiB}, {4});
  CollectivePoint both = points.back();
  both.cost += both.cost;
  both.ns *= 2.2;  // slower together
  points.push_back(both);
  const CollectiveModel model = fitCollectives(points);
  EXPECT_TRUE(model.isErrorMeasured);
  EXPECT_NEAR(model.error, 0.1, 0.02);
}

TEST(CollectiveModel, IsWrongByItsErrorOnPointsLeftOut) {
  std::vector<CollectivePoint> points = pointsOf({kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB}, {4});
  points[1].ns *= 1.3;
  const CollectiveModel model = fitCollectives(points);
  double fitted = 0;
  for (const CollectivePoint& each : points)
    fitted += std::abs(model.ns(each.cost) / each.ns - 1) / static_cast<double>(points.size());
  EXPECT_GT(model.error, 1.2 * fitted);
  EXPECT_GT(model.interval(4 * kMiB, 4), 0.2);
  EXPECT_GT(model.interval(256 * kMiB, 4), 1.7 * model.interval(4 * kMiB, 4));
}

TEST(CollectiveModel, WeighsPointsByTheirNumber) {
  std::vector<CollectivePoint> points = pointsOf({kMiB, kMiB + 4}, {4});
  points[0].weight = 99;
  points[1].ns *= 2;
  EXPECT_LT(fitCollectives(points).ns("allreduce", kMiB, 4), 1.05 * points[0].ns);
}

// Smaller collectives took longer: only a latency explains them.
TEST(CollectiveModel, HasNoNegativeParameters) {
  std::vector<CollectivePoint> points = pointsOf({kMiB, 2 * kMiB, 4 * kMiB}, {4});
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i].ns = 1e6 - 1e5 * static_cast<double>(i);
  const CollectiveModel model = fitCollectives(points);
  EXPECT_EQ(model.byteNs, 0);
  EXPECT_GT(model.stepNs, 0);
}

TEST(CollectiveModel, FindsCallsAndCopiesByTwoRankCounts) {
  const auto sizes = {kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB};
  const CollectiveModel model = fitCollectives(withCallsAndCopies(pointsOf(sizes, {2, 4})));
  const CollectivePoint truth = withCallsAndCopies({pointOf(8 * kMiB, 8)}).front();
  EXPECT_NEAR(model.ns(truth.cost) / truth.ns, 1, 1e-6);
  EXPECT_NEAR(model.callNs, 50'000, 10);
  EXPECT_NEAR(model.payloadNs, 0.005, 1e-6);
}

// Two rank counts cannot vouch for a third: a ring fitted to either is wrong about the other.
TEST(CollectiveModel, IsLessSureOfOtherRankCounts) {
  const auto sizes = {kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB};
  const CollectiveModel model = fitCollectives(withCallsAndCopies(pointsOf(sizes, {2, 4})));
  EXPECT_LT(model.interval(8 * kMiB, 4), 0.01);
  EXPECT_GT(model.interval(8 * kMiB, 8), 0.1);
  EXPECT_GT(model.interval(kMiB, 8), model.interval(64 * kMiB, 8));
  const CollectiveModel one = fitCollectives(pointsOf(sizes, {2}));
  EXPECT_NEAR(one.interval(8 * kMiB, 8), 1.5, 1e-9);
}

TEST(CollectiveModel, KeepsTheRingIfItExplainsAllRankCounts) {
  const CollectiveModel model = fitCollectives(pointsOf({kMiB, 4 * kMiB, 16 * kMiB}, {2, 4, 8}));
  EXPECT_EQ(model.callNs, 0);
  EXPECT_EQ(model.payloadNs, 0);
  EXPECT_NEAR(model.interval(4 * kMiB, 16), 0, 1e-6);
}

}  // namespace
}  // namespace sonde::engine::models
