// The numbers of SageMaker Debugger's own tests of its profiler rules: so many of so many samples.
// One of its snapshots is a second here.
#include "tests/rules/rule_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSecondNs = 1'000'000'000;

// `bad` of all, evenly spread.
std::vector<bool> spread(int bad, int all) {
  std::vector<bool> marks;
  for (int i = 0; i < all; ++i)
    marks.push_back((i + 1) * bad / all > i * bad / all);
  return marks;
}

class DebuggerNumbers : public test::RuleTrace {
 protected:
  // Seconds in which the GPU is idle, while the counter `cause` uses four processors.
  void seconds(const std::vector<bool>& bad, std::string_view cause) {
    sources("system");
    const auto host = trace_->add(
        model::Host{.name = "h", .bootId = "boot-a", .cpuCount = 4, .memoryBytes = 1'000});
    trace_->add(model::Process{.hostId = host, .pid = 100, .rank = 0});
    const auto device = trace_->add(
        model::Device{.hostId = host, .kind = "gpu", .ordinal = 0, .memoryBytes = 1'000});
    std::vector<double> busy;
    std::transform(bad.begin(), bad.end(), std::back_inserter(busy), [](bool each) {
      return each ? 0.0 : 1.0;
    });
    gauge(host, device, "GPU busy", busy);
    total(host, "cpu busy", bad, cause == "cpu busy" ? 4 : 0.1);
    if (cause != "cpu busy")
      total(host, cause, bad, 1);
  }
  void total(model::HostId host,
             std::string_view name,
             const std::vector<bool>& bad,
             double whileBad) {
    const auto counter = trace_->add(model::Counter{.hostId = host,
                                                    .nameId = trace_->name(name),
                                                    .unit = "ns",
                                                    .kind = model::CounterKind::Total});
    double sum = 0;
    trace_->add(model::Sample{counter, 0, sum});
    for (std::size_t second = 0; second < bad.size(); ++second) {
      sum += (bad[second] ? whileBad : 0.1) * static_cast<double>(kSecondNs);
      trace_->add(model::Sample{counter, static_cast<std::int64_t>(second + 1) * kSecondNs, sum});
    }
  }
  CheckResult judgeWhole(const std::string& rule, test::Settings settings = {}) {
    settings.emplace_back("warmup_s", std::int64_t{0});
    settings.emplace_back("window_s", std::int64_t{1000});
    return judge(rule, settings);
  }
};

TEST_F(DebuggerNumbers, CpuBottleneckIsSilentOn105Of320) {
  seconds(spread(105, 320), "cpu busy");
  const CheckResult result = judgeWhole("cpu-bottleneck");
  EXPECT_EQ(result.outcome.verdict, Verdict::Pass);
  EXPECT_DOUBLE_EQ(*result.outcome.value, 105.0 / 320);
  EXPECT_EQ(result.outcome.samples, 320);
}

TEST_F(DebuggerNumbers, CpuBottleneckFiresOn319Of320) {
  seconds(spread(319, 320), "cpu busy");
  const CheckResult result = judgeWhole("cpu-bottleneck");
  EXPECT_EQ(result.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*result.outcome.value, 319.0 / 320);
  // As with a patience of 320 there.
  EXPECT_EQ(judgeWhole("cpu-bottleneck", {{"min_seconds", std::int64_t{321}}}).outcome.verdict,
            Verdict::Insufficient);
}

TEST_F(DebuggerNumbers, CpuBottleneckIsSilentOnHalf) {
  seconds(spread(160, 320), "cpu busy");
  EXPECT_EQ(judgeWhole("cpu-bottleneck").outcome.verdict, Verdict::Pass);
  EXPECT_EQ(judgeWhole("cpu-bottleneck", {{"max_share", 0.499}}).outcome.verdict, Verdict::Fired);
}

TEST_F(DebuggerNumbers, IoBottleneckIsSilentOn177Of668) {
  seconds(spread(177, 668), "pressure io some");
  const CheckResult result = judgeWhole("io-bottleneck");
  EXPECT_EQ(result.outcome.verdict, Verdict::Pass);
  EXPECT_DOUBLE_EQ(*result.outcome.value, 177.0 / 668);
  EXPECT_EQ(judgeWhole("io-bottleneck", {{"max_share", 0.26}}).outcome.verdict, Verdict::Fired);
}

TEST_F(DebuggerNumbers, LowUseOfAGpuNeedsAsManySamplesAsItIsTold) {
  seconds(spread(320, 320), "cpu busy");
  const CheckResult few = judgeWhole("low-gpu-utilization", {{"min_seconds", std::int64_t{1000}}});
  EXPECT_EQ(few.outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(few.outcome.message, HasSubstr("320"));
  EXPECT_EQ(judgeWhole("low-gpu-utilization").outcome.verdict, Verdict::Fired);
}

TEST_F(DebuggerNumbers, InitializationWithoutPatienceFiresForEachOfTwoRanks) {
  sources("annotation");
  const auto host = trace_->add(model::Host{.name = "h"});
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    const auto process =
        trace_->add(model::Process{.hostId = host, .pid = rank + 1, .rank = rank, .startNs = 0});
    trace_->add(model::Iteration{
        .processId = process, .number = 0, .startNs = kSecondNs, .durNs = kSecondNs});
  }
  const auto results = judgeAll("max-initialization-time", {{"max_s", 0.0}});
  ASSERT_EQ(results.size(), 2U);
  for (const CheckResult& result : results)
    EXPECT_EQ(result.outcome.verdict, Verdict::Fired);
}

}  // namespace
}  // namespace sonde::rules
