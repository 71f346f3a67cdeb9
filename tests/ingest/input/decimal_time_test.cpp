#include "analysis/ingest/input/decimal_time.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace sonde::ingest {
namespace {

TEST(DecimalTime, KeepsEveryNanosecondOfAnEpochTime) {
  EXPECT_EQ(nanosecondsOfMicroseconds("1682725898237042.123"), 1682725898237042123);
  EXPECT_EQ(nanosecondsOfMicroseconds("1682725898237042"), 1682725898237042000);
  EXPECT_EQ(nanosecondsOfMicroseconds("-1.5"), -1500);
  EXPECT_EQ(nanosecondsOfMicroseconds("0"), 0);
  EXPECT_EQ(nanosecondsOfMicroseconds("-0.0"), 0);
}

TEST(DecimalTime, ReadsBackEveryNumberOfNanosecondsInEveryNotation) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100'000; ++round) {
    const auto ns = static_cast<std::int64_t>(random() >> (1 + random() % 62));
    const std::int64_t micros = ns / 1000;
    EXPECT_EQ(nanosecondsOfMicroseconds(fmt::format("{}.{:03}", micros, ns % 1000)), ns);
    EXPECT_EQ(nanosecondsOfMicroseconds(fmt::format("-{}.{:03}000", micros, ns % 1000)), -ns);
    EXPECT_EQ(nanosecondsOfMicroseconds(fmt::format("{}e-3", ns)), ns);
    EXPECT_EQ(nanosecondsOfMicroseconds(fmt::format("0.{:019}E+16", ns)), ns);
    EXPECT_EQ(scaledDecimal(std::to_string(ns), 0), ns);
  }
}

TEST(DecimalTime, RoundsWhatIsLessThanANanosecondHalfToEven) {
  EXPECT_EQ(nanosecondsOfMicroseconds("0.0004"), 0);
  EXPECT_EQ(nanosecondsOfMicroseconds("0.0005"), 0);
  EXPECT_EQ(nanosecondsOfMicroseconds("0.0015"), 2);
  EXPECT_EQ(nanosecondsOfMicroseconds("0.00050001"), 1);
  EXPECT_EQ(nanosecondsOfMicroseconds("0.0996"), 100);
  EXPECT_EQ(nanosecondsOfMicroseconds("-2.0006"), -2001);
  EXPECT_EQ(nanosecondsOfMicroseconds("1e-4"), 0);
  EXPECT_EQ(nanosecondsOfMicroseconds("9e-4"), 1);
  EXPECT_EQ(nanosecondsOfMicroseconds("9e-999999999999999999999"), 0);
}

TEST(DecimalTime, RefusesWhatDoesNotFit) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(scaledDecimal(std::to_string(kMost), 0), kMost);
  EXPECT_EQ(scaledDecimal("9223372036854775808", 0), std::nullopt);
  EXPECT_EQ(scaledDecimal("18446744073709551615.5", 0), std::nullopt);
  EXPECT_EQ(nanosecondsOfMicroseconds("1e300"), std::nullopt);
  EXPECT_EQ(nanosecondsOfMicroseconds("1e999999999999999999999"), std::nullopt);
  EXPECT_EQ(nanosecondsOfMicroseconds("0e999999999999999999999"), 0);
}

TEST(DecimalTime, RefusesWhatIsNoNumber) {
  for (const char* text :
       {"", "-", ".", "1.", ".5", "+1", "1e", "1e+", "NaN", "Infinity", "0x10", "1 ", " 1", "1,5"})
    EXPECT_EQ(nanosecondsOfMicroseconds(text), std::nullopt) << text;
}

}  // namespace
}  // namespace sonde::ingest
