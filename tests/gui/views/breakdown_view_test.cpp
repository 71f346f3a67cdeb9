#include "gui/views/breakdown/breakdown_view.h"

#include "analysis/store/trace_file.h"
#include "gui/views/chart/bar_chart.h"
#include "gui/views/theme.h"
#include "tests/gui/window_rig.h"
#include "tests/support/trace_builder.h"

#include <QComboBox>

#include <map>
#include <numeric>

namespace sonde::gui {
namespace {

namespace breakdown = engine::breakdown;

class BreakdownViewTest : public TimelineViewTest {
 protected:
  BreakdownViewTest() {
    window_.showView(QStringLiteral("breakdown"));
    openTraining();
  }

  [[nodiscard]] BreakdownView& view() {
    return *qobject_cast<BreakdownView*>(window_.view(QStringLiteral("breakdown")));
  }
  // As `sonde breakdown --by operation`.
  [[nodiscard]] std::map<std::string, std::int64_t> operations() const {
    breakdown::Options options;
    options.by.operation = true;
    std::map<std::string, std::int64_t> times;
    for (const breakdown::Row& row :
         test::must(
             breakdown::breakDown(test::must(store::openTrace(path("train.sonde"))), options))
             .rows)
      times[row.group.operations.empty() ? "outside of operations"
                                         : row.group.operations.front()] += row.ns;
    return times;
  }
};

TEST_F(BreakdownViewTest, HasTheNumbersOfTheBreakdown) {
  const auto times = operations();
  ASSERT_GT(times.size(), 2U);
  std::map<std::string, std::int64_t> drawn;
  for (const Bar& bar : view().chart().data().bars)
    drawn[bar.label.toStdString()] =
        static_cast<std::int64_t>(std::accumulate(bar.values.begin(), bar.values.end(), 0.0));
  EXPECT_EQ(drawn, times);
  std::map<std::string, std::int64_t> listed;
  for (const ValueRow& row : view().table().rows())
    listed[row.values[0].toString().toStdString()] += row.values[2].toLongLong();
  EXPECT_EQ(listed, times);
}

TEST_F(BreakdownViewTest, IterationsAreInTheirOrderAndAnotherChoiceIsReadAtOnce) {
  view().choose(BreakdownBy::Iteration, BreakdownBy::Resource);
  settle();
  QStringList labels;
  for (const Bar& bar : view().chart().data().bars)
    labels << bar.label;
  EXPECT_EQ(labels, (QStringList{"outside of iterations", "0", "1", "2", "3", "4", "5"}));
  EXPECT_EQ(view().chart().data().parts.front().name, "cpu");
}

TEST_F(BreakdownViewTest, AnOperationHasTheColourOfTheTimeline) {
  view().choose(BreakdownBy::Process, BreakdownBy::Operation);
  settle();
  const Theme theme(view().palette());
  std::map<QString, QColor> colors;
  for (const LegendKey& part : view().chart().data().parts)
    colors[part.name] = part.color;
  EXPECT_EQ(colors.at("backward"), theme.fill(Kind::Backward));
  EXPECT_EQ(colors.at("outside of operations"), theme.border);
}

TEST_F(BreakdownViewTest, AClickOnABarFocusesItsOperation) {
  auto* const chart = view().findChild<BarChart*>();
  for (std::size_t bar = 0; bar < chart->data().bars.size(); ++bar) {
    const QString operation = chart->data().bars[bar].place.operation;
    if (operation.isEmpty())
      continue;
    const QPoint at(4, static_cast<int>(chart->rectOf(bar, 0).center().y()));
    QTest::mouseClick(chart->viewport(), Qt::LeftButton, Qt::NoModifier, at);
    EXPECT_EQ(window_.models().focus.part().operation, operation);
    return;
  }
  ADD_FAILURE() << "no bar is of one operation";
}

}  // namespace
}  // namespace sonde::gui
