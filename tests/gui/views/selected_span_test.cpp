// All views are limited to the span that the user selects in the timeline, and say so.
#include "analysis/store/trace_file.h"
#include "gui/views/breakdown/breakdown_view.h"
#include "gui/views/chart/heat_map.h"
#include "gui/views/ranks/ranks_view.h"
#include "gui/views/table/table_panel.h"
#include "gui/views/tables/tables_view.h"
#include "gui/views/window/focus_bar.h"
#include "tests/gui/window_rig.h"
#include "tests/support/trace_builder.h"

#include <QDockWidget>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QTableView>
#include <QToolButton>

#include <map>

namespace sonde::gui {
namespace {

using Totals = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;  // count and ns

class SelectedSpanTest : public TimelineViewTest {
 protected:
  template <typename View>
  [[nodiscard]] View& viewOf(const char* word) {
    window_.showView(QLatin1String(word));
    settle();
    return *qobject_cast<View*>(window_.view(QLatin1String(word)));
  }
  // A drag over the ruler, between shares of the timeline's width.
  Span drag(double from, double to) {
    window_.showView(QStringLiteral("timeline"));
    settle();
    QWidget* target = window_.timeline().viewport();
    const int left = window_.timeline().labelWidth();
    const int width = target->width() - left;
    const QPoint press(left + static_cast<int>(from * width), 4);
    const QPoint release(left + static_cast<int>(to * width), 4);
    QTest::mousePress(target, Qt::LeftButton, Qt::NoModifier, press);
    QTest::mouseMove(target, press + QPoint(20, 0));
    QTest::mouseMove(target, release);
    QTest::mouseRelease(target, Qt::LeftButton, Qt::NoModifier, release);
    settle();
    return window_.models().view.area()->span;
  }
  // Rows of (name, count, ns).
  [[nodiscard]] Totals query(const char* name, const QString& sql) const {
    const store::Database trace = test::must(store::openTrace(path(name)));
    store::Statement rows = test::must(trace.prepare(sql.toStdString()));
    Totals totals;
    while (test::must(rows.step()))
      totals[std::string(rows.text(0))] = {rows.integer(1), rows.integer(2)};
    return totals;
  }
  // The events of a table of `sonde stats`, by name.
  [[nodiscard]] Totals summary(const char* table) {
    auto& view = viewOf<TablesView>("tables");
    view.choose(QLatin1String(table));
    settle();
    Totals totals;
    const auto& columns = view.table().columns();
    for (const ValueRow& row : view.table().rows()) {
      auto& [count, ns] = totals[row.place.name.toStdString()];
      for (std::size_t at = 0; at < columns.size(); ++at)
        if (columns[at].title == u"Instances" || columns[at].title == u"Num Calls")
          count += row.values[at].toLongLong();
        else if (columns[at].title == u"Total Time")
          ns += row.values[at].toLongLong();
    }
    return totals;
  }
  [[nodiscard]] Totals selected() {
    Totals totals;
    for (const SpanRow& row : window_.models().totals.rows())
      totals[row.name.toStdString()] = {row.count, row.totalNs};
    return totals;
  }
  [[nodiscard]] bool hasTotals() { return window_.findChild<QDockWidget*>("span")->isVisible(); }
  void trigger(const QString& text) {
    for (const QAction* menu : window_.menuBar()->actions())
      for (QAction* action : menu->menu()->actions())
        if (action->text().remove(u'&') == text)
          action->trigger();
    settle();
  }
};

TEST_F(SelectedSpanTest, StatisticsOfASelectionEqualTheSameQueryInSql) {
  (void)testing::writeDeviceWork(path("work.sonde"), 5);
  open("work.sonde");
  window_.models().view.change(&Viewport::fit);
  const auto kernels =
      QStringLiteral("SELECT name, count(*), sum(dur_ns) FROM v_kernel GROUP BY 1");
  const Span span = drag(0.02, 0.07);
  const auto during = [&](const char* table, const char* condition) {
    return query("work.sonde",
                 QStringLiteral("SELECT name, count(*), sum(min(end_ns, %2) - max(start_ns, %1)) "
                                "FROM %3 WHERE start_ns < %2 AND end_ns > %1 AND %4 GROUP BY 1")
                     .arg(span.beginNs)
                     .arg(span.endNs)
                     .arg(QLatin1String(table), QLatin1String(condition)));
  };
  const Totals some = during("v_kernel", "1");
  EXPECT_GT(some.size(), 0U);
  EXPECT_NE(some, query("work.sonde", kernels));
  EXPECT_EQ(summary("cuda_gpu_kern_sum"), some);
  EXPECT_EQ(summary("nvtx_sum"),
            during("v_slice", "category IN ('annotation', 'torch') AND kind <> 'mark'"));
  for (const auto& [name, total] : some)
    EXPECT_EQ(selected()[name], total) << name;
  window_.models().view.setArea(std::nullopt);
  settle();
  EXPECT_EQ(summary("cuda_gpu_kern_sum"), query("work.sonde", kernels));
}

TEST_F(SelectedSpanTest, TheBreakdownIsOfTheSpan) {
  openTraining();
  const auto total = [&] {
    std::int64_t ns = 0;
    for (const ValueRow& row : viewOf<BreakdownView>("breakdown").table().rows())
      ns += row.values[2].toLongLong();
    return ns;
  };
  const std::int64_t all = total();
  const Span span = drag(0.3, 0.5);
  const Totals processes =
      query("train.sonde",
            QStringLiteral("SELECT '', count(*), sum(min(end_ns, %2) - max(start_ns, %1)) FROM "
                           "v_process WHERE start_ns < %2 AND end_ns > %1")
                .arg(span.beginNs)
                .arg(span.endNs));
  EXPECT_EQ(total(), processes.at("").second);
  EXPECT_LT(total(), all);
  window_.models().view.setArea(Area{{0, 1}, {}});
  settle();
  EXPECT_TRUE(viewOf<BreakdownView>("breakdown").message().contains(u"range of time"));
  window_.models().view.setArea(std::nullopt);
  settle();
  EXPECT_EQ(total(), all);
}

TEST_F(SelectedSpanTest, RanksHaveTheIterationsOfTheSpan) {
  openTraining();
  const IterationInfo& second = window_.models().document.skeleton().iterations.at(1);
  ASSERT_EQ(second.number, 1);
  window_.models().view.setArea(
      Area{{second.startNs + 10, second.startNs + second.durNs - 10}, {}});
  EXPECT_EQ(viewOf<RanksView>("ranks").map().data().columns, (std::vector<QString>{"1"}));
}

TEST_F(SelectedSpanTest, TheToolBarShowsTheSpanAndAClickRemovesIt) {
  openTraining();
  auto* bar = window_.findChild<FocusBar*>();
  auto* time = bar->findChild<QToolButton*>("selectedTime");
  EXPECT_FALSE(time->isVisible());
  window_.showTime({120'000'000, 160'000'000});
  settle();
  EXPECT_TRUE(time->isVisible());
  EXPECT_EQ(bar->timeText(), QString("120.0\u00a0ms – 160.0\u00a0ms"));
  QTest::mouseClick(time, Qt::LeftButton);
  EXPECT_FALSE(window_.models().view.area());
  EXPECT_FALSE(time->isVisible());
}

TEST_F(SelectedSpanTest, OtherViewsSayThatTheyAreOfTheWholeTrace) {
  openTraining();
  const auto isWhole = [&](const char* word) {
    return viewOf<Panel>(word).findChild<QLabel*>("wholeTrace")->isVisible();
  };
  EXPECT_FALSE(isWhole("overview"));
  drag(0.3, 0.5);
  EXPECT_TRUE(isWhole("overview"));
  EXPECT_FALSE(isWhole("breakdown"));
}

TEST_F(SelectedSpanTest, TotalsFollowTheSpanHoweverItChanges) {
  openTraining();
  drag(0.3, 0.5);
  EXPECT_TRUE(hasTotals());
  QTest::qWait(500);  // a movement counts once it has come to rest
  const Totals first = selected();
  drag(0.6, 0.7);
  EXPECT_NE(selected(), first);
  window_.models().history.goBack();
  settle();
  EXPECT_EQ(selected(), first);
  trigger(QStringLiteral("Show all again"));
  EXPECT_TRUE(selected().empty());
  EXPECT_FALSE(hasTotals());
  window_.showTime({120'000'000, 160'000'000});  // as --at
  settle();
  EXPECT_FALSE(selected().empty());
  EXPECT_TRUE(hasTotals());
}

TEST_F(SelectedSpanTest, ViewsReadOnceADragEnds) {
  openTraining();
  int announced = 0;
  QObject::connect(&window_.models().view, &ViewState::areaChanged, &window_, [&] { ++announced; });
  drag(0.3, 0.5);
  EXPECT_EQ(announced, 1);
}

TEST_F(SelectedSpanTest, ATableSaysWhichRowsTheFocusHides) {
  openTraining();
  auto& view = viewOf<TablesView>("tables");
  view.choose(QStringLiteral("nvtx_sum"));
  settle();
  auto* panel = view.findChild<TablePanel*>();
  auto* limits = panel->findChild<QLabel*>("limits");
  EXPECT_FALSE(limits->isVisible());
  const auto all = static_cast<int>(view.table().rows().size());
  window_.models().focus.set({{}, {}, QStringLiteral("conv1")});
  EXPECT_EQ(
      panel->limits(),
      QStringLiteral("%1 of %2 rows: limited to “conv1”").arg(panel->shown().rowCount()).arg(all));
  EXPECT_LT(panel->shown().rowCount(), all);
  ASSERT_TRUE(limits->isVisible());
  emit limits->linkActivated(QStringLiteral("all"));
  EXPECT_TRUE(window_.models().focus.part().isAll());
  EXPECT_FALSE(limits->isVisible());
  EXPECT_EQ(panel->shown().rowCount(), all);
}

}  // namespace
}  // namespace sonde::gui
