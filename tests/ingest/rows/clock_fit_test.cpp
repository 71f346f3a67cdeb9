#include "analysis/ingest/rows/clock_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

namespace sonde::ingest {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// A processor of 2.1 GHz whose host slews its monotonic clock slowly by up to 100 ppm.
struct SyntheticHost {
  std::uint64_t ticksAt(std::int64_t ns) const {
    const double seconds = static_cast<double>(ns) / 1e9;
    const double slewedNs = static_cast<double>(ns) + 2000.0 * 30 * std::sin(seconds / 30);
    return 5'000'000'000'000ULL + static_cast<std::uint64_t>(slewedNs * 2.1);
  }
  Knot at(std::int64_t ns) const { return {ticksAt(ns), ns}; }
};

TEST(ClockFit, StaysWithinAMicrosecondOfADriftingClock) {
  const SyntheticHost host;
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> readingError(-60, 60);
  ClockFit fit;
  for (std::int64_t ns = 0; ns <= 600 * kSecond; ns += kSecond / 4) {
    Knot knot = host.at(ns);
    knot.monotonicNs += readingError(random);
    fit.settle(knot);
  }
  for (std::int64_t ns = 0; ns < 600 * kSecond; ns += 7'654'321)
    ASSERT_NEAR(static_cast<double>(fit.toNs(host.ticksAt(ns))), static_cast<double>(ns), 1000)
        << ns;
}

TEST(ClockFit, NeverRunsBackwardsNorChangesWhatItSaid) {
  const SyntheticHost host;
  std::mt19937_64 random(11);
  std::uniform_int_distribution<std::int64_t> readingError(-400, 400);
  ClockFit fit;
  fit.settle(host.at(0));
  std::int64_t before = 0;
  for (std::int64_t now = kSecond / 10; now < 20 * kSecond; now += kSecond / 10) {
    const std::int64_t from = now - kSecond / 10;
    fit.offer({host.ticksAt(from + kSecond / 20), from + kSecond / 20 + readingError(random)});
    fit.settle(Knot{host.ticksAt(now), now + readingError(random)});
    const std::uint64_t middle = host.ticksAt(from + 1'000'000);
    const std::int64_t said = fit.toNs(middle);
    for (std::int64_t ns = from; ns < now; ns += 200'000) {
      const std::int64_t converted = fit.toNs(host.ticksAt(ns));
      ASSERT_GE(converted, before);
      before = converted;
    }
    fit.offer({host.ticksAt(from + 2'000'000), from + 2'000'000 + 300});  // too late to be used
    fit.settle(Knot{host.ticksAt(now) + 1000, now + 600});
    ASSERT_EQ(fit.toNs(middle), said);
  }
}

TEST(ClockFit, FollowsTheReadingsOfTheProcessWhereTheRecorderWasNotThere) {
  const SyntheticHost host;
  ClockFit fit;
  fit.settle(host.at(0));
  for (std::int64_t ns = kSecond; ns < 200 * kSecond; ns += kSecond)
    fit.offer(host.at(ns));
  fit.settle(host.at(3600 * kSecond));
  for (std::int64_t ns = 0; ns < 199 * kSecond; ns += kSecond / 3)
    ASSERT_NEAR(static_cast<double>(fit.toNs(host.ticksAt(ns))), static_cast<double>(ns), 1000)
        << ns;
}

TEST(ClockFit, RefusesReadingsThatCannotBe) {
  const SyntheticHost host;
  ClockFit fit;
  fit.settle(host.at(0));
  fit.offer({host.ticksAt(kSecond / 2), kSecond * 40});
  fit.offer({host.ticksAt(kSecond / 4), -5});
  fit.offer({~std::uint64_t{0}, kSecond / 3});
  fit.offer({host.ticksAt(kSecond / 3), kSecond / 3 + 5'000'000});
  fit.settle(host.at(kSecond));
  EXPECT_EQ(fit.rejected(), 4U);
  EXPECT_NEAR(static_cast<double>(fit.toNs(host.ticksAt(kSecond / 2))), kSecond / 2.0, 1000);
}

TEST(ClockFit, NeedsARateWhenThereIsOneReadingOnly) {
  ClockFit fit;
  fit.offer({1000, 50});
  fit.settle(std::nullopt);
  fit.setNominalRate(0.5);
  EXPECT_EQ(fit.toNs(1000), 50);
  EXPECT_EQ(fit.toNs(3000), 1050);
}

TEST(ClockFit, IsTheSameAfterRestore) {
  const SyntheticHost host;
  ClockFit fit;
  ClockFit later;
  std::vector<Knot> kept;
  for (std::int64_t ns = 0; ns < 5 * kSecond; ns += kSecond / 10) {
    fit.offer(host.at(ns + kSecond / 30));
    for (const Knot& knot : fit.settle(host.at(ns + kSecond / 20)))
      kept.push_back(knot);
  }
  later.restore(kept);
  for (std::int64_t ns = -kSecond; ns < 7 * kSecond; ns += 12'345'678)
    ASSERT_EQ(fit.toNs(host.ticksAt(ns)), later.toNs(host.ticksAt(ns)));
}

TEST(ClockFit, BoundsWhatADamagedFileSays) {
  ClockFit fit;
  fit.settle(Knot{10, 10});
  fit.settle(Knot{20, 20});
  EXPECT_GT(fit.toNs(~std::uint64_t{0}), 0);
  EXPECT_LT(fit.toNs(~std::uint64_t{0}), INT64_MAX / 2);
  const TimeBase plain{nullptr, INT64_MIN};
  EXPECT_GT(plain.toNs(~std::uint64_t{0}), INT64_MIN);
}

}  // namespace
}  // namespace sonde::ingest
