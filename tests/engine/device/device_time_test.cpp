#include "analysis/engine/device/device_time.h"

#include "tests/engine/device/device_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace sonde::engine::device {
namespace {

using metrics::Interval;

constexpr WorkKind kCompute = WorkKind::Compute;
constexpr WorkKind kComm = WorkKind::Communication;
constexpr WorkKind kCopy = WorkKind::Copy;

TEST(DeviceTime, PartsSumToTheWindowAndWhatOverlapsCountsOnce) {
  const DeviceWork device = deviceOf({{workOf(kCompute, {10, 30}), workOf(kCompute, {40, 50})},
                                      {workOf(kCompute, {20, 35})},
                                      {workOf(kComm, {25, 45}), workOf(kCopy, {42, 60})}});
  const DeviceTime time = timeIn(activityOf(device), {0, 100});
  EXPECT_EQ(time.windowNs, 100);
  EXPECT_EQ(time.computeNs(), 25 + 10);
  EXPECT_EQ(time.commNs(), 20);
  EXPECT_EQ(time.hiddenCommNs(), 10 + 5);
  EXPECT_EQ(time.exposedCommNs(), 5);
  EXPECT_EQ(time.copyNs(), 18);
  EXPECT_EQ(time.exposedCopyNs(), 10);
  EXPECT_EQ(time.idleNs(), 50);
  EXPECT_EQ(time.setNs[setOf(kCompute) | setOf(kComm) | setOf(kCopy)], 3);
  EXPECT_EQ(time.setNs[setOf(kCompute) | setOf(kCopy)], 5);
}

// The number is that of reference/rl-scope.md, section 4.
TEST(DeviceTime, Case10UnionsAreSumsOverSetsThatHoldThem) {
  struct Case {
    std::vector<std::pair<WorkSet, std::int64_t>> exclusive;
    std::array<std::int64_t, kWorkKinds> unions;
    std::int64_t computeAndComm;
  };
  constexpr WorkSet kA = setOf(kCompute);
  constexpr WorkSet kB = setOf(kComm);
  constexpr WorkSet kC = setOf(kCopy);
  const Case cases[] = {
      {{{kA, 3}, {kB, 3}, {kC, 3}, {kA | kB, 1}, {kA | kC, 1}, {kB | kC, 1}, {kA | kB | kC, 1}},
       {6, 6, 6},
       2},
      {{{kA, 3}, {kB, 3}, {kA | kB, 2}}, {5, 5, 0}, 2},
      {{{kA, 1}, {kB, 2}, {kC, 2}, {kA | kB, 1}, {kA | kC, 1}}, {3, 3, 3}, 1},
      {{{kA, 5}, {kA | kB, 5}}, {10, 5, 0}, 5},
      {{{kA | kB, 5}}, {5, 5, 0}, 5},
  };
  for (const Case& each : cases) {
    std::vector<std::vector<Work>> streams(kWorkKinds);
    std::array<std::int64_t, kWorkSets> sets{};
    std::int64_t at = 0;
    for (const auto& [set, ns] : each.exclusive) {
      for (const WorkKind kind : {kCompute, kComm, kCopy})
        if ((set & setOf(kind)) != 0)
          streams[static_cast<std::size_t>(kind)].push_back(workOf(kind, {at, at + ns}));
      sets[set] = ns;
      at += ns;
    }
    const DeviceTime time = timeIn(activityOf(deviceOf(streams)), {0, at});
    EXPECT_EQ(time.setNs, sets);
    EXPECT_EQ((std::array{time.computeNs(), time.commNs(), time.copyNs()}), each.unions);
    EXPECT_EQ(time.hiddenCommNs(), each.computeAndComm);
  }
}

TEST(DeviceTime, AWindowCutsWhatReachesIntoIt) {
  const DeviceWork device = deviceOf({{workOf(kCompute, {10, 30}), workOf(kComm, {30, 50})}});
  const std::vector<Activity> activity = activityOf(device);
  const DeviceTime time = timeIn(activity, {20, 40});
  EXPECT_EQ(time.computeNs(), 10);
  EXPECT_EQ(time.commNs(), 10);
  EXPECT_EQ(time.idleNs(), 0);
  EXPECT_EQ(timeIn(activity, {50, 60}).idleNs(), 10);
  EXPECT_EQ(timeIn(activity, {30, 30}).windowNs, 0);
  const DeviceTime two = timeIn(activity, metrics::Intervals{{20, 25}, {40, 60}});
  EXPECT_EQ(two.windowNs, 25);
  EXPECT_EQ(two.computeNs(), 5);
  EXPECT_EQ(two.commNs(), 10);
  EXPECT_EQ(two.idleNs(), 10);
}

TEST(DeviceTime, NeighboursOfOneKindAreOneActivity) {
  const DeviceWork device = deviceOf({{kernel({0, 10}), kernel({10, 20}), kernel({20, 20})}});
  const std::vector<Activity> activity = activityOf(device);
  ASSERT_EQ(activity.size(), 1U);
  EXPECT_EQ(activity[0].time, (Interval{0, 20}));
}

// Instant by instant, on random work of three streams and random windows.
TEST(DeviceTime, AgreesWithAnOracleThatLooksAtEveryInstant) {
  std::mt19937 random(5);
  const auto upTo = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::vector<Work>> streams(3);
    for (int works = upTo(9); works > 0; --works) {
      const int begin = upTo(40);
      streams[static_cast<std::size_t>(upTo(2))].push_back(
          workOf(static_cast<WorkKind>(upTo(2)), {begin, begin + upTo(12)}));
    }
    const Interval window{upTo(30), 30 + upTo(30)};
    std::array<std::int64_t, kWorkSets> expected{};
    for (std::int64_t at = window.begin; at < window.end; ++at) {
      WorkSet set = 0;
      for (const auto& stream : streams)
        for (const Work& work : stream)
          if (work.begin <= at && at < work.end)
            set = static_cast<WorkSet>(set | setOf(work.kind));
      ++expected[set];
    }
    const DeviceTime time = timeIn(activityOf(deviceOf(streams)), window);
    ASSERT_EQ(time.setNs, expected) << "round " << round;
    ASSERT_EQ(time.computeNs() + time.exposedCommNs() + time.exposedCopyNs() + time.idleNs(),
              time.windowNs);
  }
}

}  // namespace
}  // namespace sonde::engine::device
