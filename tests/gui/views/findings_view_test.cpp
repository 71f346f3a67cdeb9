#include "gui/views/findings/findings_view.h"

#include "gui/views/table/table_panel.h"
#include "tests/gui/window_rig.h"
#include "tests/support/trace_builder.h"

#include <QCheckBox>
#include <QTableView>

namespace sonde::gui {
namespace {

class FindingsViewTest : public TimelineViewTest {
 protected:
  // The loss of iteration 4 is NaN, and its process has a name that looks like HTML.
  FindingsViewTest() {
    testing::writeTraining(path("train.sonde"), 40);
    store::Database trace =
        test::must(store::Database::open(path("train.sonde"), store::Access::ReadWrite));
    test::must(trace.exec(
        "INSERT INTO string VALUES(100000, 'loss <b>x</b>');"
        "INSERT INTO scalar SELECT process_id, number, 100000, CASE WHEN number <> 4 THEN 1.0 / "
        "(number + 1) END, start_ns + 1000 FROM iteration"));
    window_.showView(QStringLiteral("findings"));
    open("train.sonde");
  }

  [[nodiscard]] FindingsView& view() {
    return *qobject_cast<FindingsView*>(window_.view(QStringLiteral("findings")));
  }
  [[nodiscard]] int rowOf(const QString& rule) {
    const auto& rows = view().table().rows();
    for (std::size_t row = 0; row < rows.size(); ++row)
      if (rows[row].values[2] == rule)
        return static_cast<int>(row);
    return -1;
  }
};

TEST_F(FindingsViewTest, ShowsWhatFiredWithItsEvidence) {
  const int row = rowOf(QStringLiteral("first-nan"));
  ASSERT_GE(row, 0);
  view().rows().view().selectRow(row);
  EXPECT_TRUE(view().page().contains("loss <b>x</b>")) << view().page().toStdString();
  EXPECT_TRUE(view().page().contains("What to do"));
  for (const ValueRow& each : view().table().rows())
    EXPECT_TRUE(each.values[0] == "fired" || each.values[0] == "error");
}

TEST_F(FindingsViewTest, ListsAllVerdictsOnRequest) {
  const auto few = view().table().rows().size();
  view().findChild<QCheckBox*>()->click();
  EXPECT_GT(view().table().rows().size(), few + 5);
  EXPECT_GE(rowOf(QStringLiteral("memory-leak")), 0);
}

TEST_F(FindingsViewTest, ADoubleClickShowsTheTime) {
  const int row = rowOf(QStringLiteral("first-nan"));
  ASSERT_GE(row, 0);
  QTableView& rows = view().rows().view();
  const QRect cell = rows.visualRect(rows.model()->index(row, 2));
  QTest::mouseClick(rows.viewport(), Qt::LeftButton, Qt::NoModifier, cell.center());
  QTest::mouseDClick(rows.viewport(), Qt::LeftButton, Qt::NoModifier, cell.center());
  settle();
  const auto& span = view().table().rows()[static_cast<std::size_t>(row)].place.span;
  ASSERT_TRUE(span);
  EXPECT_LE(shown().beginNs(), span->beginNs);
  EXPECT_GE(shown().endNs(), span->endNs);
  EXPECT_LT(shown().spanNs(), shown().boundsEndNs() - shown().boundsBeginNs());
}

}  // namespace
}  // namespace sonde::gui
