#include "analysis/engine/align/fitted_clocks.h"

#include "tests/engine/align/simulated_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sonde::engine::align {
namespace {

using test::SimulatedHosts;
using test::TrueClock;
using ::testing::SizeIs;
using Known = FittedClock::Known;

constexpr double kSecond = 1e9;

// The offset that the fit gives to the host's clock when it reads `hostNs`.
double offsetAt(const FittedClock& clock, std::int64_t hostNs) {
  const ClockPiece* piece = &clock.pieces.front();
  for (const ClockPiece& each : clock.pieces)
    if (each.fromNs <= hostNs)
      piece = &each;
  return static_cast<double>(piece->offsetNs) +
         static_cast<double>(hostNs - piece->fromNs) * piece->drift;
}

// By how much the fit of a host is wrong, at most, from 0 to `untilNs`.
double errorOf(const SimulatedHosts& hosts,
               const FittedClocks& fits,
               std::uint32_t host,
               double untilNs) {
  double worst = 0;
  for (int part = 0; part <= 10; ++part) {
    const double at = untilNs * part / 10;
    const double found = offsetAt(fits.hosts[host], hosts.clocks()[host].read(at));
    worst = std::max(worst, std::abs(found - hosts.correctionNs(host, at)));
  }
  return worst;
}

void exchange(SimulatedHosts& hosts, HostBounds& bounds, int messages, double untilNs) {
  const auto count = static_cast<std::uint32_t>(bounds.hosts());
  for (int each = 0; each < messages; ++each) {
    const auto from = static_cast<std::uint32_t>(hosts.uniform(count));
    const auto to = (from + 1 + static_cast<std::uint32_t>(hosts.uniform(count - 1))) % count;
    hosts.send(bounds, from, to, hosts.uniform(untilNs));
  }
}

TEST(FitClocks, FindsOffsetAndDriftOfEightHostsInTenMinutes) {
  constexpr double kUntil = 600 * kSecond;
  SimulatedHosts hosts(SimulatedHosts::clocks(8, 10e6, 50e-6));
  HostBounds bounds(8);
  exchange(hosts, bounds, 20'000, kUntil);
  const FittedClocks fits = fitClocks(bounds);
  ASSERT_THAT(fits.hosts, SizeIs(8));
  for (std::uint32_t host = 0; host < 8; ++host) {
    const FittedClock& clock = fits.hosts[host];
    ASSERT_EQ(clock.known, Known::BothSides) << host;
    ASSERT_THAT(clock.pieces, SizeIs(1));
    EXPECT_LT(errorOf(hosts, fits, host, kUntil), 10e3) << host;
    const double drift = -hosts.clocks()[host].drift;
    EXPECT_NEAR(clock.pieces[0].drift, drift, 1e-6) << host;
    EXPECT_EQ(clock.residualNs, 0) << host;
    EXPECT_LT(clock.errorNs, 100e3) << host;
  }
  EXPECT_FALSE(fits.contradiction);
}

}  // namespace
}  // namespace sonde::engine::align
