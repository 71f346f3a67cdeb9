// The curves of counters, as the reader answers them.
#include "gui/trace/time_format.h"
#include "tests/gui/reader_rig.h"
#include "tests/gui/sample_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::gui {
namespace {

using testing::SampleTrace;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kBegin = 1 * kSecond;

class CounterTest : public testing::TraceReaderTest {
 protected:
  // One process, whose counters the test adds.
  CounterTest() : trace_(std::in_place, file("c.sonde")) {
    process_ = trace_->addProcess(10, 0, "python3");
    const auto thread = trace_->addThread(process_, 10, "python3");
    trace_->addSlice({thread, model::SliceKind::Operation, "op", kBegin, kSecond});
  }

  model::CounterId counter(std::string_view name,
                           std::string_view unit,
                           model::CounterKind kind = model::CounterKind::Gauge) {
    return trace_->addCounter({name, unit, process_, {}, kind});
  }
  void sample(model::CounterId counter, std::int64_t ns, double value) {
    trace_->addSample(counter, ns, value);
  }
  void finish() {
    trace_->finish();
    open(file("c.sonde"));
  }
  [[nodiscard]] int trackOf(const QString& name) const {
    for (std::size_t at = 0; at < skeleton_.tracks.size(); ++at)
      if (skeleton_.tracks[at].name == name)
        return static_cast<int>(at);
    ADD_FAILURE() << "no track " << name.toStdString();
    return 0;
  }
  Curve curve(const QString& name, std::int64_t begin, std::int64_t end, double nsPerPixel) {
    auto reply = reader_.window({begin, end, nsPerPixel, {trackOf(name)}}, never_);
    EXPECT_TRUE(reply);
    return reply ? reply->tracks.at(0).curve : Curve();
  }
  // Each point has the extremes of the rows of `view` (with ts_ns and `column`) that begin in it.
  void expectLikeSql(const Curve& curve, std::string_view view, std::string_view column) {
    auto trace = store::Database::open(file("c.sonde"), store::Access::ReadOnly);
    ASSERT_TRUE(trace);
    auto rows =
        trace->prepare("SELECT min(v), max(v), count(*) FROM (SELECT " + std::string(column) +
                       " AS v FROM " + std::string(view) + " WHERE ts_ns >= ?1 AND ts_ns < ?2)");
    ASSERT_TRUE(rows);
    for (std::size_t at = 0; at + 1 < curve.points.size(); ++at) {
      rows->reset();
      rows->bindAll(curve.points[at].startNs, curve.points[at + 1].startNs);
      ASSERT_TRUE(rows->step());
      ASSERT_DOUBLE_EQ(curve.points[at].min, rows->real(0)) << at;
      ASSERT_DOUBLE_EQ(curve.points[at].max, rows->real(1)) << at;
    }
  }

  std::optional<SampleTrace> trace_;
  model::ProcessId process_;
};

TEST_F(CounterTest, HasTheExtremesOfEachPixelAtAnyZoom) {
  const auto power = counter("power", "W");
  constexpr int kSamples = 4'000;
  for (int at = 0; at < kSamples; ++at)
    sample(power, kBegin + at * 250'000 + at % 7, at == 2'469 ? 700 : (at * 37) % 400 - 20);
  finish();
  for (const double nsPerPixel : {1'000.0, 40'000.0, 100'000.0, 1'000'000.0, 30'000'000.0})
    for (const std::int64_t begin : {kBegin - kSecond, kBegin, kBegin + 612'345'678}) {
      const auto span = static_cast<std::int64_t>(1'000 * nsPerPixel);
      const Curve read = curve("power", begin, begin + span, nsPerPixel);
      if (begin + span <= kBegin)
        continue;
      ASSERT_FALSE(read.points.empty());
      EXPECT_LE(read.points.size(), 1'000U + 10U);
      EXPECT_EQ(read.high, 700);
      EXPECT_EQ(read.low, -20);
      expectLikeSql(read, "v_sample", "value");
      // The spike of one sample is in some point.
      const std::int64_t spike = kBegin + 2'469 * 250'000 + 2'469 % 7;
      const bool isSeen = std::any_of(read.points.begin(),
                                      read.points.end(),
                                      [](const CurvePoint& point) { return point.max == 700; });
      EXPECT_EQ(isSeen, begin <= spike && spike < begin + span) << nsPerPixel;
    }
}

TEST_F(CounterTest, ATotalIsDrawnByItsRateAndAFallIsAGap) {
  const auto sent = counter("sent", "bytes", model::CounterKind::Total);
  for (int at = 0; at < 1'000; ++at)
    sample(sent, kBegin + at * 1'000'000, (at < 500 ? at : at - 500) * 2'000.0);
  const auto busy = counter("cpu time", "ns", model::CounterKind::Total);
  for (int at = 0; at < 10; ++at)
    sample(busy, kBegin + at * 100'000'000, at * 150'000'000.0);
  finish();
  const Curve fine = curve("sent", kBegin, kBegin + kSecond, 1'000'000);
  EXPECT_EQ(fine.high, 2'000'000);
  EXPECT_TRUE(std::isnan(fine.points.at(499).min));
  EXPECT_EQ(pointAt(fine, kBegin + 499'500'000), nullptr);
  ASSERT_NE(pointAt(fine, kBegin + 500'500'000), nullptr);
  EXPECT_EQ(fine.endNs, kBegin + 999'000'000);
  EXPECT_EQ(pointAt(fine, fine.endNs + 1), nullptr);
  const Curve coarse = curve("sent", kBegin, kBegin + kSecond, 50'000'000);
  EXPECT_LE(coarse.points.size(), 21U);
  EXPECT_EQ(coarse.points.at(3).max, 2'000'000);
  EXPECT_EQ(skeleton_.tracks.at(static_cast<std::size_t>(trackOf("sent"))).counter->unit,
            "bytes/s");
  // 150 ms in 100 ms: one and a half processors.
  const Curve share = curve("cpu time", kBegin, kBegin + kSecond, 1'000'000);
  EXPECT_DOUBLE_EQ(share.points.at(0).last, 150);
  EXPECT_EQ(skeleton_.tracks.at(static_cast<std::size_t>(trackOf("cpu time"))).counter->unit, "%");
}

TEST_F(CounterTest, SamplesFarApartKeepTheirTimes) {
  const auto threads = counter("threads", "1");
  // Bursts of 20 with long breaks: one summary spans a break.
  for (int burst = 0; burst < 100; ++burst)
    for (int at = 0; at < 20; ++at)
      sample(threads, kBegin + burst * 10'000'000 + at, burst * 20 + at);
  finish();
  const Curve read = curve("threads", kBegin, kBegin + kSecond, 1'000'000);
  EXPECT_EQ(read.points.size(), 100U);
  expectLikeSql(read, "v_sample", "value");
  EXPECT_EQ(pointAt(read, kBegin + 15'000'000)->last, 39);
}

TEST_F(CounterTest, ACancelledReadingGoesOnWhereItStopped) {
  const auto power = counter("power", "W");
  for (int at = 0; at < 30'000; ++at)
    sample(power, kBegin + at * 1'000, at);
  finish();
  Cancellation cancelled;
  cancelled.request();
  const WindowRequest request{kBegin, kBegin + kSecond, 1'000'000, {trackOf("power")}};
  EXPECT_FALSE(reader_.window(request, cancelled));
  const Curve read = curve("power", kBegin, kBegin + kSecond, 1'000'000);
  EXPECT_EQ(read.high, 29'999);
  expectLikeSql(read, "v_sample", "value");
}

TEST_F(CounterTest, BelongsToItsProcessDeviceOrMachine) {
  sample(counter("threads", "1"), kBegin, 4);
  const auto used = trace_->addDevice(0, "H200");
  const auto idle = trace_->addDevice(1, "H200");
  trace_->addStream(process_, used, 7);
  for (const auto device : {used, idle})
    sample(trace_->addCounter({"GPU power", "W", {}, device}), kBegin, 100);
  sample(trace_->addCounter({"cpu busy", "W"}), kBegin, 100);
  trace_->addCounter({"unused", "W"});
  finish();
  std::vector<std::pair<QString, bool>> counters;
  for (const TrackInfo& track : skeleton_.tracks)
    if (track.counter)
      counters.emplace_back(track.name, track.counter->isOfHost);
  EXPECT_EQ(counters,
            (std::vector<std::pair<QString, bool>>{{"gpu 0 · power", false},
                                                   {"threads", false},
                                                   {"gpu 1 · power", true},
                                                   {"cpu busy", true}}));
}

TEST(FormatQuantity, NamesTheUnitAsAPersonWould) {
  const QString space(QChar(0xa0));
  EXPECT_EQ(formatQuantity(312.4, "W"), "312" + space + "W");
  EXPECT_EQ(formatQuantity(1.98e9, "Hz"), "1.98" + space + "GHz");
  EXPECT_EQ(formatQuantity(12, "1"), "12");
  EXPECT_EQ(formatQuantity(0.5, "1"), "0.50");
  EXPECT_EQ(formatQuantity(45.2, "%"), "45.2" + space + "%");
  EXPECT_EQ(formatQuantity(61, "C"), "61" + space + "°C");
  EXPECT_EQ(formatQuantity(3.0 * (1 << 20), "bytes"), "3" + space + "MiB");
  EXPECT_EQ(formatQuantity(2048, "bytes/s"), "2" + space + "KiB/s");
  EXPECT_EQ(formatQuantity(120'000, "1/s"), "120" + space + "k/s");
}

}  // namespace
}  // namespace sonde::gui
