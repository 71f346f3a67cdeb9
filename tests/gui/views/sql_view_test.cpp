#include "gui/views/sql/sql_view.h"

#include "gui/models/sql/sql_result.h"
#include "tests/gui/window_rig.h"

#include <QPlainTextEdit>
#include <QTreeWidget>

namespace sonde::gui {
namespace {

class SqlViewTest : public TimelineViewTest {
 protected:
  SqlViewTest() {
    window_.showView(QStringLiteral("sql"));
    openTraining();
  }

  [[nodiscard]] SqlView& view() {
    return *qobject_cast<SqlView*>(window_.view(QStringLiteral("sql")));
  }
  void run(const QString& sql) {
    view().setText(sql);
    QTest::keyClick(view().findChild<QPlainTextEdit*>(), Qt::Key_Return, Qt::ControlModifier);
    settle();
  }
};

TEST_F(SqlViewTest, ShowsTheRowsAndLeadsToTheirTime) {
  run("SELECT name, start_ns, dur_ns, 0.5 AS half, NULL AS missing FROM v_slice WHERE kind = "
      "'iteration' ORDER BY start_ns LIMIT 3");
  ASSERT_EQ(view().table().rows().size(), 3U) << view().state().toStdString();
  const auto& columns = view().table().columns();
  EXPECT_EQ(columns[0].kind, ValueKind::Text);
  EXPECT_EQ(columns[1].kind, ValueKind::Integer);
  EXPECT_EQ(columns[3].kind, ValueKind::Real);
  const Place& place = view().table().rows()[1].place;
  ASSERT_TRUE(place.span);
  EXPECT_EQ(place.span->durNs(), view().table().rows()[1].values[2].toLongLong());
}

TEST_F(SqlViewTest, AWrongStatementIsExplainedAndNothingIsWritten) {
  run("SELECT nme FROM v_slice");
  EXPECT_TRUE(view().state().contains("nme")) << view().state().toStdString();
  run("DELETE FROM slice");
  EXPECT_TRUE(view().table().rows().empty());
  EXPECT_FALSE(view().state().contains("rows")) << view().state().toStdString();
}

TEST_F(SqlViewTest, ALongResultIsCut) {
  run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT i "
      "FROM n");
  EXPECT_EQ(view().table().rows().size(), SqlResult::kMostRows);
  EXPECT_TRUE(view().state().contains("more")) << view().state().toStdString();
}

TEST_F(SqlViewTest, ADoubleClickInsertsTheNameOfAColumn) {
  auto& tree = *view().findChild<QTreeWidget*>();
  QTreeWidgetItem* const slice = tree.findItems("v_slice", Qt::MatchExactly).value(0);
  ASSERT_NE(slice, nullptr);
  slice->setExpanded(true);
  QTreeWidgetItem* const column = slice->child(0);
  tree.scrollToItem(column);
  const QPoint at = tree.visualItemRect(column).center();
  QTest::mouseClick(tree.viewport(), Qt::LeftButton, Qt::NoModifier, at);
  view().setText("SELECT ");
  view().findChild<QPlainTextEdit*>()->moveCursor(QTextCursor::End);
  QTest::mouseDClick(tree.viewport(), Qt::LeftButton, Qt::NoModifier, at);
  EXPECT_EQ(view().findChild<QPlainTextEdit*>()->toPlainText(), "SELECT " + column->text(0));
}

TEST_F(SqlViewTest, KnowsTheViewsAndTheirColumns) {
  EXPECT_TRUE(view().words().contains("v_slice"));
  EXPECT_TRUE(view().words().contains("dur_ns"));
}

}  // namespace
}  // namespace sonde::gui
