// The charts that no view has a test of its own for.
#include "gui/views/chart/line_chart.h"
#include "gui/views/chart/ridge_chart.h"
#include "gui/views/chart/scatter_chart.h"
#include "gui/views/theme.h"

#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

#include <cmath>

namespace sonde::gui {
namespace {

constexpr QRgb kRed = 0xffcc0000;

ScatterData twoPoints() {
  return {"x",
          "y",
          {{1, 10, 100, QColor(kRed), "heavy"},
           {100, 1000, 1, QColor(kRed), "light"},
           {0, 5, 9, QColor(kRed), "none"}},
          {{"roof", {{1, 100}, {1000, 100'000}}}}};
}

TEST(ScatterChartTest, HasLogarithmicAxes) {
  ScatterChart chart;
  chart.resize(600, 400);
  chart.show(twoPoints());
  const QPointF one = chart.positionOf(1, 100);
  const QPointF ten = chart.positionOf(10, 100);
  const QPointF hundred = chart.positionOf(100, 1000);
  EXPECT_NEAR(ten.x() - one.x(), hundred.x() - ten.x(), 1e-6);
  EXPECT_LT(hundred.y(), ten.y());
  EXPECT_GE(chart.positionOf(1000, 100'000).y(), 0);
}

TEST(ScatterChartTest, FindsThePointUnderTheMouse) {
  ScatterChart chart;
  chart.setPalette(plainPalette(false));
  chart.resize(600, 400);
  chart.show(twoPoints());
  const QSignalSpy clicks(&chart, &ScatterChart::clicked);
  const QPointF heavy = chart.positionOf(1, 10);
  EXPECT_EQ(chart.textAt(heavy + QPointF(12, 0)), "heavy");  // within its area
  EXPECT_EQ(chart.textAt(chart.positionOf(100, 1000) + QPointF(12, 0)), "");
  QTest::mouseClick(&chart, Qt::LeftButton, Qt::NoModifier, chart.positionOf(100, 1000).toPoint());
  ASSERT_EQ(clicks.count(), 1);
  EXPECT_EQ(clicks[0][0].toULongLong(), 1U);
  chart.select(1);
  const QImage image = chart.grab().toImage();
  EXPECT_EQ(image.pixelColor(chart.positionOf(100, 1000).toPoint()).rgb(), kRed);
}

TEST(ScatterChartTest, DrawsNothingWithoutPoints) {
  ScatterChart chart;
  chart.resize(300, 200);
  chart.show({});
  EXPECT_FALSE(chart.grab().isNull());
  EXPECT_EQ(chart.textAt({150, 100}), "");
}

RidgeData threeRidges() {
  RidgeData data{"iteration", "of the elements", -1, 1, {}, QColor(kRed)};
  for (int ridge = 0; ridge < 3; ++ridge) {
    Place place;
    place.rank = ridge;
    data.ridges.push_back({QString::number(10 * ridge), {0.1, 0.8, 0.1, 0}, place});
  }
  return data;
}

TEST(RidgeChartTest, ShiftsEachRidgeUpwards) {
  RidgeChart chart;
  chart.resize(400, 300);
  chart.show(threeRidges());
  for (std::size_t ridge = 1; ridge < 3; ++ridge) {
    EXPECT_LT(chart.positionOf(ridge, 1).y(), chart.positionOf(ridge - 1, 1).y());
    EXPECT_EQ(chart.positionOf(ridge, 1).x(), chart.positionOf(0, 1).x());
  }
  EXPECT_GE(chart.positionOf(2, 1).y(), 0);
  EXPECT_LT(chart.positionOf(0, 1).y(), chart.positionOf(0, 0).y());
}

TEST(RidgeChartTest, NamesIterationAndBin) {
  RidgeChart chart;
  chart.setPalette(plainPalette(false));
  chart.resize(400, 300);
  chart.show(threeRidges());
  const QSignalSpy clicks(&chart, &RidgeChart::clicked);
  const QPointF top = chart.positionOf(2, 1) + QPointF(0, 1);
  EXPECT_EQ(chart.textAt(top), QString("iteration 20, -0.5 to 0: 80.0 % of the elements"));
  EXPECT_EQ(chart.textAt({2, 2}), "");
  QTest::mouseClick(&chart, Qt::LeftButton, Qt::NoModifier, top.toPoint());
  ASSERT_EQ(clicks.count(), 1);
  EXPECT_EQ(clicks[0][0].value<Place>().rank, 2);
  EXPECT_NE(chart.grab().toImage().pixelColor(chart.positionOf(0, 1).toPoint() + QPoint(0, 4)),
            Theme(chart.palette()).background);
}

TEST(LineChartTest, KeepsAFixedAxisAndSaysWhereAClickWas) {
  LineChart chart;
  chart.resize(500, 200);
  LineData data{"seconds", ValueKind::Real};
  data.lowX = 0;
  data.highX = 10;
  data.series = {{"a", QColor(kRed), {{4, 1}, {5, 2}}, true}};
  data.marks = {{4, "peak"}};
  chart.show(data);
  const double middle = chart.positionOf({5, 0}).x();
  EXPECT_NEAR(middle - chart.positionOf({0, 0}).x(), chart.positionOf({10, 0}).x() - middle, 1e-6);
  EXPECT_GT(chart.positionOf({0, 0}).x(), 0);
  EXPECT_LT(chart.positionOf({10, 0}).x(), chart.width());
  const QSignalSpy clicks(&chart, &LineChart::clickedAt);
  QTest::mouseClick(&chart, Qt::LeftButton, Qt::NoModifier, chart.positionOf({7.5, 1}).toPoint());
  ASSERT_EQ(clicks.count(), 1);
  EXPECT_NEAR(clicks[0][0].toDouble(), 7.5, 0.05);
}

// The step is drawn at the end of a value, not as a slope.
TEST(LineChartTest, DrawsSteps) {
  LineChart chart;
  chart.setPalette(plainPalette(false));
  chart.resize(500, 200);
  chart.show({"seconds", ValueKind::Real, true, {{"a", QColor(kRed), {{0, 1}, {10, 2}}, true}}});
  const QImage image = chart.grab().toImage();
  const auto isRedAt = [&](const QPointF& at) {
    for (int y = -1; y <= 1; ++y) {
      const QColor pixel = image.pixelColor(at.toPoint() + QPoint(0, y));
      if (pixel.red() > pixel.blue() + 60)
        return true;
    }
    return false;
  };
  EXPECT_TRUE(isRedAt(chart.positionOf({5, 1})));
  EXPECT_FALSE(isRedAt(chart.positionOf({5, 1.5})));
}

}  // namespace
}  // namespace sonde::gui
