#include "collector/preload/cuda/counters/counter_values.h"

#include <gtest/gtest.h>

namespace sonde::preload::cuda {
namespace {

class CounterValuesTest : public ::testing::Test {
 protected:
  void fillLap() {
    while (!values_.isLapFull())
      values_.beginStretch(1);
  }
  void take(std::size_t count) {
    for (std::size_t at = 0; at < count; ++at)
      values_.take({0, 0, "sm__cycles_active.sum", 1});
  }

  CounterValues values_;
};

TEST_F(CounterValuesTest, ALapHasRoomForSoManyStretches) {
  for (std::uint32_t number = 0; number < kMostRanges; ++number) {
    EXPECT_FALSE(values_.isLapFull());
    EXPECT_EQ(values_.stretches(), number);
    values_.beginStretch(number);
  }
  EXPECT_TRUE(values_.isLapFull());
  values_.beginLap();
  EXPECT_FALSE(values_.isLapFull());
  EXPECT_EQ(values_.stretches(), 0U);
}

TEST_F(CounterValuesTest, AMillionAreKept) {
  fillLap();
  take(CounterValues::kMost);
  EXPECT_FALSE(values_.isIncomplete());
  take(1);
  EXPECT_TRUE(values_.isIncomplete());
}

TEST_F(CounterValuesTest, TheNextIterationHasAllTheRoomAgain) {
  fillLap();
  take(CounterValues::kMost + 1);
  values_.clear();
  EXPECT_FALSE(values_.isIncomplete());
  EXPECT_EQ(values_.stretches(), 0U);
  values_.beginStretch(1);
  take(CounterValues::kMost);
  EXPECT_FALSE(values_.isIncomplete());
}

TEST_F(CounterValuesTest, OfAStretchThatNeverWasNoneIsKept) {
  take(CounterValues::kMost + 1);
  EXPECT_FALSE(values_.isIncomplete());
}

}  // namespace
}  // namespace sonde::preload::cuda
