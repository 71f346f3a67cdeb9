// Pinned, hidden, moved and grouped tracks, as a user has them: with the mouse, keys and menus.
#include "gui/views/timeline_view.h"
#include "tests/gui/window_rig.h"

#include <QAction>
#include <QContextMenuEvent>
#include <QMenu>
#include <QScrollBar>

#include <algorithm>
#include <vector>

namespace sonde::gui {
namespace {

class TrackCommandsTest : public TimelineViewTest {
 protected:
  // Two ranks, each with two processes that load data.
  TrackCommandsTest() {
    openTraining();
    window_.resize(1200, 420);
    settle();
  }

  [[nodiscard]] const TrackLayout& layout() { return window_.models().timeline.layout(); }
  [[nodiscard]] QRect rowOf(const LayoutEntry& entry) {
    return window_.timeline().currentGeometry().rowOf(entry);
  }
  [[nodiscard]] QPoint labelOf(const LayoutEntry& entry) { return {40, rowOf(entry).center().y()}; }
  [[nodiscard]] LayoutEntry headerOf(int process) {
    for (const LayoutEntry& entry : layout().entries())
      if (entry.type == LayoutEntry::Type::Process && entry.process == process)
        return entry;
    ADD_FAILURE() << "no process " << process;
    return {};
  }
  void hover(const QPoint& at) {
    QTest::mouseMove(window_.timeline().viewport(), at);
    settle();
  }
  void chooseFromMenu(const QPoint& at, const QString& text) {
    hover(at);
    QWidget* target = window_.timeline().viewport();
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, target->mapToGlobal(at));
    QCoreApplication::sendEvent(target, &event);
    auto* menu = window_.timeline().findChild<QMenu*>();
    ASSERT_NE(menu, nullptr);
    trigger(menu->findChildren<QAction*>(), text);
    menu->close();
    window_.activateWindow();  // without a desktop, nobody else does
    settle();
  }
  void chooseFromWindow(const QString& text) {
    trigger(window_.findChildren<QAction*>(), text);
    settle();
  }

 private:
  static void trigger(const QList<QAction*>& actions, const QString& text) {
    for (QAction* action : actions)
      if (action->text().remove(u'&') == text) {
        EXPECT_TRUE(action->isEnabled());
        action->trigger();
        return;
      }
    ADD_FAILURE() << "no " << text.toStdString();
  }
};

TEST_F(TrackCommandsTest, APinnedTrackStaysWhileTheRestScrolls) {
  const int track = layout().entries().at(1).track;
  hover(labelOf(layout().entries().at(1)));
  key(Qt::Key_T);
  ASSERT_EQ(layout().pinned().size(), 1U);
  const QRect row = rowOf(layout().pinned().front());
  EXPECT_EQ(row.top(), window_.timeline().currentGeometry().headerHeight());
  const QPoint block = middleOf(track, "backward");
  const QColor color = pixel(block - QPoint(0, TrackLayout::kRowHeight / 2 - 3));
  wheel({700, 300}, -3, Qt::NoModifier);
  ASSERT_GT(window_.timeline().verticalScrollBar()->value(), 0);
  EXPECT_EQ(rowOf(layout().pinned().front()), row);
  EXPECT_EQ(pixel(block - QPoint(0, TrackLayout::kRowHeight / 2 - 3)), color);
  EXPECT_NE(color, Theme(plainPalette(false)).background);
  click(block);
  ASSERT_TRUE(window_.models().selection.details());
  EXPECT_EQ(window_.models().selection.details()->event.name, "backward");
  QTest::qWait(500);  // the history keeps what has come to rest
  // The same key unpins it, and going back pins it again.
  hover(labelOf(layout().pinned().front()));
  key(Qt::Key_T);
  EXPECT_TRUE(layout().pinned().empty());
  QTest::qWait(500);
  window_.models().history.goBack();
  EXPECT_EQ(layout().pinned().size(), 1U);
  key(Qt::Key_T, Qt::ShiftModifier);
  EXPECT_TRUE(layout().pinned().empty());
}

TEST_F(TrackCommandsTest, ManyPinnedTracksScrollByThemselves) {
  window_.resize(1200, 320);
  settle();
  chooseFromMenu(labelOf(headerOf(0)), "Pin to the top");
  const QRect area = window_.timeline().currentGeometry().pinnedArea();
  ASSERT_LT(area.height(), layout().pinnedHeight());
  EXPECT_GT(window_.timeline().currentGeometry().content().height(), 20);
  const int top = rowOf(layout().pinned().front()).top();
  wheel(area.center(), -2, Qt::NoModifier);
  EXPECT_LT(rowOf(layout().pinned().front()).top(), top);
  EXPECT_EQ(window_.timeline().verticalScrollBar()->value(), 0);
  chooseFromWindow("Unpin all");
  EXPECT_EQ(window_.timeline().currentGeometry().pinnedArea().height(), 0);
}

TEST_F(TrackCommandsTest, AHiddenTrackIsCountedAndCanBeShown) {
  const int track = layout().entries().at(1).track;
  chooseFromMenu(labelOf(layout().entries().at(1)), "Hide");
  EXPECT_EQ(layout().find(track), nullptr);
  chooseFromWindow("Show hidden tracks (1)");
  EXPECT_NE(layout().find(track), nullptr);
}

TEST_F(TrackCommandsTest, ProcessesMoveByKeysAndByDragging) {
  const std::vector<int> before = layout().processes();
  ASSERT_GE(before.size(), 3U);
  hover(labelOf(headerOf(before[0])));
  key(Qt::Key_Down, Qt::AltModifier);
  EXPECT_EQ(layout().processes()[0], before[1]);
  EXPECT_EQ(layout().processes()[1], before[0]);
  hover(labelOf(headerOf(before[0])));
  key(Qt::Key_Up, Qt::AltModifier);
  EXPECT_EQ(layout().processes(), before);
  // Already at the top.
  hover(labelOf(headerOf(before[0])));
  key(Qt::Key_Up, Qt::AltModifier);
  EXPECT_EQ(layout().processes(), before);

  for (const int process : {before[0], before[1]})
    click(labelOf(headerOf(process)));  // folds it
  QWidget* target = window_.timeline().viewport();
  const QPoint from = labelOf(headerOf(before[1]));
  const QPoint to = labelOf(headerOf(before[0]));
  QTest::mousePress(target, Qt::LeftButton, Qt::NoModifier, from);
  QTest::mouseMove(target, (from + to) / 2);
  QTest::mouseMove(target, to);
  QTest::mouseRelease(target, Qt::LeftButton, Qt::NoModifier, to);
  settle();
  EXPECT_EQ(layout().processes()[0], before[1]);
  chooseFromWindow("Rank");
  EXPECT_EQ(layout().processes(), before);
}

TEST_F(TrackCommandsTest, ByKindTheThreadsOfAllRanksStandTogether) {
  chooseFromWindow("Kind, of all processes");
  const LayoutEntry group = layout().entries().front();
  EXPECT_EQ(group.type, LayoutEntry::Type::Kind);
  EXPECT_EQ(group.kind, "main thread");
  const std::vector<int> tracks = layout().tracksOf(group);
  EXPECT_EQ(tracks.size(), layout().processes().size());
  click(labelOf(group));
  EXPECT_EQ(layout().find(tracks.front()), nullptr);
  EXPECT_FALSE(window_.grab().isNull());
  chooseFromWindow("Process");
  EXPECT_NE(layout().find(tracks.front()), nullptr);
}

TEST_F(TrackCommandsTest, TheSameTraceKeepsItsPinsAndAnotherOneHasNone) {
  hover(labelOf(layout().entries().at(1)));
  key(Qt::Key_T);
  chooseFromWindow("Kind, of all processes");
  open("train.sonde");
  EXPECT_EQ(layout().pinned().size(), 1U);
  testing::writeTraining(path("other.sonde"), 2);
  open("other.sonde");
  EXPECT_TRUE(layout().pinned().empty());
  EXPECT_EQ(layout().arrangement().grouping, TrackArrangement::Grouping::Kind);
}

}  // namespace
}  // namespace sonde::gui
