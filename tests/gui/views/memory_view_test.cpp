#include "gui/views/memory/memory_view.h"

#include "gui/views/chart/line_chart.h"
#include "gui/views/table/table_panel.h"
#include "tests/gui/window_rig.h"

#include <QTableView>

namespace sonde::gui {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kMiB = 1 << 20;

// Forward allocates 100 MiB that live long, backward 300 MiB for a while; malloc has 1 MiB.
void writeAllocations(const std::string& path) {
  testing::SampleTrace trace(path);
  auto& writer = trace.writer();
  test::must(writer.add(model::Meta{"origin_ns", "1000000000"}));
  const auto process = trace.addProcess(7, 0, "python3 train.py");
  const auto thread = trace.addThread(process, 7, "main");
  const auto step =
      trace.addSlice({thread, model::SliceKind::Iteration, "iteration", 1000 * kMs, 1000 * kMs});
  trace.addIteration(process, 3, 1000 * kMs, 1000 * kMs);
  const auto forward = trace.addSlice(
      {thread, model::SliceKind::Forward, "forward", 1000 * kMs, 400 * kMs, 1, step, 0, step});
  const auto backward = trace.addSlice(
      {thread, model::SliceKind::Backward, "backward", 1500 * kMs, 400 * kMs, 1, step, 0, step});
  const auto allocate = [&](model::Allocator allocator,
                            std::int64_t bytes,
                            std::int64_t beginMs,
                            std::int64_t endMs,
                            model::SliceId scope) {
    static std::int64_t address = 0;
    test::must(writer.add(model::Allocation{.processId = process,
                                            .allocator = allocator,
                                            .address = ++address,
                                            .bytes = bytes,
                                            .allocNs = beginMs * kMs,
                                            .freeNs = endMs * kMs,
                                            .scopeId = scope}));
  };
  allocate(model::Allocator::Torch, 100 * kMiB, 1100, 1900, forward);
  allocate(model::Allocator::Torch, 300 * kMiB, 1600, 1700, backward);
  allocate(model::Allocator::Malloc, kMiB, 1200, 1300, forward);
  trace.finish();
}

class MemoryViewTest : public TimelineViewTest {
 protected:
  MemoryViewTest() { window_.showView(QStringLiteral("memory")); }

  void openAllocations() {
    writeAllocations(path("memory.sonde"));
    open("memory.sonde");
  }
  [[nodiscard]] MemoryView& view() {
    return *qobject_cast<MemoryView*>(window_.view(QStringLiteral("memory")));
  }
  void clickChartAt(double seconds) {
    QTest::mouseClick(view().findChild<LineChart*>(),
                      Qt::LeftButton,
                      Qt::NoModifier,
                      view().chart().positionOf({seconds, 1}).toPoint());
    settle();
  }
};

TEST_F(MemoryViewTest, HasThePeakAndItsHolders) {
  openAllocations();
  ASSERT_EQ(view().message(), "");
  ASSERT_EQ(view().places().rows().size(), 2U);
  EXPECT_EQ(view().places().rows()[0].values[2], "torch");
  EXPECT_EQ(view().places().rows()[0].values[3].toLongLong(), 400 * kMiB);
  ASSERT_EQ(view().chart().data().marks.size(), 1U);
  EXPECT_NEAR(view().chart().data().marks[0].x, 0.6, 1e-9);
  ASSERT_EQ(view().holders().rows().size(), 2U);
  EXPECT_EQ(view().holders().rows()[0].values[0], "backward");
  EXPECT_EQ(view().holders().rows()[0].values[3].toLongLong(), 300 * kMiB);
  EXPECT_TRUE(view().note().contains("iteration 3")) << view().note().toStdString();
}

TEST_F(MemoryViewTest, AClickLooksAtAnotherMoment) {
  openAllocations();
  clickChartAt(0.3);
  ASSERT_EQ(view().holders().rows().size(), 1U);
  EXPECT_EQ(view().holders().rows()[0].values[0], "forward");
  EXPECT_EQ(view().holders().rows()[0].values[4], 1.0);
  EXPECT_EQ(view().chart().data().marks.size(), 2U);
  EXPECT_TRUE(view().note().contains("100")) << view().note().toStdString();
}

TEST_F(MemoryViewTest, TheTableChoosesThePlace) {
  openAllocations();
  QTableView* table = nullptr;
  for (TablePanel* const panel : view().findChildren<TablePanel*>())
    if (panel->accessibleName() == QStringLiteral("Processes and devices"))
      table = &panel->view();
  QTest::mouseClick(table->viewport(),
                    Qt::LeftButton,
                    Qt::NoModifier,
                    table->visualRect(table->model()->index(1, 0)).center());
  settle();
  ASSERT_EQ(view().holders().rows().size(), 1U);
  EXPECT_EQ(view().holders().rows()[0].values[3].toLongLong(), kMiB);
  const std::vector<ChartPoint>& points = view().chart().data().series[0].points;
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[2].x, view().chart().data().highX) << "what is held at the end";
  EXPECT_EQ(points[2].y, 0);
  EXPECT_FALSE(view().operations().rows().empty());
}

TEST_F(MemoryViewTest, FollowsTheSelectedSpan) {
  openAllocations();
  view().choose(1);
  window_.models().view.setArea(Area{{1200 * kMs, 1500 * kMs}, {}});
  settle();
  const LineData& malloc = view().chart().data();
  EXPECT_TRUE(malloc.series[0].name.contains("malloc")) << "the chosen one stays";
  EXPECT_EQ(malloc.lowX, 0.2);
  EXPECT_EQ(malloc.highX, 0.5);
  view().choose(0);
  settle();
  EXPECT_EQ(view().places().rows()[0].values[3].toLongLong(), 100 * kMiB) << "the peak in it";
  EXPECT_NEAR(view().chart().data().marks[0].x, 0.2, 1e-9);
  ASSERT_EQ(view().holders().rows().size(), 1U);
  EXPECT_EQ(view().holders().rows()[0].values[0], "forward");
  EXPECT_TRUE(view().note().contains("selected span")) << view().note().toStdString();
  for (const ValueRow& row : view().operations().rows())
    EXPECT_NE(row.values[0], "backward");
  window_.models().view.setArea(std::nullopt);
  settle();
  EXPECT_EQ(view().places().rows()[0].values[3].toLongLong(), 400 * kMiB);
  EXPECT_EQ(view().chart().data().lowX, 0) << "the whole trace";
}

TEST_F(MemoryViewTest, FollowsTheSpanAlsoIfTheUserClicksBeforeItIsRead) {
  openAllocations();
  window_.models().view.setArea(Area{{1200 * kMs, 1500 * kMs}, {}});
  view().choose(0);
  settle();
  EXPECT_EQ(view().places().rows()[0].values[3].toLongLong(), 100 * kMiB) << "the peak in it";
}

TEST_F(MemoryViewTest, SaysWhatIsMissing) {
  openTraining();
  EXPECT_TRUE(view().message().contains("--sources +memory")) << view().message().toStdString();
}

}  // namespace
}  // namespace sonde::gui
