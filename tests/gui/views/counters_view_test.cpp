// Counters in the timeline.
#include "gui/app/main_window.h"
#include "tests/gui/window_rig.h"

#include <QHelpEvent>
#include <QToolTip>

#include <algorithm>
#include <cstdint>

namespace sonde::gui {
namespace {

using testing::SampleTrace;

constexpr std::int64_t kBegin = 1'000'000'000;
constexpr std::int64_t kEnd = 3'000'000'000;
constexpr std::int64_t kSpike = 1'654'321'000;

class CountersViewTest : public TimelineViewTest {
 protected:
  // 100 W, with one sample of 400 W, every 20 µs.
  CountersViewTest() {
    SampleTrace trace(path("counters.sonde"));
    const auto process = trace.addProcess(1, 0, "python3");
    trace.addSlice({trace.addThread(process, 1, "main"),
                    model::SliceKind::Operation,
                    "op",
                    kBegin,
                    kEnd - kBegin});
    const auto power = trace.addCounter({"power", "W", process});
    for (std::int64_t at = kBegin; at <= kEnd; at += 20'000) {
      trace.addSample(power, at, 100);
      if (at < kSpike && kSpike < at + 20'000)
        trace.addSample(power, kSpike, 400);
    }
    trace.finish();
    open("counters.sonde");
  }

  [[nodiscard]] const LayoutEntry* group() {
    const auto& entries = window_.models().timeline.layout().entries();
    const auto found = std::find_if(entries.begin(), entries.end(), [](const LayoutEntry& entry) {
      return entry.type == LayoutEntry::Type::Counters;
    });
    return found == entries.end() ? nullptr : &*found;
  }
  void unfold() {
    const int y = window_.timeline().currentGeometry().rowOf(*group()).center().y();
    click({40, y});
  }
  [[nodiscard]] QRect row() {
    const auto& entries = window_.models().timeline.layout().entries();
    const TimelineGeometry place = window_.timeline().currentGeometry();
    return place.rowOf(entries.back());
  }
};

TEST_F(CountersViewTest, AreOneLineUntilTheyAreUnfolded) {
  ASSERT_NE(group(), nullptr);
  EXPECT_TRUE(group()->folded);
  EXPECT_EQ(window_.models().timeline.curve(1), nullptr) << "a folded counter is not read";
  unfold();
  EXPECT_FALSE(group()->folded);
  ASSERT_NE(window_.models().timeline.curve(1), nullptr);
  EXPECT_EQ(window_.models().timeline.curve(1)->high, 400);
}

TEST_F(CountersViewTest, ASpikeOfOneSampleIsSeenAtAnyZoom) {
  unfold();
  const QColor color = Theme(plainPalette(false)).curve;
  for (const std::int64_t around : {2'000'000'000LL, 300'000'000LL, 5'000'000LL, 50'000LL}) {
    window_.models().view.change(&Viewport::show, kSpike - around, kSpike + around, 0.0);
    settle();
    const QImage image = window_.timeline().viewport()->grab().toImage();
    const QRect rect = row();
    const int top = rect.top() + TrackLayout::kTrackPadding;
    int columns = 0;
    for (int x = window_.timeline().labelWidth(); x < image.width(); ++x)
      columns += image.pixelColor(x, top) == color ? 1 : 0;
    EXPECT_GE(columns, 1) << around;
    // 100 W is a quarter of the height; above it is nothing else.
    const int spike = window_.timeline().labelWidth() + static_cast<int>(shown().xAt(kSpike));
    // A summary of eight samples begins up to a pixel before.
    bool isSeen = false;
    for (const int x : {spike - 1, spike, spike + 1})
      isSeen = isSeen || image.pixelColor(x, rect.center().y()) == color;
    EXPECT_TRUE(isSeen) << around;
    EXPECT_NE(image.pixelColor(spike - 100, rect.center().y()), color) << around;
  }
}

TEST_F(CountersViewTest, TheMouseReadsItsValue) {
  unfold();
  const int x = window_.timeline().labelWidth() + static_cast<int>(shown().xAt(kSpike));
  const auto toolTipAt = [&](const QPoint& at) {
    QHelpEvent help(QEvent::ToolTip, at, window_.timeline().viewport()->mapToGlobal(at));
    QCoreApplication::sendEvent(window_.timeline().viewport(), &help);
    return QToolTip::text();
  };
  const QString watt = QString(QChar(0xa0)) + "W";
  EXPECT_TRUE(toolTipAt({x, row().center().y()}).contains("100" + watt + " to 400" + watt))
      << toolTipAt({x, row().center().y()}).toStdString();
  EXPECT_TRUE(toolTipAt({x + 200, row().center().y()}).contains("100" + watt));
  QString status;
  QObject::connect(
      &window_.timeline(), &TimelineView::hovered, [&](const QString& text) { status = text; });
  QTest::mouseMove(window_.timeline().viewport(), {x + 201, row().center().y()});
  EXPECT_TRUE(status.contains("power   100" + watt)) << status.toStdString();
  // A click on it selects nothing.
  click({x, row().center().y()});
  EXPECT_FALSE(window_.models().selection.ref());
}

}  // namespace
}  // namespace sonde::gui
