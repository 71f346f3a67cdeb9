#include "analysis/engine/align/fitted_clocks.h"

#include "tests/engine/align/simulated_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

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

// The same messages: one offset for each host would have to violate bounds by milliseconds.
TEST(FitClocks, OneOffsetWithoutDriftMisses) {
  constexpr double kUntil = 600 * kSecond;
  SimulatedHosts hosts(SimulatedHosts::clocks(8, 10e6, 50e-6));
  HostBounds bounds(8);
  exchange(hosts, bounds, 20'000, kUntil);
  std::vector<Constraint> constraints;
  for (const HostBounds::PairBounds& pair : bounds.pairs()) {
    std::int64_t least = INT64_MAX;
    for (const Bound& bound : pair.bounds)
      least = std::min(least, bound.apartNs);
    constraints.push_back({pair.from, pair.to, static_cast<double>(least)});
  }
  EXPECT_GT(solve(8, constraints).raisedBy, 1e6);
}

TEST(FitClocks, FindsAHostThroughAnotherOne) {
  SimulatedHosts hosts({{0, 0}, {3'000'000, 20e-6}, {-8'000'000, -40e-6}});
  HostBounds bounds(3);
  for (int each = 0; each < 4000; ++each) {
    const std::uint32_t other = each % 2 == 0 ? 0 : 2;
    hosts.send(bounds, 1, other, hosts.uniform(60 * kSecond));
    hosts.send(bounds, other, 1, hosts.uniform(60 * kSecond));
  }
  const FittedClocks fits = fitClocks(bounds);
  for (const std::uint32_t host : {1U, 2U}) {
    ASSERT_EQ(fits.hosts[host].known, Known::BothSides);
    EXPECT_LT(errorOf(hosts, fits, host, 60 * kSecond), 10e3) << host;
  }
  EXPECT_EQ(bounds.messages(1), 8000);
  EXPECT_EQ(bounds.messages(2), 4000);
}

// As in a ring: no two hosts exchange messages in both directions.
TEST(FitClocks, ARingOfOneWayMessagesBoundsBothSides) {
  SimulatedHosts hosts(SimulatedHosts::clocks(4, 10e6, 50e-6));
  HostBounds bounds(4);
  for (int each = 0; each < 20'000; ++each)
    hosts.send(bounds,
               static_cast<std::uint32_t>(each % 4),
               static_cast<std::uint32_t>((each + 1) % 4),
               hosts.uniform(300 * kSecond));
  const FittedClocks fits = fitClocks(bounds);
  for (std::uint32_t host = 1; host < 4; ++host) {
    ASSERT_EQ(fits.hosts[host].known, Known::BothSides);
    EXPECT_EQ(fits.hosts[host].residualNs, 0);
    // Nothing says how the way around is divided; so the offset is known to half of it.
    EXPECT_LT(errorOf(hosts, fits, host, 300 * kSecond),
              static_cast<double>(fits.hosts[host].errorNs) + 10e3);
    EXPECT_NEAR(fits.hosts[host].pieces[0].drift, -hosts.clocks()[host].drift, 1e-6);
  }
}

TEST(FitClocks, DoesNotGuessFromMessagesInOneDirection) {
  SimulatedHosts hosts({{0, 0}, {5'000'000, 0}});
  HostBounds bounds(2);
  for (int each = 0; each < 500; ++each)
    hosts.send(bounds, 0, 1, hosts.uniform(kSecond));
  const FittedClock clock = fitClocks(bounds).hosts[1];
  EXPECT_EQ(clock.known, Known::OneSide);
  EXPECT_TRUE(clock.pieces.empty());
  EXPECT_FALSE(clock.atMostNs);
  ASSERT_TRUE(clock.atLeastNs);
  EXPECT_NEAR(static_cast<double>(*clock.atLeastNs), -5'000'000 - 30e3, 10e3);
}

TEST(FitClocks, LeavesOutHostsThatNothingConnects) {
  SimulatedHosts hosts({{0, 0}, {5'000'000, 0}, {1, 0}, {2, 0}});
  HostBounds bounds(4);
  for (int each = 0; each < 100; ++each)
    for (const auto& [from, to] : {std::pair(0U, 1U), {1U, 0U}, {2U, 3U}, {3U, 2U}})
      hosts.send(bounds, from, to, hosts.uniform(kSecond));
  const FittedClocks fits = fitClocks(bounds);
  EXPECT_EQ(fits.hosts[0].known, Known::BothSides);
  EXPECT_EQ(fits.hosts[1].known, Known::BothSides);
  for (const std::uint32_t host : {2U, 3U}) {
    EXPECT_EQ(fits.hosts[host].known, Known::Nothing);
    EXPECT_TRUE(fits.hosts[host].pieces.empty());
  }
}

// 200 messages of which the tight ones come first: later ones must not replace their bounds.
TEST(FitClocks, LaterMessagesDoNotReplaceTighterBounds) {
  SimulatedHosts hosts({{0, 0}, {-300'000, 0}});
  hosts.leastDelayNs = 5e3;
  hosts.meanQueueNs = 100;
  HostBounds bounds(2);
  for (int each = 0; each < 200; ++each) {
    if (each == 20)
      hosts.leastDelayNs = 100e3;
    const std::uint32_t from = each % 2 == 0 ? 0 : 1;
    hosts.send(bounds, from, 1 - from, each * 1e6);
  }
  const FittedClock clock = fitClocks(bounds).hosts[1];
  ASSERT_EQ(clock.known, Known::BothSides);
  EXPECT_LT(clock.errorNs, 6'000);
  EXPECT_LT(errorOf(hosts, fitClocks(bounds), 1, 20e6), 1e3);
}

TEST(FitClocks, NamesClocksThatContradictEachOther) {
  SimulatedHosts hosts(SimulatedHosts::clocks(3, 1e6, 0));
  HostBounds bounds(3);
  exchange(hosts, bounds, 3000, 10 * kSecond);
  const std::int64_t now = hosts.clocks()[1].read(5 * kSecond);
  const std::int64_t there = hosts.clocks()[2].read(5 * kSecond);
  bounds.addMessage(1, 2, now, there - 40'000'000);
  const FittedClocks fits = fitClocks(bounds);
  ASSERT_TRUE(fits.contradiction);
  EXPECT_EQ(std::min(fits.contradiction->one, fits.contradiction->other), 1);
  EXPECT_EQ(std::max(fits.contradiction->one, fits.contradiction->other), 2);
  EXPECT_NEAR(static_cast<double>(fits.contradiction->byNs), 40e6, 0.2e6);
  EXPECT_GT(fits.hosts[1].residualNs, 1'000'000);
}

// A clock that a daemon slews by 300 ppm for two of ten minutes.
TEST(FitClocks, DividesTheTimeWhereNoLineFits) {
  const auto slewed = [](double ns) {
    return std::llround(ns + 300e-6 * std::clamp(ns - 240 * kSecond, 0.0, 120 * kSecond));
  };
  SimulatedHosts hosts({{0, 0}, {0, 0}});
  HostBounds bounds(2);
  for (int each = 0; each < 60'000; ++each) {
    const double at = hosts.uniform(600 * kSecond);
    const double after = at + 30e3 + hosts.uniform(100e3);
    bounds.addMessage(0, 1, std::llround(at), slewed(after));
    bounds.addMessage(1, 0, slewed(at), std::llround(after));
  }
  const FittedClock clock = fitClocks(bounds).hosts[1];
  ASSERT_EQ(clock.known, Known::BothSides);
  EXPECT_GT(clock.pieces.size(), 4);
  EXPECT_LE(clock.residualNs, 100'000);
  for (int part = 0; part <= 20; ++part) {
    const double at = 30 * kSecond * part;
    const std::int64_t host = slewed(at);
    EXPECT_NEAR(offsetAt(clock, host), at - static_cast<double>(host), 150e3) << part;
  }
}

// Clocks with another origin, as in some imports.
TEST(FitClocks, ClocksMayBeYearsApart) {
  constexpr std::int64_t kYears = 1'600'000'000'000'000'000;
  SimulatedHosts hosts({{0, 0}, {-kYears, 30e-6}});
  HostBounds bounds(2);
  exchange(hosts, bounds, 4000, 100 * kSecond);
  const FittedClocks fits = fitClocks(bounds);
  ASSERT_EQ(fits.hosts[1].known, Known::BothSides);
  const ClockPiece& piece = fits.hosts[1].pieces.front();
  EXPECT_NEAR(piece.drift, -30e-6, 1e-6);
  const double at = static_cast<double>(piece.fromNs - 100'000'000'000'000'000) / (1 + 30e-6);
  const std::int64_t truth = hosts.clocks()[0].read(at) - piece.fromNs;
  EXPECT_NEAR(static_cast<double>(piece.offsetNs - truth), 0, 10e3);
}

// Collectives end together only nearly, and now and then not at all.
TEST(FitClocks, UsesCommonEndsWhereThereAreNoMessages) {
  SimulatedHosts hosts({{0, 0}, {2'000'000, 0}, {7'000'000, 0}});
  HostBounds bounds(3);
  for (int each = 0; each < 300; ++each) {
    const double at = each * 1e6;
    for (const std::uint32_t other : {1U, 2U}) {
      const double later = hosts.uniform(4e3) - 2e3 + (each % 50 == 7 ? 3e6 : 0);
      bounds.addTogether(
          0, other, hosts.clocks()[0].read(at), hosts.clocks()[other].read(at + later));
    }
  }
  const FittedClocks fits = fitClocks(bounds);
  for (const std::uint32_t host : {1U, 2U}) {
    ASSERT_EQ(fits.hosts[host].known, Known::BothSides);
    EXPECT_LT(errorOf(hosts, fits, host, 300e6), 2e3) << host;
  }
}

// Messages are exact where common ends are an estimate.
TEST(FitClocks, MessagesComeBeforeCommonEnds) {
  SimulatedHosts hosts({{0, 0}, {2'000'000, 0}});
  HostBounds bounds(2);
  exchange(hosts, bounds, 1000, kSecond);
  for (int each = 0; each < 100; ++each)
    bounds.addTogether(
        0, 1, hosts.clocks()[0].read(each * 1e6), hosts.clocks()[1].read(each * 1e6 + 500e3));
  const FittedClocks fits = fitClocks(bounds);
  EXPECT_LT(errorOf(hosts, fits, 1, kSecond), 10e3);
  EXPECT_EQ(fits.hosts[1].residualNs, 0);
}

}  // namespace
}  // namespace sonde::engine::align
