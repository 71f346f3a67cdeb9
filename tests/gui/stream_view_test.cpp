// Device work in the window: arrows, keys, folding.
#include "gui/views/arrow_painter.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/window_rig.h"

#include <QLabel>
#include <QLineEdit>

#include <map>

namespace sonde::gui {
namespace {

class StreamViewTest : public TimelineViewTest {
 protected:
  static constexpr int kStream = 0;
  static constexpr int kThread = 3;

  void openWork(int nodes = 5) {
    ids_ = testing::writeDeviceWork(path("work.sonde"), nodes);
    open("work.sonde");
  }
  void zoomTo(double fromMs, double toMs) {
    Viewport viewport = shown();
    viewport.show(std::int64_t(fromMs * 1e6), std::int64_t(toMs * 1e6));
    window_.models().view.setViewport(viewport);
    settle();
  }
  [[nodiscard]] EventRef selected() {
    return window_.models().selection.ref().value_or(EventRef());
  }
  // Pixels of the timeline in the arrows' colour.
  [[nodiscard]] int arrowPixels() {
    const QImage image = window_.timeline().viewport()->grab().toImage();
    const QRgb arrow = Theme(plainPalette(false)).arrow.rgb();
    int pixels = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = window_.timeline().labelWidth(); x < image.width(); ++x)
        pixels += image.pixel(x, y) == arrow ? 1 : 0;
    return pixels;
  }

  testing::DeviceWork ids_;
};

TEST_F(StreamViewTest, PaintsCollectivesInTheColourOfCollectives) {
  openWork();
  const Theme theme(plainPalette(false));
  const auto colorOf = [&](int track) {
    const QRectF rect = window_.timeline().currentGeometry().rectOf(
        track, window_.models().timeline.blocks(track)->front());
    return pixel(rect.topLeft().toPoint() + QPoint(2, 1));
  };
  zoomTo(1'100, 1'130);
  EXPECT_EQ(colorOf(2), theme.fill(Kind::Collective));
  EXPECT_EQ(colorOf(kStream), theme.fill(Kind::Copy));
}

TEST_F(StreamViewTest, ASelectedKernelHasAnArrowFromItsCallAndOthersHaveNone) {
  openWork();
  zoomTo(1'100, 1'112);
  EXPECT_EQ(arrowPixels(), 0);
  click(middleOf(kStream, "vectorized"));
  EXPECT_EQ(selected(), (EventRef{Table::Kernel, ids_.kernel.value}));
  zoomTo(1'100, 1'112);  // the details have made the timeline narrower
  const int kernel = arrowPixels();
  EXPECT_GT(kernel, 40);
  key(Qt::Key_BracketLeft);
  EXPECT_EQ(selected(), (EventRef{Table::Slice, ids_.kernelCall.value}));
  zoomTo(1'100, 1'112);
  EXPECT_NEAR(arrowPixels(), kernel, 10);  // the same one from its other end; outlines cover some
  key(Qt::Key_Escape);
  EXPECT_EQ(arrowPixels(), 0);
}

TEST_F(StreamViewTest, BracketsFollowTheArrowAndStopAtItsEnds) {
  openWork();
  zoomTo(1'107, 1'112);
  click(middleOf(kThread, "cudaGraphLaunch"));
  key(Qt::Key_BracketLeft);
  EXPECT_EQ(selected(), (EventRef{Table::Slice, ids_.graphCall.value}));
  key(Qt::Key_BracketRight);
  EXPECT_EQ(selected(), (EventRef{Table::Kernel, ids_.firstNode.value}));
  key(Qt::Key_BracketRight);
  EXPECT_EQ(selected(), (EventRef{Table::Kernel, ids_.firstNode.value}));
  key(Qt::Key_Period);
  EXPECT_EQ(selected().id, ids_.firstNode.value + 1);
}

TEST_F(StreamViewTest, AllArrowsOfALaunchAreDrawnAndOfTooManyItIsSaid) {
  openWork(3);
  zoomTo(1'107.9, 1'110.07);
  click(middleOf(kThread, "cudaGraphLaunch"));
  const int three = arrowPixels();
  EXPECT_FALSE(window_.findChild<QLabel*>("selectionText")->text().contains("arrows"));
  ids_ = testing::writeDeviceWork(path("many.sonde"), 250);
  open("many.sonde");
  zoomTo(1'107.9, 1'110.07);
  click(middleOf(kThread, "cudaGraphLaunch"));
  EXPECT_GT(arrowPixels(), three);
  EXPECT_TRUE(window_.findChild<QLabel*>("selectionText")->text().contains("100 of 250 arrows"))
      << window_.findChild<QLabel*>("selectionText")->text().toStdString();
}

TEST_F(StreamViewTest, AnArrowEndsAtTheDeviceThatIsFolded) {
  openWork();
  zoomTo(1'100, 1'112);
  const QPoint device = window_.timeline().currentGeometry().corner() +
                        QPoint(10, TrackLayout::kHeaderHeight + TrackLayout::kGroupHeight / 2);
  click(device);
  EXPECT_EQ(window_.models().timeline.layout().find(kStream), nullptr);
  click(middleOf(kThread, "cudaMemcpyAsync"));
  const int folded = arrowPixels();
  EXPECT_GT(folded, 10);
  click(device);
  EXPECT_NE(window_.models().timeline.layout().find(kStream), nullptr);
  EXPECT_GT(arrowPixels(), folded);
}

TEST_F(StreamViewTest, SearchSelectsAKernel) {
  openWork();
  key(Qt::Key_Slash);
  auto* edit = window_.findChild<QLineEdit*>("search");
  QTest::keyClicks(edit, "ncclDev");
  QTest::keyClick(edit, Qt::Key_Return);
  settle();
  ASSERT_TRUE(window_.models().selection.details());
  EXPECT_EQ(window_.models().selection.details()->event.block.kind, Kind::CollectiveKernel);
}

TEST_F(StreamViewTest, ADragOverAStreamTotalsItsKernels) {
  openWork();
  zoomTo(1'100, 1'130);
  QWidget* target = window_.timeline().viewport();
  const QPoint from = middleOf(kStream, "vectorized");
  QTest::mousePress(target, Qt::LeftButton, Qt::NoModifier, from);
  QTest::mouseMove(target, from + QPoint(50, 2));
  QTest::mouseMove(target, from + QPoint(300, 2));
  QTest::mouseRelease(target, Qt::LeftButton, Qt::NoModifier, from + QPoint(300, 2));
  settle();
  std::map<std::string, std::int64_t> counts;
  for (const SpanRow& row : window_.models().totals.rows())
    counts[row.name.toStdString()] = row.count;
  EXPECT_EQ(counts["gemm_kernel"], 5);
  EXPECT_EQ(counts.size(), 2U);
}

TEST(ArrowPoints, LeavesTheCallWhereTheKernelStartsOrTheCallEnds) {
  const QRectF call(100, 200, 50, 17);
  const QRectF during(120, 100, 30, 17);
  const QRectF later(300, 100, 30, 17);
  EXPECT_EQ(arrowPoints({call, during}).first, QPointF(124, 200));
  EXPECT_EQ(arrowPoints({call, during}).second, QPointF(124, 117));
  EXPECT_EQ(arrowPoints({call, later}).first, QPointF(150, 200));
  const QRectF below(300, 300, 1, 17);
  EXPECT_EQ(arrowPoints({call, below}).first.y(), 217);
  EXPECT_EQ(arrowPoints({call, below}).second, QPointF(300.5, 300));
}

}  // namespace
}  // namespace sonde::gui
