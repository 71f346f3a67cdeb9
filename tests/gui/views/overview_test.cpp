#include "analysis/store/trace_file.h"
#include "gui/views/chart/bar_chart.h"
#include "gui/views/chart/line_chart.h"
#include "gui/views/overview/overview_view.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/window_rig.h"
#include "tests/support/trace_builder.h"

#include <cmath>

namespace sonde::gui {
namespace {

class OverviewTest : public TimelineViewTest {
 protected:
  OverviewTest() {
    window_.showView(QStringLiteral("overview"));
    openTraining();
  }

  [[nodiscard]] OverviewView& overview() {
    return *qobject_cast<OverviewView*>(window_.view(QStringLiteral("overview")));
  }
  [[nodiscard]] engine::report::JobReport report() const {
    return test::must(readJobReport(test::must(store::openTrace(path("train.sonde")))));
  }
};

TEST_F(OverviewTest, HasTheNumbersOfTheReport) {
  const engine::report::JobReport report = this->report();
  const auto& rank = report.ranks.front();
  ASSERT_EQ(overview().message(), "");
  std::size_t operations = 0;
  for (const auto& each : report.ranks)
    operations += each.operations.size();
  ASSERT_EQ(overview().operations().rows().size(), operations);
  for (std::size_t at = 0; at < rank.operations.size(); ++at) {
    const auto& values = overview().operations().rows()[at].values;
    EXPECT_EQ(values[0].toString().toStdString(), rank.operations[at].name);
    EXPECT_EQ(values[4].toLongLong(), rank.operationTimes[at].ns);
  }
  const Series& iterations = overview().iterations().data().series.front();
  ASSERT_EQ(iterations.points.size(), rank.iterationTimes.size());
  EXPECT_EQ(iterations.points[2].y, static_cast<double>(rank.iterationTimes[2].ns));
  const Bar& times = overview().times().data().bars.front();
  EXPECT_EQ(times.values[0], static_cast<double>(rank.time.computeNs));
  EXPECT_EQ(overview().path().rows().size(), report.path.causes.size());
}

TEST_F(OverviewTest, AClickOnAnIterationShowsItInTheTimeline) {
  auto* const chart = overview().findChild<LineChart*>();
  const ChartPoint& point = chart->data().series.front().points[3];
  QTest::mouseClick(chart, Qt::LeftButton, Qt::NoModifier, chart->positionOf(point).toPoint());
  settle();
  EXPECT_TRUE(window_.timeline().isVisible());
  const auto& iteration = window_.models().document.skeleton().iterations[3];
  EXPECT_LT(shown().beginNs(), iteration.startNs);
  EXPECT_GT(shown().endNs(), iteration.startNs + iteration.durNs);
  EXPECT_LT(shown().spanNs(), 2 * iteration.durNs);
}

// A loop over marks that adds a tiny step would never end.
TEST(LineChartTest, DrawsValuesThatDoublesCanHardlyTellApart) {
  for (const double value : {0.1, 1e308, -1e30, 0.0}) {
    LineChart chart;
    chart.resize(500, 200);
    chart.show(
        {"iteration",
         ValueKind::Real,
         false,
         {{"lr", Qt::red, {{0, value}, {1, std::nextafter(value, 2 * value)}, {2, value}}}}});
    EXPECT_FALSE(chart.grab().isNull());
    EXPECT_TRUE(chart.rect().contains(chart.positionOf({1, value}).toPoint())) << value;
  }
}

TEST_F(OverviewTest, ReadsOnlyWhenItIsVisible) {
  window_.showView(QStringLiteral("timeline"));
  open("train.sonde");
  EXPECT_NE(overview().message(), "");
  window_.showView(QStringLiteral("overview"));
  settle();
  EXPECT_EQ(overview().message(), "");
}

TEST_F(OverviewTest, SaysWhyItShowsNothing) {
  window_.open({file("none.sonde")});
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_.models().settled(); }, 20'000));
  EXPECT_NE(overview().message(), "");
}

}  // namespace
}  // namespace sonde::gui
