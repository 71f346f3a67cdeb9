// The window itself, driven by keys and mouse on a screen that nobody sees.
#include "gui/views/timeline_view.h"

#include "gui/app/main_window.h"
#include "gui/app/screenshot.h"
#include "gui/views/overview_strip.h"
#include "gui/views/theme.h"
#include "tests/gui/sample_trace.h"

#include <QDockWidget>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolTip>
#include <QWheelEvent>

#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::gui {
namespace {

using model::SliceKind;
using testing::SampleTrace;

class TimelineViewTest : public ::testing::Test {
 protected:
  TimelineViewTest() {
    window_.setPalette(plainPalette(false));
    window_.resize(1200, 700);
    window_.show();
  }

  [[nodiscard]] QString file(const char* name) const { return folder_.filePath(name); }
  [[nodiscard]] std::string path(const char* name) const { return file(name).toStdString(); }

  void open(const char* name) {
    window_.open({file(name)});
    settle();
    ASSERT_EQ(window_.model().state(), TimelineModel::State::Ready)
        << window_.model().error().toStdString();
  }
  void openTraining() {
    testing::writeTraining(path("train.sonde"), 6);
    open("train.sonde");
  }
  // The turn of the loop in which the last answer comes may still have to lay the window out.
  void settle() {
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
          const bool before = window_.model().settled();
          QCoreApplication::processEvents();
          return before && window_.model().settled();
        },
        20'000));
  }
  void key(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(&window_.timeline(), static_cast<Qt::Key>(key), modifiers);
    settle();
  }
  void wheel(QPointF at, int notches, Qt::KeyboardModifiers modifiers) {
    QWidget* target = window_.timeline().viewport();
    QWheelEvent event(at,
                      target->mapToGlobal(at),
                      {},
                      {0, notches * 120},
                      Qt::NoButton,
                      modifiers,
                      Qt::NoScrollPhase,
                      false);
    QCoreApplication::sendEvent(target, &event);
    settle();
  }
  // The middle of the first block of `track` whose name contains `name`.
  [[nodiscard]] QPoint middleOf(int track, const QString& name) {
    for (const Block& block : *window_.model().blocks(track))
      if (window_.model().names().value(block.nameId).contains(name))
        return window_.timeline().rectOf(track, block).center().toPoint();
    ADD_FAILURE() << "no " << name.toStdString();
    return {};
  }
  void click(const QPoint& at) {
    QTest::mouseClick(window_.timeline().viewport(), Qt::LeftButton, Qt::NoModifier, at);
    settle();
  }
  [[nodiscard]] QColor pixel(const QPoint& at) {
    return window_.timeline().viewport()->grab().toImage().pixelColor(at);
  }
  [[nodiscard]] const Viewport& shown() { return window_.state().viewport(); }

  QTemporaryDir folder_;
  MainWindow window_;
};

TEST_F(TimelineViewTest, PaintsSlicesInTheColoursOfTheirKinds) {
  openTraining();
  const Theme theme(plainPalette(false));
  const QImage image = window_.timeline().viewport()->grab().toImage();
  int seen = 0;
  for (const Block& block : *window_.model().blocks(0)) {
    const QRectF rect = window_.timeline().rectOf(0, block);
    if (rect.width() < 4 || rect.left() < window_.timeline().labelWidth())
      continue;
    // Right of the darker edge and above the text.
    const QColor color = image.pixelColor(
        QPoint(static_cast<int>(rect.left()) + 2, static_cast<int>(rect.top()) + 1));
    EXPECT_EQ(color, theme.fill(block.kind, window_.model().names().value(block.nameId)))
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
  const LayoutEntry& entry = window_.model().layout().entries().at(1);
  const int y = window_.timeline().contentCorner().y() + entry.y + 2;
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
  const Block mark = window_.model().blocks(0)->front();
  const QRectF rect = window_.timeline().rectOf(0, mark);
  EXPECT_EQ(pixel(QPoint(static_cast<int>(rect.left()) + 2, static_cast<int>(rect.center().y()))),
            Theme(plainPalette(false)).fill(Kind::Mark, "mark"));
}

TEST_F(TimelineViewTest, BeginsWithTheIterations) {
  openTraining();
  const auto& iterations = window_.model().skeleton().iterations;
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
  const auto& entries = window_.model().layout().entries();
  ASSERT_EQ(entries.size(), 22U);
  EXPECT_EQ(window_.model().skeleton().processes.front().pid, 4200);
  EXPECT_EQ(entries[1].track, 0);
  EXPECT_TRUE(std::all_of(
      entries.begin() + 2, entries.end(), [](const LayoutEntry& entry) { return entry.folded; }));
  // The overview has no blank row above or below the only one that says something.
  const QImage image = window_.findChild<OverviewStrip*>()->grab().toImage();
  const QColor forward = Theme(plainPalette(false)).fill(Kind::Forward);
  const int x = window_.timeline().labelWidth() + 3 * shown().width() / 4;
  EXPECT_EQ(image.pixelColor(x, 6), forward);
  EXPECT_EQ(image.pixelColor(x, image.height() - 8), forward);
}

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
  ASSERT_TRUE(window_.model().details());
  EXPECT_EQ(window_.model().details()->event.name, "backward");
  auto* dock = window_.findChild<QDockWidget*>("details");
  EXPECT_TRUE(dock->isVisible());
  key(Qt::Key_Q);
  EXPECT_FALSE(dock->isVisible());
  key(Qt::Key_Q);
  EXPECT_TRUE(dock->isVisible());
  key(Qt::Key_Escape);
  EXPECT_FALSE(window_.model().selectedRef());
  EXPECT_FALSE(dock->isVisible());
}

TEST_F(TimelineViewTest, PeriodAndCommaStepAlongTheRow) {
  openTraining();
  click(middleOf(0, "backward"));
  key(Qt::Key_Period);
  ASSERT_TRUE(window_.model().details());
  EXPECT_EQ(window_.model().details()->event.name, "SGD.step");
  key(Qt::Key_Comma);
  key(Qt::Key_Comma);
  EXPECT_EQ(window_.model().details()->event.name, "DistributedDataParallel.forward");
}

TEST_F(TimelineViewTest, FrameShowsTheSliceAndThenAll) {
  openTraining();
  click(middleOf(0, "backward"));
  key(Qt::Key_F);
  const Block block = window_.model().details()->event.block;
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
  ASSERT_TRUE(window_.state().area());
  EXPECT_NEAR(static_cast<double>(window_.state().area()->durNs()),
              400 * shown().nsPerPixel(),
              2 * shown().nsPerPixel());
  EXPECT_FALSE(window_.model().span().empty());
  EXPECT_TRUE(window_.findChild<QDockWidget*>("span")->isVisible());
  EXPECT_TRUE(window_.findChild<QLabel*>("selectionText")->text().contains("span"));
  key(Qt::Key_F);
  EXPECT_LT(shown().spanNs(), 2 * window_.state().area()->durNs());
}

TEST_F(TimelineViewTest, MarksAreReplacedUnlessKept) {
  openTraining();
  click(middleOf(0, "backward"));
  key(Qt::Key_M, Qt::ShiftModifier);
  key(Qt::Key_Period);
  key(Qt::Key_M);
  EXPECT_EQ(window_.state().marks().size(), 2U);
  key(Qt::Key_Period);
  key(Qt::Key_M);
  EXPECT_EQ(window_.state().marks().size(), 2U);
  key(Qt::Key_M);
  EXPECT_EQ(window_.state().marks().size(), 1U);
}

TEST_F(TimelineViewTest, SlashSearchesByName) {
  openTraining();
  key(Qt::Key_Slash);
  auto* edit = window_.findChild<QLineEdit*>("search");
  ASSERT_TRUE(edit->isVisible());
  QTest::keyClicks(edit, "sgd");
  QTest::keyClick(edit, Qt::Key_Return);
  settle();
  ASSERT_TRUE(window_.model().details());
  EXPECT_EQ(window_.model().details()->event.name, "SGD.step");
  const std::int64_t first = window_.model().details()->event.block.startNs;
  QTest::keyClick(edit, Qt::Key_Return);
  settle();
  EXPECT_GT(window_.model().details()->event.block.startNs, first);
  QTest::keyClick(edit, Qt::Key_Return, Qt::ShiftModifier);
  settle();
  EXPECT_EQ(window_.model().details()->event.block.startNs, first);
  QTest::keyClick(edit, Qt::Key_Escape);
  EXPECT_FALSE(edit->isVisible());
  EXPECT_TRUE(window_.model().searched().isEmpty());
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
  const std::size_t before = window_.model().layout().entries().size();
  const QPoint header =
      window_.timeline().contentCorner() + QPoint(10, TrackLayout::kHeaderHeight / 2);
  click(header);
  EXPECT_LT(window_.model().layout().entries().size(), before);
  click(header);
  EXPECT_EQ(window_.model().layout().entries().size(), before);
}

TEST_F(TimelineViewTest, HoverTellsTheStatusLine) {
  openTraining();
  QTest::mouseMove(window_.timeline().viewport(), middleOf(0, "backward"));
  QCoreApplication::processEvents();
  const QString text = window_.findChild<QLabel*>("hoverText")->text();
  EXPECT_TRUE(text.contains("backward")) << text.toStdString();
  EXPECT_TRUE(text.contains("15.00")) << text.toStdString();
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
  const auto& blocks = *window_.model().blocks(0);
  ASSERT_EQ(blocks.size(), 3U);
  const QRectF speck = window_.timeline().rectOf(0, blocks[1]);
  EXPECT_EQ(blocks[1].id, instant.value);
  EXPECT_EQ(speck.width(), 1.0);
  EXPECT_EQ(pixel(speck.topLeft().toPoint() + QPoint(0, 4)),
            Theme(plainPalette(false)).fill(Kind::Operation, "instant"));
  click(speck.center().toPoint());
  ASSERT_TRUE(window_.model().details());
  EXPECT_EQ(window_.model().details()->event.name, "instant");
  click(window_.timeline().rectOf(0, blocks[2]).center().toPoint());
  EXPECT_EQ(window_.model().details()->event.ref.id, open.value);
  click(window_.timeline().rectOf(0, blocks[0]).center().toPoint());
  EXPECT_EQ(window_.model().details()->event.name.size(), 10'000);
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
  EXPECT_EQ(window_.model().layout().entries().size(), 10'001U);
  EXPECT_NE(window_.model().blocks(0), nullptr);
  EXPECT_EQ(window_.model().blocks(9'000), nullptr);
  window_.timeline().scrollToTrack(9'000);
  settle();
  EXPECT_NE(window_.model().blocks(9'000), nullptr);
}

TEST_F(TimelineViewTest, AFileThatIsNoTraceIsSaid) {
  window_.open({file("missing.sonde")});
  settle();
  EXPECT_EQ(window_.model().state(), TimelineModel::State::Failed);
  EXPECT_TRUE(window_.model().error().contains("missing.sonde"));
}

TEST_F(TimelineViewTest, OpensAnotherTraceAfterOne) {
  openTraining();
  click(middleOf(0, "backward"));
  testing::writeTraining(path("other.sonde"), 2);
  open("other.sonde");
  EXPECT_FALSE(window_.model().selectedRef());
  EXPECT_EQ(window_.model().skeleton().iterations.size(), 4U);
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
