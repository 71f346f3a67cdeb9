#include "analysis/engine/align/end_differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

namespace sonde::engine::align {
namespace {

using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

TEST(EndDifferences, NothingIsNoEstimate) {
  EXPECT_THAT(EndDifferences().estimates(), IsEmpty());
}

TEST(EndDifferences, OutliersDoNotMoveTheMedian) {
  EndDifferences differences;
  for (const std::int64_t later : {4000, 5000, 6000, 5000, 90'000, 5000, 4500})
    differences.add({1'700'000'000'000'000'000 + later, later});
  const auto estimates = differences.estimates();
  ASSERT_THAT(estimates, SizeIs(1));
  EXPECT_EQ(estimates[0].laterNs, 5000);
  EXPECT_EQ(estimates[0].spreadNs, 1000);  // the least
}

TEST(EndDifferences, FollowADrift) {
  EndDifferences differences;
  for (std::int64_t each = 0; each < 100'000; ++each) {
    const std::int64_t noise = (each * 7919) % 11 * 1000;
    differences.add({each * 10'000'000, -3'000'000 + each * 400 + noise});
  }
  const auto estimates = differences.estimates();
  ASSERT_THAT(estimates, SizeIs(32));
  for (const EndEstimate& each : estimates) {
    EXPECT_NEAR(static_cast<double>(each.laterNs),
                -3e6 + static_cast<double>(each.oneNs) * 40e-6 + 5000,
                1000);
    EXPECT_THAT(each.spreadNs, Le(4000));
  }
}

}  // namespace
}  // namespace sonde::engine::align
