#include "gui/views/compare/compare_view.h"

#include "analysis/store/trace_file.h"
#include "gui/views/chart/lane_chart.h"
#include "gui/views/table/table_panel.h"
#include "gui/views/theme.h"
#include "tests/gui/window_rig.h"
#include "tests/support/trace_builder.h"

#include <QComboBox>
#include <QFile>
#include <QFileInfo>
#include <QTableView>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

namespace sonde::gui {
namespace {

class CompareViewTest : public TimelineViewTest {
 protected:
  CompareViewTest() {
    testing::writeTraining(path("before.sonde"), 60);
    testing::writeTraining(path("after.sonde"), 60);
    // Iterations and their parts take twice as long as before.
    store::Database after =
        test::must(store::Database::open(path("after.sonde"), store::Access::ReadWrite));
    test::must(after.exec("UPDATE iteration SET dur_ns = 2 * dur_ns"));
    window_.showView(QStringLiteral("compare"));
    open("after.sonde");
  }

  // The length of iteration `number` on the rank where it takes longest.
  [[nodiscard]] std::int64_t lengthOf(const char* name, std::int64_t number) const {
    const store::Database trace =
        test::must(store::Database::open(path(name), store::Access::ReadOnly));
    return test::must(trace.queryInteger(
        "SELECT max(end_ns) - min(start_ns) FROM (SELECT start_ns, start_ns + dur_ns AS end_ns "
        "FROM v_iteration WHERE number = " +
        std::to_string(number) + ")"));
  }
  void clickRow(const QString& what) {
    const auto& rows = view().table().rows();
    for (std::size_t row = 0; row < rows.size(); ++row)
      if (rows[row].values[0] == what) {
        QTableView& table = view().rows().view();
        const QModelIndex index = view().rows().shown().mapFromSource(
            view().rows().shown().sourceModel()->index(static_cast<int>(row), 0));
        table.scrollTo(index);
        QTest::mouseClick(
            table.viewport(), Qt::LeftButton, Qt::NoModifier, table.visualRect(index).center());
        return;
      }
    ADD_FAILURE() << "no row of " << what.toStdString();
  }
  [[nodiscard]] CompareView& view() {
    return *qobject_cast<CompareView*>(window_.view(QStringLiteral("compare")));
  }
};

TEST_F(CompareViewTest, SaysWhatToChooseFirst) {
  EXPECT_TRUE(view().sentence().contains("Choose")) << view().sentence().toStdString();
  EXPECT_TRUE(view().table().rows().empty());
}

TEST_F(CompareViewTest, ShowsTheNumbersOfTheDifference) {
  view().compareWith({file("before.sonde")});
  settle();
  const store::Database after = test::must(store::openTrace(path("after.sonde")));
  const auto diff =
      test::must(compareTraces(after, {{file("before.sonde")}, {file("after.sonde")}})).diff;
  ASSERT_EQ(view().table().rows().size(), diff.rows.size());
  const auto& iteration = view().table().rows().front().values;
  EXPECT_EQ(iteration[2], "slower");
  EXPECT_NEAR(iteration[6].toDouble(), 1.0, 0.01);
  EXPECT_EQ(iteration[6].toDouble(), diff.rows.front().shown.change);
  EXPECT_TRUE(view().sentence().startsWith("An iteration takes 100"))
      << view().sentence().toStdString();
}

TEST_F(CompareViewTest, ComparesAnImportedTrace) {
  QFile json(file("steps.json"));
  ASSERT_TRUE(json.open(QIODevice::WriteOnly));
  json.write(R"({"traceEvents": [)");
  for (int step = 0; step < 12; ++step)
    json.write(QStringLiteral(R"(%1{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%2",
                                    "pid": 1, "tid": 1, "ts": %3, "dur": 900})")
                   .arg(step == 0 ? "" : ",")
                   .arg(step)
                   .arg(1000 * step)
                   .toUtf8());
  json.write("]}");
  json.close();
  const QByteArray before = qgetenv("PATH");
  qputenv("PATH", QFileInfo(QStringLiteral(SONDE_PROGRAM)).absolutePath().toUtf8() + ":" + before);
  open("steps.json");
  qputenv("PATH", before);
  view().compareWith({file("before.sonde")});
  settle();
  EXPECT_TRUE(view().sentence().startsWith("An iteration takes"))
      << view().sentence().toStdString();
}

TEST(TraceDifference, SaysIfOnlyPartsOfAnIterationDiffer) {
  engine::diff::Diff diff;
  diff.rows.resize(2);
  EXPECT_TRUE(sentenceOf(diff).startsWith("No difference found."));
  diff.rows[1].verdict = engine::diff::Verdict::Faster;
  EXPECT_TRUE(sentenceOf(diff).startsWith("Parts of an iteration differ"));
}

TEST_F(CompareViewTest, DrawsTheSameIterationOfBothRunsAboveEachOther) {
  view().compareWith({file("before.sonde")});
  settle();
  EXPECT_EQ(view().iteration().count(), 60);
  const std::int64_t number = view().iteration().currentText().section(u' ', 1, 1).toLongLong();
  const auto* groups = &view().lanes().data().groups;
  ASSERT_EQ(groups->size(), 2U);
  EXPECT_TRUE((*groups)[0].title.contains("before.sonde"));
  EXPECT_EQ((*groups)[0].lanes, (std::vector<QString>{"rank 0", "rank 1"}));
  EXPECT_EQ((*groups)[1].lanes, (*groups)[0].lanes);
  EXPECT_EQ((*groups)[0].endNs, lengthOf("before.sonde", number));
  EXPECT_EQ((*groups)[1].endNs, lengthOf("after.sonde", number));
  for (const LaneGroup& group : *groups)
    EXPECT_TRUE(std::any_of(group.spans.begin(), group.spans.end(), [](const LaneSpan& span) {
      return span.text == u"backward";
    }));

  view().iteration().setFocus();
  QTest::keyClick(&view().iteration(), Qt::Key_Home);
  settle();
  EXPECT_EQ(view().iteration().currentText(), "iteration 0");
  groups = &view().lanes().data().groups;
  EXPECT_EQ((*groups)[0].endNs, lengthOf("before.sonde", 0));
  window_.models().focus.set({1, {}, {}});
  settle();
  EXPECT_EQ(view().lanes().data().groups[0].lanes, (std::vector<QString>{"rank 1"}));
}

TEST_F(CompareViewTest, AnOperationHasTheColourOfTheTimeline) {
  view().compareWith({file("before.sonde")});
  settle();
  const auto& legend = view().lanes().data().legend;
  const auto backward = std::find_if(
      legend.begin(), legend.end(), [](const auto& key) { return key.name == "backward"; });
  ASSERT_NE(backward, legend.end());
  EXPECT_EQ(backward->color, Theme(view().palette()).fill(Kind::Backward));
}

TEST_F(CompareViewTest, AClickOnAnOperationHighlightsItInBoth) {
  view().compareWith({file("before.sonde")});
  settle();
  const auto colors = [&](const QString& text) {
    std::set<QRgb> found;
    for (const LaneGroup& group : view().lanes().data().groups)
      for (const LaneSpan& span : group.spans)
        if (span.text == text)
          found.insert(span.color.rgb());
    return found;
  };
  const QString other = "SGD.step";
  const auto backward = colors("backward");
  const auto faint = colors(other);
  ASSERT_EQ(backward.size(), 1U);
  ASSERT_EQ(faint.size(), 1U);
  clickRow("backward");
  EXPECT_EQ(colors("backward"), backward);
  EXPECT_NE(colors(other), faint);
  clickRow("iteration");
  EXPECT_EQ(colors(other), faint);
}

// Selects from `before` ns ahead of iteration `first` of the open trace to `after` ns behind
// `last`.
void select(ViewState& view,
            const Skeleton& skeleton,
            std::pair<std::int64_t, std::int64_t> iterations,
            std::int64_t before,
            std::int64_t after) {
  Span span{skeleton.endNs, skeleton.beginNs};
  for (const IterationInfo& each : skeleton.iterations)
    if (each.number >= iterations.first && each.number <= iterations.second)
      span = {std::min(span.beginNs, each.startNs),
              std::max(span.endNs, each.startNs + each.durNs)};
  view.setArea(Area{{span.beginNs - before, span.endNs + after}, {}});
}

TEST_F(CompareViewTest, ASelectedSpanLimitsItToItsWholeIterations) {
  view().compareWith({file("before.sonde")});
  settle();
  const QString all = view().sentence();
  const auto selectIterations = [&](std::int64_t first, std::int64_t last, int margin) {
    select(
        window_.models().view, window_.models().document.skeleton(), {first, last}, margin, margin);
    settle();
  };
  const auto offered = [&] {
    QStringList titles;
    for (int at = 0; at < view().iteration().count(); ++at)
      titles << view().iteration().itemText(at);
    return titles;
  };
  selectIterations(10, 12, 10);
  EXPECT_TRUE(
      view().sentence().endsWith("Only iterations 10 to 12 of each run: those that lie in "
                                 "the selected span as a whole."))
      << view().sentence().toStdString();
  EXPECT_EQ(offered(), (QStringList{"iteration 10", "iteration 11", "iteration 12"}));
  const store::Database after = test::must(store::openTrace(path("after.sonde")));
  const Comparison expected = test::must(compareTraces(
      after,
      {{file("before.sonde")}, {file("after.sonde")}, true, window_.models().view.selectedTime()}));
  EXPECT_EQ(expected.diff.b.iterations, 3U);
  EXPECT_EQ(view().table().rows().front().values[4].toLongLong(),
            std::llround(expected.diff.rows.front().shown.b.ns));

  selectIterations(10, 12, -10);  // cuts the first and the last
  EXPECT_TRUE(view().sentence().contains("Only iteration 11 of each run"))
      << view().sentence().toStdString();
  EXPECT_EQ(offered(), QStringList{"iteration 11"});

  selectIterations(10, 10, -10);
  EXPECT_TRUE(
      view().sentence().startsWith("No whole iteration lies in the selected span: select a "
                                   "longer one"))
      << view().sentence().toStdString();
  EXPECT_TRUE(view().table().rows().empty());
  EXPECT_TRUE(view().lanes().data().groups.empty());

  window_.models().view.setArea(std::nullopt);
  settle();
  EXPECT_EQ(view().sentence(), all);
  EXPECT_EQ(view().iteration().count(), 60);
}

TEST_F(CompareViewTest, ASpanWhoseIterationsTheEarlierRunLacksNamesWhatItHas) {
  test::must(test::must(store::Database::open(path("before.sonde"), store::Access::ReadWrite))
                 .exec("DELETE FROM iteration WHERE number >= 50"));
  view().compareWith({file("before.sonde")});
  select(window_.models().view, window_.models().document.skeleton(), {55, 57}, 10, 10);
  settle();
  EXPECT_TRUE(
      view().sentence().contains("before.sonde' has 50 iterations, with numbers from 0 to "
                                 "49"))
      << view().sentence().toStdString();
  EXPECT_TRUE(view().lanesNote().contains("none of the iterations in the selected span"))
      << view().lanesNote().toStdString();
}

TEST_F(CompareViewTest, RunsWithoutACommonIterationSaySo) {
  test::must(test::must(store::Database::open(path("before.sonde"), store::Access::ReadWrite))
                 .exec("UPDATE iteration SET number = number + 1000"));
  view().compareWith({file("before.sonde")});
  settle();
  EXPECT_TRUE(view().lanesNote().contains("in common")) << view().lanesNote().toStdString();
  EXPECT_TRUE(view().lanes().data().groups.empty());
}

TEST_F(CompareViewTest, AFileThatIsNoTraceIsNamed) {
  view().compareWith({file("none.sonde")});
  settle();
  EXPECT_TRUE(view().sentence().contains("none.sonde")) << view().sentence().toStdString();
}

}  // namespace
}  // namespace sonde::gui
