// Keys and mouse in the timeline.
#include "gui/views/timeline_view.h"
#include "tests/gui/window_rig.h"

#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QScrollBar>

#include <algorithm>

namespace sonde::gui {
namespace {

TEST_F(TimelineViewTest, KeysZoomAndPan) {
  openTraining();
  const Viewport before = shown();
  key(Qt::Key_W);
  EXPECT_LT(shown().spanNs(), before.spanNs());
  const std::int64_t begin = shown().beginNs();
  key(Qt::Key_D);
  EXPECT_GT(shown().beginNs(), begin);
  key(Qt::Key_A);
  EXPECT_EQ(shown().beginNs(), begin);
  key(Qt::Key_S);
  key(Qt::Key_0);
  EXPECT_TRUE(shown().showsAll());
}

TEST_F(TimelineViewTest, WheelZoomsWithControlPansWithShiftAndScrollsAlone) {
  openTraining();
  window_.resize(1200, 300);
  settle();
  const QPointF at(700, 150);
  const std::int64_t under = shown().timeAt(at.x() - window_.timeline().labelWidth());
  wheel(at, 5, Qt::ControlModifier);
  EXPECT_NEAR(shown().xAt(under), at.x() - window_.timeline().labelWidth(), 2.0);
  const Viewport zoomed = shown();
  wheel(at, -1, Qt::ShiftModifier);
  EXPECT_GT(shown().beginNs(), zoomed.beginNs());
  EXPECT_EQ(shown().spanNs(), zoomed.spanNs());
  const Viewport panned = shown();
  wheel(at, -2, Qt::NoModifier);
  EXPECT_EQ(shown(), panned);
  EXPECT_GT(window_.timeline().verticalScrollBar()->value(), 0);
}

TEST_F(TimelineViewTest, ClickShowsDetailsAndEscapeClears) {
  openTraining();
  click(middleOf(0, "backward"));
  ASSERT_TRUE(window_.models().selection.details());
  EXPECT_EQ(window_.models().selection.details()->event.name, "backward");
  auto* dock = window_.findChild<QDockWidget*>("details");
  EXPECT_TRUE(dock->isVisible());
  key(Qt::Key_Q);
  EXPECT_FALSE(dock->isVisible());
  key(Qt::Key_Q);
  EXPECT_TRUE(dock->isVisible());
  key(Qt::Key_Escape);
  EXPECT_FALSE(window_.models().selection.ref());
  EXPECT_FALSE(dock->isVisible());
}

TEST_F(TimelineViewTest, OtherViewsHaveTheRoomOfTheDetails) {
  openTraining();
  click(middleOf(0, "backward"));
  auto* dock = window_.findChild<QDockWidget*>("details");
  ASSERT_TRUE(dock->isVisible());
  window_.showView(QStringLiteral("breakdown"));
  settle();
  EXPECT_FALSE(dock->isVisible());
  window_.showView(QStringLiteral("timeline"));
  settle();
  EXPECT_TRUE(dock->isVisible());
}

TEST_F(TimelineViewTest, PeriodAndCommaStepAlongTheRow) {
  openTraining();
  click(middleOf(0, "backward"));
  key(Qt::Key_Period);
  ASSERT_TRUE(window_.models().selection.details());
  EXPECT_EQ(window_.models().selection.details()->event.name, "SGD.step");
  key(Qt::Key_Comma);
  key(Qt::Key_Comma);
  EXPECT_EQ(window_.models().selection.details()->event.name, "DistributedDataParallel.forward");
}

TEST_F(TimelineViewTest, FrameShowsTheSliceAndThenAll) {
  openTraining();
  click(middleOf(0, "backward"));
  key(Qt::Key_F);
  const Block block = window_.models().selection.details()->event.block;
  EXPECT_LE(shown().beginNs(), block.startNs);
  EXPECT_LT(shown().spanNs(), 2 * block.durNs);
  key(Qt::Key_F);
  EXPECT_TRUE(shown().showsAll());
}

TEST_F(TimelineViewTest, DragSelectsASpanWithTotals) {
  openTraining();
  QWidget* target = window_.timeline().viewport();
  const QPoint from = middleOf(0, "DataLoader");
  const QPoint to = from + QPoint(400, 20);
  QTest::mousePress(target, Qt::LeftButton, Qt::NoModifier, from);
  QTest::mouseMove(target, from + QPoint(50, 10));
  QTest::mouseMove(target, to);
  QTest::mouseRelease(target, Qt::LeftButton, Qt::NoModifier, to);
  settle();
  ASSERT_TRUE(window_.models().view.area());
  EXPECT_NEAR(static_cast<double>(window_.models().view.area()->span.durNs()),
              400 * shown().nsPerPixel(),
              2 * shown().nsPerPixel());
  EXPECT_FALSE(window_.models().totals.rows().empty());
  EXPECT_TRUE(window_.findChild<QDockWidget*>("span")->isVisible());
  EXPECT_TRUE(window_.findChild<QLabel*>("selectionText")->text().contains("span"));
  key(Qt::Key_F);
  EXPECT_LT(shown().spanNs(), 2 * window_.models().view.area()->span.durNs());
}

TEST_F(TimelineViewTest, MarksAreReplacedUnlessKept) {
  openTraining();
  click(middleOf(0, "backward"));
  key(Qt::Key_M, Qt::ShiftModifier);
  key(Qt::Key_Period);
  key(Qt::Key_M);
  EXPECT_EQ(window_.models().view.marks().size(), 2U);
  key(Qt::Key_Period);
  key(Qt::Key_M);
  EXPECT_EQ(window_.models().view.marks().size(), 2U);
  key(Qt::Key_M);
  EXPECT_EQ(window_.models().view.marks().size(), 1U);
}

TEST_F(TimelineViewTest, SlashSearchesByName) {
  openTraining();
  key(Qt::Key_Slash);
  auto* edit = window_.findChild<QLineEdit*>("search");
  ASSERT_TRUE(edit->isVisible());
  QTest::keyClicks(edit, "sgd");
  QTest::keyClick(edit, Qt::Key_Return);
  settle();
  ASSERT_TRUE(window_.models().selection.details());
  EXPECT_EQ(window_.models().selection.details()->event.name, "SGD.step");
  const std::int64_t first = window_.models().selection.details()->event.block.startNs;
  QTest::keyClick(edit, Qt::Key_Return);
  settle();
  EXPECT_GT(window_.models().selection.details()->event.block.startNs, first);
  QTest::keyClick(edit, Qt::Key_Return, Qt::ShiftModifier);
  settle();
  EXPECT_EQ(window_.models().selection.details()->event.block.startNs, first);
  QTest::keyClick(edit, Qt::Key_Escape);
  EXPECT_FALSE(edit->isVisible());
  EXPECT_TRUE(window_.models().search.text().isEmpty());
}

TEST_F(TimelineViewTest, QuestionMarkShowsTheKeysUntilTheNextKey) {
  openTraining();
  auto* help = window_.findChild<QWidget*>("help");
  key(Qt::Key_Question, Qt::ShiftModifier);
  ASSERT_TRUE(help->isVisible());
  QTest::keyClick(help, Qt::Key_A);
  EXPECT_FALSE(help->isVisible());
}

TEST_F(TimelineViewTest, AClickOnAProcessFoldsIt) {
  openTraining();
  const std::size_t before = window_.models().timeline.layout().entries().size();
  const QPoint header =
      window_.timeline().currentGeometry().corner() + QPoint(10, TrackLayout::kHeaderHeight / 2);
  click(header);
  EXPECT_LT(window_.models().timeline.layout().entries().size(), before);
  click(header);
  EXPECT_EQ(window_.models().timeline.layout().entries().size(), before);
}

TEST_F(TimelineViewTest, HoverTellsTheStatusLine) {
  openTraining();
  QTest::mouseMove(window_.timeline().viewport(), middleOf(0, "backward"));
  QCoreApplication::processEvents();
  const QString text = window_.findChild<QLabel*>("hoverText")->text();
  EXPECT_TRUE(text.contains("backward")) << text.toStdString();
  EXPECT_TRUE(text.contains("15.00")) << text.toStdString();
}

// The first click opens the details, and another slice is below the mouse then.
TEST_F(TimelineViewTest, ADoubleClickZoomsToTheSliceOfItsFirstClick) {
  openTraining();
  const std::vector<Block>& blocks = *window_.models().timeline.blocks(0);
  const Block last =
      *std::max_element(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
        return std::pair(a.row == 0, a.startNs) < std::pair(b.row == 0, b.startNs);
      });
  const QPoint at = window_.timeline().currentGeometry().rectOf(0, last).center().toPoint();
  click(at);
  ASSERT_TRUE(window_.models().selection.details());
  const auto under = window_.timeline().currentGeometry().targetAt(at);
  ASSERT_TRUE(!under || under->block.id != last.id);
  QWidget* const target = window_.timeline().viewport();
  QMouseEvent event(QEvent::MouseButtonDblClick,
                    at,
                    target->mapToGlobal(QPointF(at)),
                    Qt::LeftButton,
                    Qt::LeftButton,
                    Qt::NoModifier);
  QCoreApplication::sendEvent(target, &event);
  settle();
  EXPECT_LE(shown().beginNs(), last.startNs);
  EXPECT_GE(shown().endNs(), last.startNs + last.durNs);
  EXPECT_LT(shown().spanNs(), 2 * last.durNs);
}

}  // namespace
}  // namespace sonde::gui
