#include "analysis/engine/device/stream_idle.h"

#include "tests/engine/device/device_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sonde::engine::device {
namespace {

using metrics::Interval;

std::int64_t nsOf(const StreamIdle& idle, IdleCause cause) {
  return idle.causeNs[static_cast<std::size_t>(cause)];
}

StreamIdle idleOfStream(const DeviceWork& device, std::size_t stream, Interval window) {
  return idleIn(idleOf(device, activityOf(device), window)[stream], {window});
}

//         0    10   20   30   40   50   60   70   80   90
//  launch      |~~~|                              (20-24)
//  work   ====                    ======          (50-70)
TEST(StreamIdle, AGapIsSplitByWhatTheNextWorkWasNotReadyFor) {
  const DeviceWork device = deviceOf({{kernel({0, 10}, Span{0, 0}), kernel({50, 70}, Span{20, 24})},
                                      {kernel({30, 40}, Span{0, 0})}});
  const StreamIdle idle = idleOfStream(device, 0, {0, 90});
  EXPECT_EQ(nsOf(idle, IdleCause::Host), 10);
  EXPECT_EQ(nsOf(idle, IdleCause::Launching), 4);
  EXPECT_EQ(nsOf(idle, IdleCause::Busy), 10);
  EXPECT_EQ(nsOf(idle, IdleCause::Gap), 6 + 10);
  EXPECT_EQ(nsOf(idle, IdleCause::NoMore), 20);
  EXPECT_EQ(idle.idleNs(), 90 - 10 - 20);
}

TEST(StreamIdle, WhatWasLaunchedLongBeforeWaitsForNothingButTheDevice) {
  const DeviceWork device =
      deviceOf({{kernel({10, 20}, Span{0, 2}), kernel({23, 30}, Span{3, 5})}});
  const StreamIdle idle = idleOfStream(device, 0, {10, 30});
  EXPECT_EQ(nsOf(idle, IdleCause::Gap), 3);
  EXPECT_EQ(idle.idleNs(), 3);
}

TEST(StreamIdle, AStreamThatWaitsForAnEventIsHeldUntilWhatWasBeforeItsRecordHasEnded) {
  // Stream 2 waits (called at 5) for the work stream 1 was given until 4: its kernel, which ends at
  // 60.
  DeviceWork device = deviceOf({{kernel({10, 60}, Span{2, 3}), kernel({60, 80}, Span{8, 9})},
                                {kernel({65, 75}, Span{6, 7})}});
  device.streams[1].waits = {{5, 4, 1}};
  const StreamIdle idle = idleOfStream(device, 1, {0, 80});
  EXPECT_EQ(nsOf(idle, IdleCause::Host), 6);
  EXPECT_EQ(nsOf(idle, IdleCause::Launching), 1);
  EXPECT_EQ(nsOf(idle, IdleCause::Event), 60 - 7);
  EXPECT_EQ(nsOf(idle, IdleCause::Busy), 5);  // the other stream's next kernel
  EXPECT_EQ(nsOf(idle, IdleCause::NoMore), 5);
}

TEST(StreamIdle, AWaitThatIsCalledLaterHoldsNothingThatWasLaunchedBefore) {
  DeviceWork device = deviceOf({{kernel({10, 60}, Span{2, 3})}, {kernel({65, 75}, Span{6, 7})}});
  device.streams[1].waits = {{20, 4, 1}};
  EXPECT_EQ(nsOf(idleOfStream(device, 1, {0, 80}), IdleCause::Event), 0);
}

TEST(StreamIdle, OfAnUnknownLaunchTheCauseIsUnknown) {
  const DeviceWork device = deviceOf({{kernel({10, 20})}});
  const StreamIdle idle = idleOfStream(device, 0, {0, 30});
  EXPECT_EQ(nsOf(idle, IdleCause::Unknown), 10);
  EXPECT_EQ(nsOf(idle, IdleCause::NoMore), 10);
}

TEST(StreamIdle, ACallThatReturnsAfterItsWorkHasBegunTakesNothingOfIt) {
  const DeviceWork device = deviceOf({{kernel({10, 20}, Span{5, 15})}});
  const StreamIdle idle = idleOfStream(device, 0, {0, 20});
  EXPECT_EQ(nsOf(idle, IdleCause::Host), 5);
  EXPECT_EQ(nsOf(idle, IdleCause::Launching), 5);
  EXPECT_EQ(idle.idleNs(), 10);
}

TEST(StreamIdle, AStepHasTheCausesOfTheGapsThatReachIntoIt) {
  const DeviceWork device =
      deviceOf({{kernel({0, 10}, Span{0, 0}), kernel({40, 50}, Span{30, 32})}});
  const std::vector<Activity> activity = activityOf(device);
  const auto spans = idleOf(device, activity, {0, 50})[0];
  EXPECT_EQ(nsOf(idleIn(spans, {{20, 31}}), IdleCause::Host), 10);
  EXPECT_EQ(nsOf(idleIn(spans, {{20, 31}}), IdleCause::Launching), 1);
  EXPECT_EQ(idleIn(spans, {{40, 50}}).idleNs(), 0);
  EXPECT_EQ(nsOf(idleIn(spans, {{20, 31}, {40, 50}}), IdleCause::Host), 10);
  EXPECT_EQ(idleIn(spans, {{20, 31}, {40, 50}}).windowNs, 21);
}

// In all cases idle spans are exactly the instants without work, each once.
TEST(StreamIdle, CausesSumToAllIdleTime) {
  std::mt19937 random(9);
  const auto upTo = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::vector<Work>> streams(3);
    for (int works = upTo(9); works > 0; --works) {
      const int begin = upTo(60);
      const int call = upTo(60);
      std::optional<Span> launch;
      if (upTo(3) > 0)
        launch = Span{call, call + upTo(8)};
      streams[static_cast<std::size_t>(upTo(2))].push_back(
          kernel({begin, begin + upTo(12)}, launch));
    }
    for (auto& stream : streams)
      std::sort(stream.begin(), stream.end(), [](const Work& a, const Work& b) {
        return a.begin < b.begin;
      });
    DeviceWork device = deviceOf(streams);
    device.streams[0].waits = {{upTo(60), upTo(60), 2}, {60, upTo(60), 3}};
    const Interval window{upTo(30), 30 + upTo(40)};
    const auto spans = idleOf(device, activityOf(device), window);
    for (std::size_t stream = 0; stream < 3; ++stream)
      for (std::int64_t at = window.begin; at < window.end; ++at) {
        const auto busy = std::any_of(streams[stream].begin(),
                                      streams[stream].end(),
                                      [&](const Work& w) { return w.begin <= at && at < w.end; });
        const auto idle =
            std::count_if(spans[stream].begin(), spans[stream].end(), [&](const IdleSpan& each) {
              return each.time.begin <= at && at < each.time.end;
            });
        ASSERT_EQ(idle, busy ? 0 : 1) << "round " << round << " stream " << stream << " at " << at;
      }
  }
}

}  // namespace
}  // namespace sonde::engine::device
