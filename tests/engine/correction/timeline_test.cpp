#include "analysis/engine/correction/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace sonde::engine::correction {
namespace {

using ::testing::ElementsAre;

TEST(Timeline, IsItsTimesWithoutAnyKnots) {
  EXPECT_EQ(Timeline()(42), 42);
}

TEST(Timeline, GoesEvenlyFromKnotToKnot) {
  Timeline timeline;
  timeline.add({100, 0});
  timeline.add({200, 50});
  EXPECT_EQ(timeline(50), 50);
  EXPECT_EQ(timeline(150), 125);
  EXPECT_EQ(timeline(200), 150);
  EXPECT_EQ(timeline(1000), 950);
}

TEST(Timeline, KeepsOnlyKnotsWhereItTurns) {
  Timeline timeline;
  for (const std::int64_t at : {0, 100, 200, 300})
    timeline.add({at, at / 10});
  timeline.add({400, 30});
  EXPECT_THAT(timeline.knots(),
              ElementsAre(Timeline::Knot{0, 0}, Timeline::Knot{300, 30}, Timeline::Knot{400, 30}));
}

TEST(Timeline, ACursorFindsWhatALookUpDoes) {
  std::mt19937 random(1);
  Timeline timeline;
  std::int64_t at = 0;
  std::int64_t delay = 0;
  for (int knot = 0; knot < 500; ++knot) {
    timeline.add({at, delay});
    const auto step = static_cast<std::int64_t>(random() % 50);
    at += step;
    delay += static_cast<std::int64_t>(random() % (static_cast<unsigned>(step) + 1));
  }
  Timeline::Cursor cursor(timeline);
  for (int time = 0; time < 20'000; ++time) {
    const auto near = static_cast<std::int64_t>(random() % 100);
    const auto ns = time % 7 == 0 ? static_cast<std::int64_t>(random() % 15'000) - 100
                                  : time * at / 20'000 + near;
    ASSERT_EQ(cursor(ns), timeline(ns)) << ns;
  }
}

TEST(Timeline, HoldsTimesOfTheEpochAndDelaysOfHours) {
  constexpr std::int64_t kEpoch = 1'800'000'000'000'000'000;
  constexpr std::int64_t kHours = 36'000'000'000'000;
  Timeline timeline;
  timeline.add({kEpoch, 0});
  timeline.add({kEpoch + 2 * kHours, kHours});
  EXPECT_EQ(timeline(kEpoch + kHours), kEpoch + kHours / 2);
}

}  // namespace
}  // namespace sonde::engine::correction
