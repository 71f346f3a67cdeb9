#include "gui/views/system/system_view.h"

#include "gui/views/chart/line_chart.h"
#include "tests/gui/window_rig.h"

#include <QComboBox>

namespace sonde::gui {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// A second with an iteration of two operations, a machine's meters and a GPU's.
void writeCounters(const std::string& path) {
  testing::SampleTrace trace(path);
  auto& writer = trace.writer();
  test::must(writer.add(model::Meta{"origin_ns", "1000000000"}));
  const auto process = trace.addProcess(7, 0, "python3 train.py");
  const auto thread = trace.addThread(process, 7, "main");
  const auto device = trace.addDevice(0, "Some GPU");
  const auto step =
      trace.addSlice({thread, model::SliceKind::Iteration, "iteration", 1000 * kMs, 1000 * kMs});
  trace.addIteration(process, 0, 1000 * kMs, 1000 * kMs);
  for (const auto& [kind, name, begin] :
       {std::tuple(model::SliceKind::Forward, "forward", 1000 * kMs),
        std::tuple(model::SliceKind::Backward, "backward", 1500 * kMs)})
    trace.addSlice({thread, kind, name, begin, 500 * kMs, 1, step, 0, step});
  const auto counter = [&](const char* name,
                           const char* unit,
                           model::CounterKind kind,
                           model::DeviceId on,
                           double perSample) {
    const auto id = test::must(writer.add(model::Counter{.hostId = model::HostId{1},
                                                         .deviceId = on,
                                                         .nameId = test::must(writer.intern(name)),
                                                         .unit = unit,
                                                         .kind = kind}));
    for (int sample = 0; sample <= 10; ++sample)
      test::must(writer.add(model::Sample{id, (1000 + 100 * sample) * kMs, perSample * sample}));
  };
  counter("cpu busy", "ns", model::CounterKind::Total, {}, 2e8);
  counter("memory available", "bytes", model::CounterKind::Gauge, {}, 1e9);
  counter("energy package-0", "J", model::CounterKind::Total, {}, 5);
  counter("GPU busy", "1", model::CounterKind::Gauge, device, 0.1);
  trace.finish();
}

class SystemViewTest : public TimelineViewTest {
 protected:
  SystemViewTest() { window_.showView(QStringLiteral("system")); }

  void openCounters() {
    writeCounters(path("counters.sonde"));
    open("counters.sonde");
  }
  // The energy of all operations.
  [[nodiscard]] double joules() {
    double sum = 0;
    for (const ValueRow& row : view().energy().rows())
      sum += row.values[3].toDouble();
    return sum;
  }
  [[nodiscard]] SystemView& view() {
    return *qobject_cast<SystemView*>(window_.view(QStringLiteral("system")));
  }
};

TEST_F(SystemViewTest, HasAChartForEachKindOfValue) {
  openCounters();
  ASSERT_EQ(view().message(), "");
  EXPECT_EQ(view().titles(),
            (QStringList{
                "Processors in use", "GPU busy, gpu 0", "Memory: memory available", "Power (W)"}));
  const LineData& busy = view().charts()[0]->data();
  EXPECT_DOUBLE_EQ(busy.series[0].points[0].y, 2);
  EXPECT_NEAR(busy.series[0].points[1].x, 0.1, 1e-9);  // seconds of the job
  EXPECT_DOUBLE_EQ(view().charts()[3]->data().series[0].points[0].y, 50);
}

TEST_F(SystemViewTest, HasTheEnergyOfOperations) {
  openCounters();
  const auto& rows = view().energy().rows();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_NEAR(joules(), 50, 1e-6);
  EXPECT_EQ(rows.back().values[2], "idle");
}

TEST_F(SystemViewTest, FollowsTheSelectedRange) {
  openCounters();
  const std::size_t all = view().charts()[1]->data().series[0].points.size();
  window_.models().view.setArea(Area{{1300 * kMs, 1500 * kMs}, {}});
  settle();
  const LineData& busy = view().charts()[1]->data();
  EXPECT_LT(busy.series[0].points.size(), all);
  EXPECT_NEAR(*busy.lowX, 0.3, 1e-9);
  EXPECT_NEAR(*busy.highX, 0.5, 1e-9);
  EXPECT_TRUE(view().note().contains("200")) << view().note().toStdString();
  EXPECT_NEAR(joules(), 10, 1e-6);
}

TEST_F(SystemViewTest, AClickShowsTheTimeInTheTimeline) {
  openCounters();
  const LineChart* const chart = view().charts()[0];
  QTest::mouseClick(const_cast<LineChart*>(chart),
                    Qt::LeftButton,
                    Qt::NoModifier,
                    chart->positionOf({0.25, 1}).toPoint());
  settle();
  EXPECT_TRUE(window_.timeline().isVisible());
  EXPECT_NEAR(
      static_cast<double>(shown().beginNs() + shown().endNs()) / 2, 1250.0 * kMs, 10.0 * kMs);
  EXPECT_LT(shown().endNs() - shown().beginNs(), 100 * kMs);
}

TEST_F(SystemViewTest, SaysWhatIsMissing) {
  openTraining();
  EXPECT_TRUE(view().message().contains("source system")) << view().message().toStdString();
}

}  // namespace
}  // namespace sonde::gui
