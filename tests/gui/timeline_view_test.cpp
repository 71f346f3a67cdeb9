#include "gui/views/timeline_view.h"

#include "gui/app/screenshot.h"
#include "gui/views/overview_strip.h"
#include "tests/gui/window_rig.h"

#include <QHelpEvent>
#include <QToolTip>

#include <algorithm>

namespace sonde::gui {
namespace {

using model::SliceKind;
using testing::SampleTrace;

TEST_F(TimelineViewTest, PaintsSlicesInTheColoursOfTheirKinds) {
  openTraining();
  const Theme theme(plainPalette(false));
  const QImage image = window_.timeline().viewport()->grab().toImage();
  int seen = 0;
  for (const Block& block : *window_.models().timeline.blocks(0)) {
    const QRectF rect = window_.timeline().currentGeometry().rectOf(0, block);
    if (rect.width() < 4 || rect.left() < window_.timeline().labelWidth())
      continue;
    // To the right of the darker edge and above the text.
    const QColor color = image.pixelColor(
        QPoint(static_cast<int>(rect.left()) + 2, static_cast<int>(rect.top()) + 1));
    EXPECT_EQ(color, theme.fill(block.kind, window_.models().timeline.names().value(block.nameId)))
        << wordOf(block.kind).toStdString();
    ++seen;
  }
  EXPECT_GT(seen, 20);
}

TEST_F(TimelineViewTest, AProcessIsABarFromItsStartToItsEnd) {
  SampleTrace trace(path("pipeline.sonde"));
  trace.addProcess(1, {}, "sh", {1'000'000'000, 5'000'000'000, 0});
  trace.addProcess(2, {}, "false", {3'000'000'000, 4'000'000'000, 3});
  trace.finish();
  open("pipeline.sonde");
  const Theme theme(plainPalette(false));
  const LayoutEntry& entry = window_.models().timeline.layout().entries().at(1);
  const int y = window_.timeline().currentGeometry().corner().y() + entry.y + 2;
  const auto at = [&](double seconds) {
    return QPoint(window_.timeline().labelWidth() +
                      static_cast<int>(shown().xAt(std::int64_t(seconds * 1e9))),
                  y);
  };
  EXPECT_EQ(pixel(at(2.5)), theme.panelStrong);
  EXPECT_EQ(pixel(at(3.5)), theme.life);
  EXPECT_EQ(pixel(at(4.5)), theme.panelStrong);
  QHelpEvent help(QEvent::ToolTip, at(3.5), window_.timeline().viewport()->mapToGlobal(at(3.5)));
  QCoreApplication::sendEvent(window_.timeline().viewport(), &help);
  EXPECT_TRUE(QToolTip::text().contains("exited with status 3")) << QToolTip::text().toStdString();
}

TEST_F(TimelineViewTest, AMarkStandsAboveTheSliceThatFollows) {
  SampleTrace trace(path("marks.sonde"));
  const auto thread = trace.addThread(trace.addProcess(1, {}, "p"), 1, "main");
  trace.addSlice({thread, SliceKind::Mark, "mark", 2'000'000'000, 0});
  trace.addSlice({thread, SliceKind::Backward, "backward", 2'000'000'001, 900'000'000});
  trace.finish();
  open("marks.sonde");
  const Block mark = window_.models().timeline.blocks(0)->front();
  const QRectF rect = window_.timeline().currentGeometry().rectOf(0, mark);
  EXPECT_EQ(pixel(QPoint(static_cast<int>(rect.left()) + 2, static_cast<int>(rect.center().y()))),
            Theme(plainPalette(false)).fill(Kind::Mark, "mark"));
}

TEST_F(TimelineViewTest, BeginsWithTheIterations) {
  openTraining();
  const auto& iterations = window_.models().document.skeleton().iterations;
  EXPECT_LE(shown().beginNs(), iterations.front().startNs);
  EXPECT_LT(shown().spanNs(),
            2 * (iterations.back().startNs + iterations.back().durNs - iterations.front().startNs));
}

TEST_F(TimelineViewTest, ShowsTheTrainingBehindTwentyShims) {
  SampleTrace trace(path("shims.sonde"));
  testing::writeShims(trace, 20, {});
  const auto process = trace.addProcess(4200, {}, "python3 train.py");
  const auto thread = trace.addThread(process, 4200, "python3");
  trace.addSlice({thread, SliceKind::Forward, "forward", 1'200'000'000, 1'800'000'000});
  trace.finish();
  open("shims.sonde");
  const auto& entries = window_.models().timeline.layout().entries();
  ASSERT_EQ(entries.size(), 22U);
  EXPECT_EQ(window_.models().document.skeleton().processes.front().pid, 4200);
  EXPECT_EQ(entries[1].track, 0);
  EXPECT_TRUE(std::all_of(
      entries.begin() + 2, entries.end(), [](const LayoutEntry& entry) { return entry.folded; }));
  // The overview has no blank row above or below the only row with content.
  const QImage image = window_.findChild<OverviewStrip*>()->grab().toImage();
  const QColor forward = Theme(plainPalette(false)).fill(Kind::Forward);
  const int x = window_.timeline().labelWidth() + 3 * shown().width() / 4;
  EXPECT_EQ(image.pixelColor(x, 6), forward);
  EXPECT_EQ(image.pixelColor(x, image.height() - 8), forward);
}

TEST_F(TimelineViewTest, SurvivesAnEmptyTrace) {
  SampleTrace trace(path("empty.sonde"));
  trace.finish();
  open("empty.sonde");
  for (const int each : {Qt::Key_W, Qt::Key_F, Qt::Key_Period, Qt::Key_M, Qt::Key_R, Qt::Key_0})
    key(each);
  click({600, 300});
  EXPECT_FALSE(window_.grab().isNull());
}

TEST_F(TimelineViewTest, ShowsSlicesOfNoLengthAndLongNamesAndOpenOnes) {
  SampleTrace trace(path("odd.sonde"));
  const auto thread =
      trace.addThread(trace.addProcess(1, {}, std::string(5000, 'c')), 1, std::string(500, 't'));
  const std::string longName(10'000, 'n');
  trace.addSlice({thread, SliceKind::Operation, longName, 1'100'000'000, 500'000'000});
  const auto instant = trace.addSlice({thread, SliceKind::Operation, "instant", 1'700'000'000, 0});
  const auto open = trace.addSlice({thread, SliceKind::Forward, "open", 1'800'000'000, {}});
  trace.finish();
  this->open("odd.sonde");
  const auto& blocks = *window_.models().timeline.blocks(0);
  ASSERT_EQ(blocks.size(), 3U);
  const QRectF speck = window_.timeline().currentGeometry().rectOf(0, blocks[1]);
  EXPECT_EQ(blocks[1].id, instant.value);
  EXPECT_EQ(speck.width(), 1.0);
  EXPECT_EQ(pixel(speck.topLeft().toPoint() + QPoint(0, 4)),
            Theme(plainPalette(false)).fill(Kind::Operation, "instant"));
  click(speck.center().toPoint());
  ASSERT_TRUE(window_.models().selection.details());
  EXPECT_EQ(window_.models().selection.details()->event.name, "instant");
  click(window_.timeline().currentGeometry().rectOf(0, blocks[2]).center().toPoint());
  EXPECT_EQ(window_.models().selection.details()->event.ref.id, open.value);
  click(window_.timeline().currentGeometry().rectOf(0, blocks[0]).center().toPoint());
  EXPECT_EQ(window_.models().selection.details()->event.name.size(), 10'000);
}

TEST_F(TimelineViewTest, ReadsOnlyTheTracksOnScreenOfTenThousand) {
  SampleTrace trace(path("wide.sonde"));
  const auto process = trace.addProcess(1, {}, "p");
  for (int thread = 0; thread < 10'000; ++thread)
    trace.addSlice({trace.addThread(process, 1 + thread, "worker"),
                    SliceKind::Operation,
                    "op",
                    1'000 + thread,
                    500});
  trace.finish();
  open("wide.sonde");
  EXPECT_EQ(window_.models().timeline.layout().entries().size(), 10'001U);
  EXPECT_NE(window_.models().timeline.blocks(0), nullptr);
  EXPECT_EQ(window_.models().timeline.blocks(9'000), nullptr);
  window_.timeline().scrollToTrack(9'000);
  settle();
  EXPECT_NE(window_.models().timeline.blocks(9'000), nullptr);
}

TEST_F(TimelineViewTest, AFileThatIsNoTraceIsSaid) {
  window_.open({file("missing.sonde")});
  settle();
  EXPECT_EQ(window_.models().document.state(), TraceDocument::State::Failed);
  EXPECT_TRUE(window_.models().document.error().contains("missing.sonde"));
}

TEST_F(TimelineViewTest, OpensAnotherTraceAfterOne) {
  openTraining();
  click(middleOf(0, "backward"));
  testing::writeTraining(path("other.sonde"), 2);
  open("other.sonde");
  EXPECT_FALSE(window_.models().selection.ref());
  EXPECT_EQ(window_.models().document.skeleton().iterations.size(), 4U);
}

TEST_F(TimelineViewTest, ScreenshotIsOfTheAskedSizeWithSlicesInIt) {
  testing::writeTraining(path("train.sonde"), 4);
  window_.resize(1000, 640);
  window_.open({file("train.sonde")});
  ASSERT_EQ(takeScreenshot(window_, file("shot.png")), 0);
  const QImage image(file("shot.png"));
  ASSERT_EQ(image.size(), QSize(1000, 640));
  const QRgb backward = Theme(plainPalette(false)).fill(Kind::Backward).rgb();
  int pixels = 0;
  for (int y = 0; y < 600; ++y)
    for (int x = 0; x < 1000; ++x)
      pixels += image.pixel(x, y) == backward ? 1 : 0;
  EXPECT_GT(pixels, 500);
}

TEST_F(TimelineViewTest, AScreenshotOfNoTraceFailsWith3) {
  window_.open({file("missing.sonde")});
  EXPECT_EQ(takeScreenshot(window_, file("shot.png")), 3);
  EXPECT_FALSE(QFile::exists(file("shot.png")));
}

}  // namespace
}  // namespace sonde::gui
