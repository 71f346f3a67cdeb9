#include "recorder/system/readings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace sonde::recorder::system {
namespace {

using Points = std::vector<std::pair<std::int64_t, double>>;

Points pointsOf(const Batch& batch, std::size_t metric) {
  Points points;
  for (const Reading& reading : batch.readings) {
    if (reading.metric == metric)
      points.emplace_back(reading.monotonicNs, reading.value);
  }
  return points;
}

class ReadingsTest : public testing::Test {
 protected:
  void read(std::int64_t ns, double value) {
    readings_.setTime(ns);
    readings_.add(metric_, value);
  }

  Readings readings_;
  std::size_t metric_ = readings_.define({.name = "threads", .unit = "1"});
};

TEST_F(ReadingsTest, HandsOnEveryValueThatChanges) {
  read(1, 4);
  read(2, 5);
  read(3, 6);
  EXPECT_EQ(pointsOf(readings_.take(), metric_), (Points{{1, 4}, {2, 5}, {3, 6}}));
}

TEST_F(ReadingsTest, HandsOnOnlyTheEndsOfWhatDoesNotChange) {
  for (std::int64_t ns = 1; ns <= 5; ++ns)
    read(ns, 4);
  read(6, 9);
  EXPECT_EQ(pointsOf(readings_.take(), metric_), (Points{{1, 4}, {5, 4}, {6, 9}}));
}

TEST_F(ReadingsTest, AChangeLongAfterTheLastBatchBringsThePointBeforeIt) {
  read(1, 4);
  readings_.take();
  read(2, 4);
  EXPECT_THAT(readings_.take().readings, testing::IsEmpty());
  read(3, 5);
  EXPECT_EQ(pointsOf(readings_.take(), metric_), (Points{{2, 4}, {3, 5}}));
}

TEST_F(ReadingsTest, ClosingHandsOnTheLastPointOnce) {
  read(1, 4);
  read(2, 4);
  readings_.closeAll();
  readings_.closeAll();
  EXPECT_EQ(pointsOf(readings_.take(), metric_), (Points{{1, 4}, {2, 4}}));
}

TEST_F(ReadingsTest, WhatWasNeverReadHasNoPoint) {
  readings_.setTime(1);
  readings_.closeAll();
  const Batch batch = readings_.take();
  EXPECT_EQ(batch.metrics.size(), 1U);
  EXPECT_THAT(batch.readings, testing::IsEmpty());
}

TEST_F(ReadingsTest, DescribesACounterOnce) {
  EXPECT_EQ(readings_.take().metrics.size(), 1U);
  EXPECT_THAT(readings_.take().metrics, testing::IsEmpty());
  EXPECT_EQ(readings_.define({.name = "other"}), metric_ + 1);
}

}  // namespace
}  // namespace sonde::recorder::system
