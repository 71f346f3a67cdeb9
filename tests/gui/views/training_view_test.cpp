#include "gui/views/training/training_view.h"

#include "gui/views/chart/line_chart.h"
#include "gui/views/chart/ridge_chart.h"
#include "tests/gui/window_rig.h"

#include <QListWidget>
#include <QTableView>

#include <string>

namespace sonde::gui {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Twenty iterations of 10 ms with two scalars, and a weight that was read in every second one.
void writeScalars(const std::string& path) {
  testing::SampleTrace trace(path);
  auto& writer = trace.writer();
  test::must(writer.add(model::Meta{"origin_ns", "1000000000"}));
  const auto process = trace.addProcess(7, 0, "python3 train.py");
  const auto thread = trace.addThread(process, 7, "main");
  trace.addSlice({thread, model::SliceKind::Operation, "work", 1000 * kMs, 300 * kMs});
  const auto loss = test::must(writer.intern("loss"));
  const auto rate = test::must(writer.intern("learning rate"));
  const auto weight = test::must(writer.intern("fc.weight"));
  for (int number = 0; number < 20; ++number) {
    const std::int64_t start = (1100 + 10 * number) * kMs;
    trace.addIteration(process, number, start, number == 12 ? 9 * kMs : 5 * kMs);
    test::must(writer.add(model::Scalar{process, number, loss, 2.0 / (number + 1), start + kMs}));
    if (number % 2 != 0)
      continue;
    test::must(writer.add(model::Scalar{process, number, rate, 0.1, start + kMs}));
    model::Tensor row;
    row.processId = process;
    row.iteration = number;
    row.nameId = weight;
    row.collection = "weights";
    row.tsNs = start + kMs;
    row.elements = 100;
    row.minimum = -1;
    row.mean = 0.25;
    row.maximum = 2;
    row.quantiles.front() = -1;
    row.quantiles.back() = 2;
    row.histogram = "[[-1,50],[0,30],[1,20],[2,0]]";
    test::must(writer.add(row));
  }
  trace.finish();
}

class TrainingViewTest : public TimelineViewTest {
 protected:
  TrainingViewTest() { window_.showView(QStringLiteral("training")); }

  void openScalars() {
    writeScalars(path("scalars.sonde"));
    open("scalars.sonde");
  }
  [[nodiscard]] TrainingView& view() {
    return *qobject_cast<TrainingView*>(window_.view(QStringLiteral("training")));
  }
};

TEST_F(TrainingViewTest, FollowsTheSelectedSpan) {
  openScalars();
  view().choose({"loss"});
  settle();
  window_.models().view.setArea(Area{{1134 * kMs, 1162 * kMs}, {}});  // iterations 3 to 6
  settle();
  ASSERT_EQ(view().charts().size(), 1U) << "what the user chose stays";
  const LineData& loss = view().charts()[0]->data();
  ASSERT_EQ(loss.series[0].points.size(), 4U);
  EXPECT_EQ(loss.series[0].points.front().x, 3);
  EXPECT_EQ(loss.lowX, 3);
  EXPECT_EQ(loss.highX, 6);
  EXPECT_EQ(view().times().data().series[0].points.size(), 4U);
  EXPECT_EQ(view().statistics().data().series[0].points.size(), 2U);
  EXPECT_EQ(view().ridges().data().ridges.size(), 2U);
  EXPECT_TRUE(view().hint().contains("selected span")) << view().hint().toStdString();
  window_.models().view.setArea(std::nullopt);
  settle();
  ASSERT_EQ(view().charts().size(), 1U);
  EXPECT_EQ(view().charts()[0]->data().series[0].points.size(), 20U);
  EXPECT_FALSE(view().hint().contains("selected span"));
}

TEST_F(TrainingViewTest, HasScalarsOverIterationsLinedUpWithTheirTime) {
  openScalars();
  ASSERT_EQ(view().message(), "");
  ASSERT_EQ(view().charts().size(), 2U);  // the first two are chosen
  const LineChart& loss = *view().charts()[0];
  ASSERT_EQ(loss.data().series.size(), 1U);
  ASSERT_EQ(loss.data().series[0].points.size(), 20U);
  EXPECT_EQ(loss.data().series[0].points[4].y, 0.4);
  EXPECT_EQ(view().charts()[1]->data().series[0].points.size(), 10U);
  const LineChart& times = view().times();
  EXPECT_EQ(times.data().series[0].points[12].y, 9 * kMs);
  const auto xOf = [](const LineChart& chart) {
    return chart.mapTo(chart.window(), chart.positionOf({12, 0}).toPoint()).x();
  };
  EXPECT_EQ(xOf(loss), xOf(times));
  EXPECT_EQ(xOf(*view().charts()[1]), xOf(times));
  EXPECT_EQ(xOf(view().statistics()), xOf(times));
}

TEST_F(TrainingViewTest, TheListChoosesTheCharts) {
  openScalars();
  auto* const list = view().findChild<QListWidget*>();
  ASSERT_EQ(list->count(), 2);
  QTest::mouseClick(list->viewport(),
                    Qt::LeftButton,
                    Qt::NoModifier,
                    list->visualItemRect(list->item(1)).center());
  settle();
  ASSERT_EQ(view().charts().size(), 1U);
  EXPECT_EQ(view().charts()[0]->data().series[0].points[0].y, 0.1);
  view().choose({"loss"});
  settle();
  EXPECT_EQ(view().charts()[0]->data().series[0].points[0].y, 2);
}

TEST_F(TrainingViewTest, HasHistogramsAndStatisticsOfATensor) {
  openScalars();
  ASSERT_EQ(view().tensors().rows().size(), 1U);
  EXPECT_EQ(view().statistics().data().series[1].points.size(), 10U);
  EXPECT_EQ(view().statistics().data().series[1].points[0].y, 0.25);
  ASSERT_EQ(view().ridges().data().ridges.size(), 10U);
  EXPECT_EQ(view().ridges().data().ridges[3].label, "6");
  EXPECT_TRUE(view().ridges().isVisible());
  EXPECT_TRUE(view().ridges().textAt(view().ridges().positionOf(9, 40)).startsWith("iteration 18"));
}

TEST_F(TrainingViewTest, AClickShowsTheIterationInTheTimeline) {
  openScalars();
  const LineChart* const loss = view().charts()[0];
  QTest::mouseClick(const_cast<LineChart*>(loss),
                    Qt::LeftButton,
                    Qt::NoModifier,
                    loss->positionOf(loss->data().series[0].points[3]).toPoint());
  settle();
  EXPECT_TRUE(window_.timeline().isVisible());
  EXPECT_LE(shown().beginNs(), 1130 * kMs);
  EXPECT_GE(shown().endNs(), 1135 * kMs);
  EXPECT_LT(shown().endNs() - shown().beginNs(), 20 * kMs);
}

TEST_F(TrainingViewTest, SaysWhatIsMissing) {
  openTraining();
  EXPECT_TRUE(view().message().contains("sonde.scalar")) << view().message().toStdString();
}

TEST_F(TrainingViewTest, WithoutTensorsHasScalarsAlone) {
  test::writeTrainingRun(path("run.sonde"), test::TrainingRun());
  open("run.sonde");
  ASSERT_EQ(view().message(), "");
  ASSERT_EQ(view().charts().size(), 1U);
  EXPECT_FALSE(view().ridges().isVisible());
  EXPECT_FALSE(view().statistics().isVisible());
}

}  // namespace
}  // namespace sonde::gui
