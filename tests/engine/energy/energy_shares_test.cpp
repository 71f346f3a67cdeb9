// Energy divided among active labels, compared with dividing each instant's energy.
#include "analysis/engine/energy/energy_shares.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <random>

namespace sonde::engine::energy {
namespace {

using breakdown::Span;
using metrics::Interval;

constexpr std::size_t kLabels = 3;

bool isActive(const Span& span, std::int64_t ns) {
  return span.begin <= ns && ns < span.end;
}

TEST(EnergyShares, AreThoseOfEachInstant) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Reading> readings;
    std::int64_t ns = 0;
    double joules = 100;
    for (int i = 0; i < 6; ++i)
      readings.push_back({ns += 1 + static_cast<std::int64_t>(random() % 20),
                          joules += static_cast<double>(random() % 50)});
    std::vector<Span> spans;
    for (std::size_t i = random() % 8; i > 0; --i) {
      const auto begin = static_cast<std::int64_t>(random() % 90);
      spans.push_back({begin,
                       begin + static_cast<std::int64_t>(random() % 30),
                       static_cast<breakdown::Label>(random() % kLabels)});
    }
    const Interval window{static_cast<std::int64_t>(random() % 40),
                          40 + static_cast<std::int64_t>(random() % 60)};
    std::vector<double> shares(kLabels, 0);
    double idle = 0;
    for (std::size_t at = 1; at < readings.size(); ++at) {
      const double each = (readings[at].joules - readings[at - 1].joules) /
                          static_cast<double>(readings[at].ns - readings[at - 1].ns);
      for (ns = std::max(readings[at - 1].ns, window.begin);
           ns < std::min(readings[at].ns, window.end);
           ++ns) {
        const auto count = std::count_if(
            spans.begin(), spans.end(), [ns](const Span& span) { return isActive(span, ns); });
        for (const Span& span : spans)
          shares[span.label] += isActive(span, ns) ? each / static_cast<double>(count) : 0;
        idle += count == 0 ? each : 0;
      }
    }
    const EnergyShares found = shareEnergy(readings, spans, kLabels, window);
    double sum = found.idle.joules;
    for (std::size_t label = 0; label < kLabels; ++label) {
      const Share& share = found.shares[label];
      ASSERT_NEAR(share.joules, shares[label], 1e-9);
      ASSERT_LE(share.low, share.joules + 1e-9);
      ASSERT_GE(share.high, share.joules - 1e-9);
      sum += share.joules;
    }
    ASSERT_NEAR(found.idle.joules, idle, 1e-9);
    ASSERT_NEAR(sum, found.joules, 1e-9);
  }
}

TEST(EnergyShares, AreBoundedByWhatWasActive) {
  const std::vector<Reading> readings = {{0, 0}, {10, 5}, {20, 25}, {30, 26}};
  // Label 0 alone throughout the second step and in half of the third; nothing in the first.
  const EnergyShares found = shareEnergy(readings, {{10, 25, 0}}, 1, {0, 30});
  EXPECT_DOUBLE_EQ(found.joules, 26);
  EXPECT_DOUBLE_EQ(found.shares[0].joules, 20.5);
  EXPECT_DOUBLE_EQ(found.shares[0].low, 20);
  EXPECT_DOUBLE_EQ(found.shares[0].high, 21);
  EXPECT_EQ(found.shares[0].activeNs, 15);
  EXPECT_DOUBLE_EQ(found.idle.joules, 5.5);
  EXPECT_DOUBLE_EQ(found.idle.low, 5);
  EXPECT_DOUBLE_EQ(found.idle.high, 6);
  EXPECT_EQ(found.readings, 4U);
  EXPECT_EQ(found.longestNs, 10);
}

// The part of a step outside of the window may have used all of its energy, or none.
TEST(EnergyShares, OfAStepThatTheWindowCutsAreNotSure) {
  const EnergyShares found = shareEnergy({{0, 0}, {100, 10}}, {{0, 100, 0}}, 1, {0, 50});
  EXPECT_DOUBLE_EQ(found.joules, 5);
  EXPECT_DOUBLE_EQ(found.shares[0].joules, 5);
  EXPECT_DOUBLE_EQ(found.shares[0].low, 0);
  EXPECT_DOUBLE_EQ(found.shares[0].high, 10);
  EXPECT_EQ(found.measured, (Interval{0, 50}));
}

TEST(EnergyShares, OfAMeterThatBeganAnewHaveNothingOfThatStep) {
  const EnergyShares found = shareEnergy({{0, 90}, {10, 100}, {20, 3}, {30, 8}}, {}, 0, {0, 30});
  EXPECT_DOUBLE_EQ(found.joules, 15);
  EXPECT_DOUBLE_EQ(found.idle.joules, 15);
}

TEST(EnergyShares, AreNothingWithoutTwoReadingsInTheWindow) {
  for (const std::vector<Reading>& readings :
       {std::vector<Reading>(), {{5, 1}}, {{20, 1}, {30, 2}}}) {
    const EnergyShares found = shareEnergy(readings, {{0, 10, 0}}, 1, {0, 10});
    EXPECT_EQ(found.joules, 0);
    EXPECT_EQ(found.measured.begin, found.measured.end);
  }
}

TEST(EnergyOfPower, IsTheMeanOfNeighboursTimesTheirTime) {
  const auto energy = integrated({{0, 100}, {1'000'000'000, 200}, {1'500'000'000, 200}});
  ASSERT_EQ(energy.size(), 3U);
  EXPECT_DOUBLE_EQ(energy[1].joules - energy[0].joules, 150);
  EXPECT_DOUBLE_EQ(energy[2].joules - energy[1].joules, 100);
}

}  // namespace
}  // namespace sonde::engine::energy
