#include "gui/views/roofline/roofline_view.h"

#include "gui/views/chart/scatter_chart.h"
#include "gui/views/table/table_panel.h"
#include "tests/gui/window_rig.h"

#include <QTableView>

namespace sonde::gui {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Products of matrices and additions on an A100.
void writeKernels(const std::string& path) {
  testing::SampleTrace trace(path);
  auto& writer = trace.writer();
  test::must(writer.add(model::Meta{"origin_ns", "1000000000"}));
  const auto process = trace.addProcess(7, 0, "python3 train.py");
  const auto thread = trace.addThread(process, 7, "main");
  const auto stream = trace.addStream(process, trace.addDevice(0, "NVIDIA A100-SXM4-80GB"), 7);
  const auto add = [&](const char* name,
                       const char* shapes,
                       const char* types,
                       const char* kernel,
                       std::int64_t beginNs,
                       std::int64_t ns) {
    const auto op = trace.addSlice({thread, model::SliceKind::Operator, name, beginNs, 10'000});
    for (const auto& [key, value] : {std::pair("shapes", shapes), std::pair("dtypes", types)})
      test::must(writer.add(model::Arg{model::Owner::Slice,
                                       op.value,
                                       test::must(writer.intern(key)),
                                       model::ArgValue(std::string_view(value))}));
    testing::SampleTrace::WorkSpec work;
    work.stream = stream;
    work.name = kernel;
    work.startNs = beginNs + 20'000;
    work.durNs = ns;
    work.scope = op;
    trace.addKernel(work);
  };
  add("aten::mm", "[[1000,1000],[1000,1000]]", "[float,float]", "sgemm", 1100 * kMs, 200'000);
  add("aten::add", "[[1000000],[1000000],[]]", "[float,float,Int]", "add", 1200 * kMs, 10'000);
  trace.finish();
}

class RooflineViewTest : public TimelineViewTest {
 protected:
  RooflineViewTest() { window_.showView(QStringLiteral("roofline")); }

  void openKernels() {
    writeKernels(path("kernels.sonde"));
    open("kernels.sonde");
  }
  [[nodiscard]] RooflineView& view() {
    return *qobject_cast<RooflineView*>(window_.view(QStringLiteral("roofline")));
  }
  [[nodiscard]] QTableView& table() { return view().table().view(); }
};

TEST_F(RooflineViewTest, HasKernelsUnderTheRoofs) {
  openKernels();
  ASSERT_EQ(view().message(), "");
  const ScatterData& drawn = view().chart().data();
  ASSERT_EQ(drawn.points.size(), 2U);
  EXPECT_NEAR(drawn.points[0].y, 1e13, 1);
  ASSERT_EQ(drawn.lines.size(), 2U);  // memory, and single precision
  const QPointF ridge = drawn.lines[0].points.back();
  EXPECT_NEAR(ridge.y(), 19.5e12, 1);
  EXPECT_NEAR(ridge.x() * 2.039e12, ridge.y(), 1);
  ASSERT_EQ(view().kernels().rows().size(), 2U);
  EXPECT_EQ(view().kernels().rows()[0].values[3], "compute");
  EXPECT_EQ(view().kernels().rows()[1].values[3], "memory");
  EXPECT_TRUE(view().note().contains("100.0 %")) << view().note().toStdString();
}

TEST_F(RooflineViewTest, FollowsTheSelectedSpan) {
  openKernels();
  const auto select = [&](std::int64_t beginMs, std::int64_t endMs) {
    window_.models().view.setArea(Area{{beginMs * kMs, endMs * kMs}, {}});
    settle();
  };
  select(1150, 1300);
  ASSERT_EQ(view().kernels().rows().size(), 1U);
  EXPECT_EQ(view().kernels().rows()[0].values[0], "add");
  EXPECT_TRUE(view().note().contains("100.0 %")) << view().note().toStdString();
  EXPECT_TRUE(view().note().contains("selected span")) << view().note().toStdString();
  select(1150, 1160);
  EXPECT_TRUE(view().message().contains("selected span has no kernel"))
      << view().message().toStdString();
  window_.models().view.setArea(std::nullopt);
  settle();
  EXPECT_EQ(view().message(), "");
  EXPECT_EQ(view().kernels().rows().size(), 2U);
}

TEST_F(RooflineViewTest, AClickOnAPointSelectsItsRowAndTheReverse) {
  openKernels();
  const ScatterPoint& point = view().chart().data().points[1];
  QTest::mouseClick(view().findChild<ScatterChart*>(),
                    Qt::LeftButton,
                    Qt::NoModifier,
                    view().chart().positionOf(point.x, point.y).toPoint());
  EXPECT_EQ(table().currentIndex().row(), 1);
  EXPECT_EQ(table().currentIndex().siblingAtColumn(0).data().toString(), "add");
  EXPECT_EQ(view().chart().selected(), 1U);
  QTest::mouseClick(table().viewport(),
                    Qt::LeftButton,
                    Qt::NoModifier,
                    table().visualRect(table().model()->index(0, 0)).center());
  EXPECT_EQ(view().chart().selected(), 0U);
}

TEST_F(RooflineViewTest, ADoubleClickShowsTheLongestKernel) {
  openKernels();
  emit view().table().opened(view().kernels().rows()[0].place);
  settle();
  EXPECT_LE(shown().beginNs(), 1100 * kMs + 20'000);
  EXPECT_GE(shown().endNs(), 1100 * kMs + 220'000);
  EXPECT_LT(shown().endNs() - shown().beginNs(), kMs);
}

TEST_F(RooflineViewTest, SaysWhatIsMissing) {
  openTraining();
  EXPECT_TRUE(view().message().contains("--torch-operators shapes"))
      << view().message().toStdString();
}

}  // namespace
}  // namespace sonde::gui
