#include "analysis/engine/models/bandwidth_curve.h"

#include <gtest/gtest.h>

namespace sonde::engine::models {
namespace {

// From 0.01 to 100 bytes a nanosecond, and 1 at 1 MiB.
constexpr BandwidthCurve kCurve{.latencyNs = 20'000,
                                .latencyEnd = 14,
                                .saturation = 26,
                                .highestBandwidth = 100,
                                .rise = 4,
                                .steepness = 0.5,
                                .middle = 20,
                                .base = -2};
constexpr double kMiB = 1 << 20;

TEST(BandwidthCurve, IsLatencyForSmallMessages) {
  EXPECT_EQ(kCurve.ns(4, 1.5), 20'000);
  EXPECT_EQ(kCurve.ns(1 << 14, 1.5), 20'000);
}

TEST(BandwidthCurve, RisesInBetween) {
  EXPECT_NEAR(kCurve.bandwidth(kMiB), 1, 1e-9);
  EXPECT_NEAR(kCurve.ns(kMiB, 1.5), 1.5 * kMiB, 1e-3);
  // 4 / (1 + e^-1) - 2 = 0.92423
  EXPECT_NEAR(kCurve.bandwidth(4 * kMiB), 8.3991, 1e-3);
  EXPECT_NEAR(kCurve.ns(4 * kMiB, 1), 4 * kMiB / 8.3991, 100);
}

TEST(BandwidthCurve, IsTheHighestForLargeMessages) {
  EXPECT_NEAR(kCurve.ns(128 * kMiB, 1.75), 20'000 + 1.75 * 128 * kMiB / 100, 1e-3);
}

}  // namespace
}  // namespace sonde::engine::models
