#include "gui/models/viewport.h"

#include <gtest/gtest.h>

namespace sonde::gui {
namespace {

constexpr std::int64_t kDays = 400'000'000'000'000;  // a clock's zero lies days before the trace
constexpr std::int64_t kSecond = 1'000'000'000;

Viewport wide(std::int64_t begin, std::int64_t end) {
  Viewport viewport;
  viewport.setBounds(begin, end);
  viewport.setWidth(1920);
  return viewport;
}

TEST(Viewport, ShowsAllAtFirstWithAMargin) {
  const Viewport viewport = wide(kDays, kDays + kSecond);
  EXPECT_TRUE(viewport.showsAll());
  EXPECT_GT(viewport.xAt(kDays), 10);
  EXPECT_LT(viewport.xAt(kDays + kSecond), 1910);
}

TEST(Viewport, TimesFarFromZeroStayExactAtTheFinestZoom) {
  Viewport viewport = wide(kDays, kDays + kSecond);
  viewport.show(kDays + 12'345, kDays + 12'345 + Viewport::kMinSpanNs);
  ASSERT_EQ(viewport.spanNs(), Viewport::kMinSpanNs);
  for (std::int64_t ns = viewport.beginNs(); ns < viewport.endNs(); ++ns)
    EXPECT_EQ(viewport.timeAt(viewport.xAt(ns)), ns);
}

TEST(Viewport, ZoomKeepsTheTimeUnderTheMouse) {
  Viewport viewport = wide(kDays, kDays + 1000 * kSecond);
  viewport.show(kDays + 400 * kSecond, kDays + 500 * kSecond);
  const std::int64_t under = viewport.timeAt(700);
  for (int step = 0; step < 60; ++step)
    viewport.zoomAt(700, 0.8);
  // The window is shorter now, so a pixel stands for less time than when `under` was read.
  EXPECT_NEAR(viewport.xAt(under), 700, 1.0 + 100.0 / viewport.nsPerPixel());
  EXPECT_LT(viewport.spanNs(), 200'000);
}

TEST(Viewport, ZoomThereAndBackEndsWhereItBegan) {
  Viewport viewport = wide(kDays, kDays + 1000 * kSecond);
  viewport.show(kDays + 400 * kSecond, kDays + 500 * kSecond);
  const Viewport before = viewport;
  for (int round = 0; round < 200; ++round) {
    viewport.zoomAt(123, 0.5);
    viewport.zoomAt(123, 2.0);
  }
  EXPECT_NEAR(static_cast<double>(viewport.beginNs() - before.beginNs()), 0.0, 400.0);
  EXPECT_NEAR(static_cast<double>(viewport.spanNs() - before.spanNs()), 0.0, 400.0);
}

TEST(Viewport, PanThereAndBackIsExact) {
  Viewport viewport = wide(kDays, kDays + 1000 * kSecond);
  viewport.show(kDays + 400 * kSecond + 1, kDays + 401 * kSecond);
  const Viewport before = viewport;
  for (int round = 0; round < 1000; ++round) {
    viewport.panPixels(17);
    viewport.panPixels(-17);
  }
  EXPECT_EQ(viewport, before);
}

TEST(Viewport, StaysAtTheTrace) {
  Viewport viewport = wide(0, kSecond);
  viewport.show(0, kSecond / 10);
  viewport.panPixels(-1e9);
  EXPECT_GE(viewport.endNs(), kSecond / 20);
  viewport.panPixels(1e12);
  EXPECT_LE(viewport.beginNs(), kSecond);
  EXPECT_GE(viewport.endNs(), kSecond);
  viewport.zoomAt(0, 1e9);
  EXPECT_TRUE(viewport.showsAll());
}

TEST(Viewport, HasNoEmptySpan) {
  Viewport viewport = wide(5, 5);
  viewport.show(5, 5);
  EXPECT_GE(viewport.spanNs(), Viewport::kMinSpanNs);
  viewport.setWidth(0);
  EXPECT_EQ(viewport.width(), 1);
}

TEST(Viewport, ResizeKeepsTheWindow) {
  Viewport viewport = wide(0, kSecond);
  viewport.show(100, 200'100);
  const std::int64_t begin = viewport.beginNs();
  const std::int64_t span = viewport.spanNs();
  viewport.setWidth(300);
  EXPECT_EQ(viewport.beginNs(), begin);
  EXPECT_EQ(viewport.spanNs(), span);
}

}  // namespace
}  // namespace sonde::gui
