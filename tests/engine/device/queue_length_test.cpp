#include "analysis/engine/device/queue_length.h"

#include "tests/engine/device/device_rig.h"

#include <gtest/gtest.h>

namespace sonde::engine::device {
namespace {

StreamWork streamOf(std::vector<Work> work) {
  return deviceOf({std::move(work)}).streams.front();
}

TEST(QueueLength, IsWeightedByTime) {
  // One from 0, two from 10 to 20, one until 40, none until 100.
  const StreamWork stream =
      streamOf({kernel({20, 30}, Span{0, 1}), kernel({40, 50}, Span{10, 11})});
  const QueueLength queue = queueIn(stream, {{0, 100}});
  EXPECT_DOUBLE_EQ(queue.mean, (10 * 1 + 10 * 2 + 20 * 1) / 100.0);
  EXPECT_EQ(queue.p50, 0);
  EXPECT_EQ(queue.p95, 2);
  EXPECT_EQ(queue.max, 2);
  EXPECT_EQ(queue.launched, 2);
  EXPECT_EQ(queue.fullNs, 0);
}

TEST(QueueLength, WhatIsQueuedWhenTheWindowBeginsCounts) {
  const StreamWork stream = streamOf({kernel({60, 70}, Span{0, 1})});
  const QueueLength queue = queueIn(stream, {{50, 70}});
  EXPECT_DOUBLE_EQ(queue.mean, 0.5);
  EXPECT_EQ(queue.launched, 1);
}

TEST(QueueLength, BetweenWindowsNothingCounts) {
  const StreamWork stream =
      streamOf({kernel({60, 70}, Span{10, 11}), kernel({40, 41}, Span{25, 26})});
  const QueueLength queue = queueIn(stream, {{0, 20}, {50, 70}});
  EXPECT_EQ(queue.windowNs, 40);
  EXPECT_DOUBLE_EQ(queue.mean, (10 + 10) / 40.0);
  EXPECT_EQ(queue.launched, 1);
  EXPECT_EQ(queue.max, 1);
}

TEST(QueueLength, IsFullFrom1024On) {
  std::vector<Work> work;
  for (int at = 0; at < 1024; ++at)
    work.push_back(kernel({2000 + at, 2001 + at}, Span{at, at}));
  const QueueLength queue = queueIn(streamOf(std::move(work)), {{0, 4000}});
  EXPECT_EQ(queue.max, 1024);
  EXPECT_EQ(queue.fullNs, 2000 - 1023);  // from the last launch to the first begin
}

TEST(QueueLength, UnknownLaunchesAndEmptyWindowsAreNothing) {
  EXPECT_EQ(queueIn(streamOf({kernel({10, 20})}), {{0, 20}}).max, 0);
  EXPECT_EQ(queueIn(streamOf({kernel({10, 20}, Span{0, 1})}), {}).max, 0);
}

}  // namespace
}  // namespace sonde::engine::device
