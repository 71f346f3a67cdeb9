#include "gui/trace/time_format.h"

#include <gtest/gtest.h>

namespace sonde::gui {
namespace {

std::string plain(const QString& text) {
  QString ascii = text;
  return ascii.replace(QChar(0xa0), ' ').replace(QChar(0x202f), ' ').toStdString();
}

TEST(TimeFormat, DurationsHaveFourDigitsAndAUnit) {
  EXPECT_EQ(plain(formatDuration(0)), "0 ns");
  EXPECT_EQ(plain(formatDuration(999)), "999 ns");
  EXPECT_EQ(plain(formatDuration(1'234)), "1.234 µs");
  EXPECT_EQ(plain(formatDuration(16'667'000)), "16.67 ms");
  EXPECT_EQ(plain(formatDuration(123'456'789)), "123.5 ms");
  EXPECT_EQ(plain(formatDuration(3'200'000'000)), "3.200 s");
  EXPECT_EQ(plain(formatDuration(125'000'000'000)), "2 min 05 s");
}

TEST(TimeFormat, TimesShowAsManyDigitsAsTheResolution) {
  EXPECT_EQ(plain(formatTime(1'204'350'000, 1)), "1.204350000 s");
  EXPECT_EQ(plain(formatTime(1'204'350'000, 10'000'000)), "1.20 s");
  EXPECT_EQ(plain(formatTime(0, 1)), "0");
  EXPECT_EQ(plain(formatTime(3'723'000'000'000, 1'000'000'000)), "1:02:03");
}

TEST(TimeFormat, ExactNanosecondsAreGrouped) {
  EXPECT_EQ(plain(formatExactNs(1'234'567)), "1 234 567 ns");
  EXPECT_EQ(plain(formatExactNs(999)), "999 ns");
}

TEST(TimeFormat, BytesUsePowersOf1024) {
  EXPECT_EQ(plain(formatBytes(0)), "0 B");
  EXPECT_EQ(plain(formatBytes(1536)), "1.5 KiB");
  EXPECT_EQ(plain(formatBytes(25 * 1024 * 1024)), "25 MiB");
}

TEST(Ticks, StandAtRoundTimesAndApart) {
  const auto marks = ticks(0, 1'000'000'000, 1000, 100);
  int labels = 0;
  for (const Tick& tick : marks)
    if (!tick.label.isEmpty()) {
      EXPECT_EQ(tick.ns % 100'000'000, 0) << tick.ns;
      ++labels;
    }
  EXPECT_EQ(labels, 11);
}

TEST(Ticks, ShareOneUnit) {
  const auto marks = ticks(900'000'000, 1'100'000'000, 1000, 100);
  int labels = 0;
  for (const Tick& tick : marks) {
    if (tick.label.isEmpty())
      continue;
    EXPECT_TRUE(plain(tick.label).ends_with(" s")) << tick.label.toStdString();
    ++labels;
  }
  EXPECT_GT(labels, 4);
}

TEST(Ticks, StayFewAtEveryZoom) {
  for (std::int64_t span = 100; span < 4'000'000'000'000'000; span *= 3) {
    const auto marks = ticks(-span / 3, span, 1900, 110);
    EXPECT_LE(marks.size(), 200U) << span;
    EXPECT_GE(marks.size(), 3U) << span;
  }
}

}  // namespace
}  // namespace sonde::gui
