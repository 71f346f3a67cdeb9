// Raw and corrected times: one choice, which all views follow.
#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/store/trace_file.h"
#include "gui/trace/time_format.h"
#include "gui/views/breakdown/breakdown_view.h"
#include "gui/views/overview/overview_view.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/window_rig.h"
#include "tests/support/trace_builder.h"

#include <QAction>
#include <QLabel>
#include <QTreeView>

#include <algorithm>

namespace sonde::gui {
namespace {

using testing::SampleTrace;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kLength = 4 * kMs;  // of each event
constexpr std::int64_t kInside = kMs / 2;  // of its cost

class TimeBasisTest : public TimelineViewTest {
 protected:
  // One second of an operation with a hundred others in it. Each costs 2 ms.
  void openCosts() {
    SampleTrace trace(path("costs.sonde"));
    const auto thread = trace.addThread(trace.addProcess(1, 0, "train"), 1, "main");
    const auto outer =
        trace.addSlice({thread, model::SliceKind::Operation, "outer", 1'000 * kMs, 1'000 * kMs});
    for (std::int64_t at = 0; at < 100; ++at)
      trace.addSlice({thread,
                      model::SliceKind::Operation,
                      "inner",
                      (1'000 + 10 * at + 3) * kMs,
                      kLength,
                      1,
                      outer});
    test::must(trace.writer().add(model::Overhead{.probe = "annotation",
                                                  .api = "scope",
                                                  .meanNs = 2.0 * kMs,
                                                  .errorNs = 1'000,
                                                  .method = "micro-loop",
                                                  .beforeNs = 1.0 * kMs,
                                                  .insideNs = double(kInside)}));
    trace.finish();
    open("costs.sonde");
  }
  [[nodiscard]] std::int64_t total(bool isCorrected) const {
    engine::breakdown::Options options;
    options.by.operation = true;
    options.correct = isCorrected;
    return test::must(engine::breakdown::breakDown(
                          test::must(store::openTrace(path("costs.sonde"))), options))
        .totalNs;
  }
  [[nodiscard]] QAction* action() {
    for (QAction* each : window_.findChildren<QAction*>())
      if (each->shortcut() == QKeySequence(Qt::CTRL | Qt::Key_T))
        return each;
    return nullptr;
  }
  void toggle() {
    QTest::keyClick(&window_, Qt::Key_T, Qt::ControlModifier);
    settle();
  }
  template <typename View>
  [[nodiscard]] View& viewOf(const char* word) {
    window_.showView(QLatin1String(word));
    settle();
    return *qobject_cast<View*>(window_.view(QLatin1String(word)));
  }
  // The value of a row of the details; empty: there is no such row.
  [[nodiscard]] QString detail(const QString& name) {
    const QAbstractItemModel& model =
        *window_.findChild<QWidget*>(QStringLiteral("details"))->findChild<QTreeView*>()->model();
    for (int section = 0; section < model.rowCount(); ++section) {
      const QModelIndex parent = model.index(section, 0);
      for (int row = 0; row < model.rowCount(parent); ++row)
        if (model.index(row, 0, parent).data().toString() == name)
          return model.index(row, 1, parent).data().toString();
    }
    return {};
  }
};

TEST_F(TimeBasisTest, TheBreakdownHasTheTimesThatWereChosen) {
  openCosts();
  auto& view = viewOf<BreakdownView>("breakdown");
  const auto sum = [&] {
    std::int64_t ns = 0;
    for (const ValueRow& row : view.table().rows())
      ns += row.values[2].toLongLong();
    return ns;
  };
  ASSERT_LT(total(true), total(false));
  EXPECT_EQ(sum(), total(true));
  toggle();
  EXPECT_EQ(sum(), total(false));
  EXPECT_FALSE(action()->isChecked());
  EXPECT_EQ(action()->iconText(), "Raw times");
  toggle();
  EXPECT_EQ(sum(), total(true));
  EXPECT_EQ(action()->iconText(), "Corrected times");
}

TEST_F(TimeBasisTest, TheOverviewHasTheTimesThatWereChosen) {
  openCosts();
  auto& view = viewOf<OverviewView>("overview");
  const auto outer = [&] {
    for (const ValueRow& row : view.operations().rows())
      if (row.values[0].toString() == QLatin1String("outer"))
        return row.values[4].toLongLong();
    return qlonglong{0};
  };
  const qlonglong corrected = outer();
  toggle();
  EXPECT_EQ(outer(), 1'000 * kMs);
  EXPECT_LT(corrected, outer());
}

TEST_F(TimeBasisTest, TheDetailsSayHowMuchOfAnEventWasSondes) {
  openCosts();
  click(middleOf(0, "inner"));
  ASSERT_TRUE(window_.models().selection.details());
  EXPECT_EQ(detail("Corrected duration"), formatDuration(kLength - kInside));
  EXPECT_EQ(detail("Sonde's own"), formatDuration(kInside));
  toggle();
  EXPECT_EQ(detail("Sonde's own"), QString());
  toggle();
  EXPECT_EQ(detail("Sonde's own"), formatDuration(kInside));
}

// The first inner event lasts from 3 to 7 ms. The cost before it and that inside the outer one lie
// between their begins, that inside is spread over it, and that behind it over the 6 ms until the
// next one, with the cost before that.
TEST_F(TimeBasisTest, TheTimelineShowsWhereTheCostLies) {
  openCosts();
  const std::int64_t begin = 1'000 * kMs;
  const std::int64_t end = 1'010 * kMs;
  window_.models().view.change(&Viewport::show, begin, end, 0.0);
  settle();
  double costNs = 0;
  for (const engine::correction::CostSpan& cost : *window_.models().timeline.costs(0))
    costNs += cost.share *
              double(std::max(std::min(cost.endNs, end) - std::max(cost.beginNs, begin), 0l));
  const double rounding = double(end - begin) / 64;
  EXPECT_NEAR(costNs, (1.0 * kMs + kInside) + kInside + 0.75 * kMs, rounding);
  const QPoint inner = middleOf(0, "inner") + QPoint(0, 5);
  const QColor corrected = pixel(inner);
  toggle();
  const QColor raw = pixel(inner);
  EXPECT_TRUE(window_.models().timeline.costs(0)->empty());
  EXPECT_LT(raw.lightnessF(), corrected.lightnessF());
  toggle();
  EXPECT_EQ(pixel(inner), corrected);
}

TEST_F(TimeBasisTest, TheTotalsOfTheSelectedSpanHaveTheTimesThatWereChosen) {
  openCosts();
  const auto inner = [&] {
    settle();
    for (const SpanRow& row : window_.models().totals.rows())
      if (row.name == QLatin1String("inner"))
        return row;
    return SpanRow();
  };
  // Two whole ones, and three quarters of a third, with as much of its cost.
  window_.models().view.setArea(Area{{1'004 * kMs, 1'030 * kMs}, {}});
  EXPECT_EQ(inner().count, 3);
  EXPECT_EQ(inner().totalNs, 3 * kLength - kMs - 11 * kInside / 4);
  EXPECT_EQ(inner().maxNs, kLength - kInside);
  toggle();
  EXPECT_EQ(inner().totalNs, 3 * kLength - kMs);
  EXPECT_EQ(inner().maxNs, kLength);
}

TEST_F(TimeBasisTest, WithoutKnownCostsTheActionSaysWhatToRun) {
  openTraining();
  ASSERT_NE(action(), nullptr);
  EXPECT_FALSE(action()->isEnabled());
  EXPECT_TRUE(action()->toolTip().contains("sonde run --calibrate"));
  openCosts();
  EXPECT_TRUE(action()->isEnabled());
  EXPECT_TRUE(action()->toolTip().contains("micro-loop")) << action()->toolTip().toStdString();
}

}  // namespace
}  // namespace sonde::gui
