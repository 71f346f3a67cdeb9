#include "analysis/engine/counters/counter_groups.h"

#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

#include <cmath>

namespace sonde::engine::counters {
namespace {

using test::must;
using ::testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;

class CounterGroups : public test::DeviceTrace {
 protected:
  struct Of {
    model::ProcessId process{};
    model::ThreadId thread{};
    model::DeviceId device{};
  };
  using Values = std::vector<std::pair<std::int64_t, double>>;  // at seconds
  void counter(std::string_view name,
               std::string_view unit,
               model::CounterKind kind,
               const Values& values,
               const Of& of) {
    const auto id = trace_->add(model::Counter{.hostId = host_,
                                               .processId = of.process,
                                               .threadId = of.thread,
                                               .deviceId = of.device,
                                               .nameId = trace_->name(name),
                                               .unit = unit,
                                               .kind = kind});
    for (const auto& [second, value] : values)
      trace_->add(model::Sample{id, second * kSecond, value});
  }
  void gauge(std::string_view name, std::string_view unit, const Values& values) {
    gaugeOf({}, name, unit, values);
  }
  void gaugeOf(const Of& of, std::string_view name, std::string_view unit, const Values& values) {
    counter(name, unit, model::CounterKind::Gauge, values, of);
  }
  void total(std::string_view name, std::string_view unit, const Values& values) {
    totalOf({}, name, unit, values);
  }
  void totalOf(const Of& of, std::string_view name, std::string_view unit, const Values& values) {
    counter(name, unit, model::CounterKind::Total, values, of);
  }
  std::vector<CounterChart> read(const std::optional<metrics::Interval>& window = {},
                                 std::size_t most = 100) {
    const auto trace = open();
    return must(counterCharts(trace, must(metrics::readRanks(trace)), window, most));
  }
};

TEST_F(CounterGroups, HaveTotalsAsRates) {
  step(rank(0), 0, {0, 10 * kSecond});
  total("cpu busy", "ns", {{0, 0}, {1, 2e9}, {3, 3e9}});
  total("network eth0 sent", "bytes", {{0, 100}, {2, 300}, {3, 50}, {4, 60}});
  const auto charts = read();
  ASSERT_THAT(charts, SizeIs(2));
  EXPECT_EQ(charts[0].group, CounterGroup::Processors);
  EXPECT_EQ(charts[0].host, "h");
  const auto& busy = charts[0].series[0];
  EXPECT_TRUE(busy.isRate);
  ASSERT_THAT(busy.points, SizeIs(3));
  EXPECT_DOUBLE_EQ(busy.points[0].value, 2);  // two processors
  EXPECT_DOUBLE_EQ(busy.points[1].value, 0.5);
  EXPECT_EQ(busy.points[2].ns, 3 * kSecond);
  const auto& sent = charts[1].series[0];
  EXPECT_EQ(sent.unit, "B/s");
  EXPECT_DOUBLE_EQ(sent.points[0].value, 100);
  EXPECT_TRUE(std::isnan(sent.points[1].value));  // it began anew
  EXPECT_DOUBLE_EQ(sent.points[2].value, 10);
}

// The lowest and the highest value of each stretch stay, here of that which begins with a gap.
TEST_F(CounterGroups, KeepValuesBesideAGapWhenTheyAreThinned) {
  step(rank(0), 0, {0, 20 * kSecond});
  Values values;
  for (int second = 0; second < 20; ++second)
    values.emplace_back(second, second < 11 ? second * 1'000 : (second - 11) * (second - 11));
  total("network eth0 sent", "bytes", values);
  const auto& points = read({}, 2).at(0).series.at(0).points;
  ASSERT_THAT(points, SizeIs(5));
  EXPECT_TRUE(std::isnan(points[2].value));
  EXPECT_DOUBLE_EQ(points[3].value, 1);
  EXPECT_DOUBLE_EQ(points[4].value, 15);
}

TEST_F(CounterGroups, AreByDeviceAndNameRanks) {
  const Rank one = rank(0);
  step(one, 0, {0, 10 * kSecond});
  gaugeOf({.device = one.device}, "GPU power", "W", {{0, 100}, {1, 300}});
  gaugeOf({.device = one.device}, "GPU temperature", "C", {{0, 50}});
  gaugeOf({.process = one.process}, "resident memory", "bytes", {{0, 1000}});
  totalOf({.thread = one.thread}, "cpu time", "ns", {{0, 0}, {1, 1e9}});
  gauge("cpu 3 busy", "1", {{0, 1}});
  gauge("memory available", "bytes", {{0, 5000}});
  const auto charts = read();
  ASSERT_THAT(charts, SizeIs(3));  // neither threads nor single processors
  EXPECT_EQ(charts[0].group, CounterGroup::Memory);
  ASSERT_THAT(charts[0].series, SizeIs(2));
  EXPECT_EQ(charts[0].series[1].name, "rank 0: resident memory");
  EXPECT_EQ(charts[1].group, CounterGroup::Power);
  EXPECT_EQ(charts[1].device, "gpu 0");
  EXPECT_EQ(charts[2].group, CounterGroup::Temperature);
}

TEST_F(CounterGroups, HaveTheLongestReadingOfSeveralRecorders) {
  step(rank(0), 0, {0, 10 * kSecond});
  gauge("memory available", "bytes", {{0, 5}, {1, 6}});
  gauge("memory available", "bytes", {{0, 5}, {1, 6}, {2, 7}});
  gauge("memory available", "bytes", {{1, 6}, {2, 7}});
  const auto charts = read();
  ASSERT_THAT(charts, SizeIs(1));
  ASSERT_THAT(charts[0].series, SizeIs(1));
  EXPECT_THAT(charts[0].series[0].points, SizeIs(3));
}

TEST_F(CounterGroups, LeaveOutDisksThatDidNothing) {
  step(rank(0), 0, {0, 10 * kSecond});
  total("disk sda read", "bytes", {{0, 7}, {1, 7}});
  total("disk sdb read", "bytes", {{0, 7}, {1, 9}});
  const auto charts = read();
  ASSERT_THAT(charts, SizeIs(1));
  ASSERT_THAT(charts[0].series, SizeIs(1));
  EXPECT_EQ(charts[0].series[0].name, "disk sdb read");
}

TEST_F(CounterGroups, OfOtherCountersHaveAChartForEachName) {
  step(rank(0), 0, {0, 10 * kSecond});
  gauge("queue length", "1", {{0, 1}});
  gauge("lost packets", "packets", {{0, 2}});
  const auto charts = read();
  ASSERT_THAT(charts, SizeIs(2));
  EXPECT_EQ(charts[0].name, "lost packets");
  EXPECT_EQ(charts[1].name, "queue length");
}

TEST_F(CounterGroups, KeepExtremesAndTheWindow) {
  step(rank(0), 0, {0, 10 * kSecond});
  Values values;
  for (int second = 0; second < 1000; ++second)
    values.emplace_back(second, second == 777 ? 99 : second == 555 ? -99 : second % 3);
  gauge("memory available", "bytes", values);
  auto charts = read(metrics::Interval{500 * kSecond, 800 * kSecond}, 10);
  ASSERT_THAT(charts, SizeIs(1));
  const auto& points = charts[0].series[0].points;
  EXPECT_LE(points.size(), 20U);
  const auto [low, high] = std::minmax_element(
      points.begin(), points.end(), [](const CounterPoint& a, const CounterPoint& b) {
        return a.value < b.value;
      });
  EXPECT_EQ(low->ns, 555 * kSecond);
  EXPECT_EQ(high->ns, 777 * kSecond);
  EXPECT_GE(points.front().ns, 499 * kSecond);
  EXPECT_LE(points.back().ns, 800 * kSecond);
}

TEST_F(CounterGroups, AreEmptyWithoutCounters) {
  step(rank(0), 0, {0, 10});
  const auto trace = open();
  EXPECT_FALSE(must(hasCounters(trace)));
  EXPECT_TRUE(must(counterCharts(trace, must(metrics::readRanks(trace)), {}, 10)).empty());
}

}  // namespace
}  // namespace sonde::engine::counters
