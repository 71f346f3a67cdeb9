#include "rules/builtin/trend.h"
#include "tests/rules/rule_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<double> constant(int seconds, double value) {
  return std::vector<double>(static_cast<std::size_t>(seconds), value);
}

class SystemRules : public test::RuleTrace {
 protected:
  // A machine with a GPU for each entry of `busy`, each of these uses for 100 s.
  void gpus(const std::vector<double>& busy, double memory = 0.9) {
    sources("system");
    host_ = trace_->add(
        model::Host{.name = "h", .bootId = "boot-a", .cpuCount = 4, .memoryBytes = 1'000});
    process_ = trace_->add(model::Process{.hostId = host_, .pid = 100, .rank = 0});
    for (const double use : busy) {
      const auto device = trace_->add(model::Device{
          .hostId = host_, .kind = "gpu", .ordinal = ordinal_++, .memoryBytes = 1'000});
      gauge(host_, device, "GPU busy", constant(100, use));
      gauge(host_, device, "GPU memory used", constant(100, memory * 1'000));
    }
  }
  // Processors busy, of four; it grows by that much in a second.
  void processors(double busy) { total("cpu busy", busy); }
  void total(std::string_view name, double each, model::ThreadId thread = {}) {
    const auto counter = trace_->add(model::Counter{.hostId = host_,
                                                    .threadId = thread,
                                                    .nameId = trace_->name(name),
                                                    .unit = "ns",
                                                    .kind = model::CounterKind::Total});
    for (int second = 0; second <= 100; ++second)
      trace_->add(model::Sample{counter,
                                second * kSecond,
                                each * static_cast<double>(second) * static_cast<double>(kSecond)});
  }
  model::ProcessId process_;
  std::int64_t ordinal_ = 0;
};

TEST_F(SystemRules, LowUseOfAGpuFires) {
  gpus({0.5});
  const CheckResult fired = judge("low-gpu-utilization");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(fired.entity, "gpu 0 of h");
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0.5);
  EXPECT_EQ(fired.outcome.samples, 70);  // without 30 s of warm-up
  EXPECT_THAT(fired.outcome.message, HasSubstr("low use"));
  EXPECT_EQ(verdict("low-gpu-utilization", {{"min_p95", 0.5}}), Verdict::Pass);  // equal is healthy
  EXPECT_EQ(verdict("low-gpu-utilization", {{"warmup_s", std::int64_t{90}}}),
            Verdict::Insufficient);
}

TEST_F(SystemRules, FluctuatingUseOfAGpuFires) {
  gpus({});
  const auto device = trace_->add(model::Device{.hostId = host_, .kind = "gpu", .ordinal = 0});
  std::vector<double> use;
  for (int second = 0; second < 100; ++second)
    use.push_back(second % 10 == 0 ? 0.0 : 1.0);
  gauge(host_, device, "GPU busy", use);
  const CheckResult fired = judge("low-gpu-utilization");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_THAT(fired.outcome.message, HasSubstr("fluctuates"));
}

// The rule of SageMaker Debugger loses samples above 98 %.
TEST_F(SystemRules, LoadBalancingComparesAFullGpuWithAnother) {
  gpus({1.0, 0.3});
  const CheckResult fired = judge("load-balancing");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_NEAR(*fired.outcome.value, 0.7, 1e-9);
  EXPECT_THAT(fired.outcome.message, HasSubstr("gpu 0 of h and gpu 1 of h"));
  EXPECT_EQ(verdict("load-balancing", {{"max_distance", 0.7000001}}), Verdict::Pass);
}

// … and it calls 89.9 and 90.1 % as different as can be.
TEST_F(SystemRules, LoadBalancingIsSilentOnNearlyEqualUse) {
  gpus({0.899, 0.901});
  EXPECT_NEAR(*judge("load-balancing").outcome.value, 0.002, 1e-9);
  EXPECT_EQ(verdict("load-balancing"), Verdict::Pass);
}

TEST_F(SystemRules, LoadBalancingNeedsTwoGpus) {
  gpus({0.9});
  EXPECT_EQ(verdict("load-balancing"), Verdict::Skipped);
}

TEST_F(SystemRules, CpuBottleneckNeedsIdleGpusAndBusyProcessors) {
  gpus({0.05, 0.02});
  processors(3.75);
  const CheckResult fired = judge("cpu-bottleneck");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(fired.entity, "host h");
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 1);
  EXPECT_EQ(verdict("cpu-bottleneck", {{"cpu_busy", 0.9375}}), Verdict::Pass);
}

// One idle GPU beside a busy one is no bottleneck of processors.
TEST_F(SystemRules, CpuBottleneckIsSilentIfOneGpuWorks) {
  gpus({0.9, 0.02});
  processors(3.75);
  EXPECT_EQ(verdict("cpu-bottleneck"), Verdict::Pass);
}

TEST_F(SystemRules, CpuBottleneckSeesOneBusyThread) {
  gpus({0.05});
  processors(1.0);
  const auto thread = trace_->add(model::Thread{.processId = process_, .tid = 100});
  total("cpu time", 0.97, thread);
  EXPECT_EQ(verdict("cpu-bottleneck"), Verdict::Fired);
}

TEST_F(SystemRules, IoBottleneckNeedsIdleGpusAndWaitingForDisks) {
  gpus({0.05});
  processors(1.0);
  EXPECT_EQ(verdict("io-bottleneck"), Verdict::Insufficient);
}

TEST_F(SystemRules, IoBottleneckFiresOnPressure) {
  gpus({0.05});
  processors(1.0);
  total("pressure io some", 0.625);
  EXPECT_EQ(verdict("io-bottleneck"), Verdict::Fired);
  EXPECT_EQ(verdict("io-bottleneck", {{"io_wait", 0.625}}), Verdict::Pass);
}

TEST_F(SystemRules, BatchSizeNeedsRoomEverywhere) {
  gpus({0.5}, 0.6);
  processors(1.0);
  const CheckResult fired = judge("batch-size");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_NEAR(*fired.outcome.value, 0.6, 1e-9);
  EXPECT_EQ(verdict("batch-size", {{"max_p95", 0.6}}), Verdict::Pass);
}

TEST_F(SystemRules, BatchSizeIsSilentIfTheMemoryIsFull) {
  gpus({0.5}, 0.9);
  processors(1.0);
  EXPECT_EQ(verdict("batch-size"), Verdict::Pass);
}

TEST_F(SystemRules, ThrottlingNamesTheReason) {
  gpus({});
  const auto device = trace_->add(model::Device{.hostId = host_, .kind = "gpu", .ordinal = 3});
  gauge(host_, device, "GPU held back by heat", constant(100, 0.2));
  gauge(host_, device, "GPU held back by power cap", constant(100, 0.01));
  const CheckResult fired = judge("gpu-throttling");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(fired.entity, "gpu 3 of h");
  EXPECT_THAT(fired.outcome.message, HasSubstr("heat for 20 %"));
  EXPECT_EQ(verdict("gpu-throttling", {{"max_share", 0.2000001}}), Verdict::Pass);
}

TEST_F(SystemRules, AMachineWithoutGpusIsSkipped) {
  gpus({});
  for (const char* name : {"low-gpu-utilization",
                           "load-balancing",
                           "cpu-bottleneck",
                           "io-bottleneck",
                           "batch-size",
                           "gpu-throttling"})
    EXPECT_EQ(verdict(name), Verdict::Skipped) << name;
}

TEST_F(SystemRules, WithoutSamplesItIsInsufficient) {
  step(rank(0), 0, {0, 100});
  sources("cuda");
  for (const char* name : {"low-gpu-utilization",
                           "load-balancing",
                           "cpu-bottleneck",
                           "io-bottleneck",
                           "batch-size",
                           "gpu-throttling",
                           "memory-leak",
                           "overall-system-usage"})
    EXPECT_EQ(verdict(name), Verdict::Insufficient) << name;
}

TEST_F(SystemRules, OverallUsageDescribesAndNeverFires) {
  gpus({0.5});
  processors(2.0);
  const auto results = judgeAll("overall-system-usage");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].outcome.verdict, Verdict::Pass);
  EXPECT_DOUBLE_EQ(std::get<double>(results[0].outcome.evidence.at("processors busy: mean")), 2);
  EXPECT_DOUBLE_EQ(std::get<double>(results[1].outcome.evidence.at("GPU busy: p95")), 0.5);
}

// A level at the end of each of `count` iterations of a second.
class MemoryGrowth : public test::RuleTrace {
 protected:
  void resident(const std::vector<double>& bytes) {
    const Rank one = rank(0);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const auto begin = static_cast<std::int64_t>(i) * kSecond;
      step(one, static_cast<std::int64_t>(i), {begin, begin + kSecond});
    }
    gauge(host_, {}, "resident memory", bytes, one.process);
  }
  static std::vector<double> level(int count, double start, double each, double saw = 0) {
    std::vector<double> bytes;
    for (int i = 0; i < count; ++i)
      bytes.push_back(start + each * i + saw * (i % 7));
    return bytes;
  }
};

TEST_F(MemoryGrowth, ASlowLeakFires) {
  resident(level(60, 500e6, 1e6, 20e6));  // 0.2 % an iteration, below a saw of 24 %
  const CheckResult fired = judge("memory-leak");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(fired.entity, "rank 0");
  EXPECT_NEAR(std::get<double>(fired.outcome.evidence.at("bytes_per_iteration")), 1e6, 2e5);
}

TEST_F(MemoryGrowth, ALeakIsFoundWithinThirtyIterations) {
  resident(level(31, 500e6, 2e6));
  EXPECT_EQ(verdict("memory-leak"), Verdict::Fired);
}

TEST_F(MemoryGrowth, ASawAndAPlateauAreHealthy) {
  resident(level(60, 500e6, 0, 20e6));
  EXPECT_EQ(verdict("memory-leak"), Verdict::Pass);
}

TEST_F(MemoryGrowth, GrowthThatEndsIsHealthy) {
  std::vector<double> bytes = level(60, 500e6, 0);
  for (int i = 0; i < 20; ++i)
    bytes[static_cast<std::size_t>(i)] = 300e6 + 10e6 * i;
  resident(bytes);
  EXPECT_EQ(verdict("memory-leak"), Verdict::Pass);
}

TEST_F(MemoryGrowth, TooFewIterationsAreInsufficient) {
  resident(level(20, 500e6, 5e6));
  const CheckResult result = judge("memory-leak");
  EXPECT_EQ(result.outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(result.outcome.message, HasSubstr("but 20 are needed"));
}

TEST_F(MemoryGrowth, DeviceBlocksThatAreNeverFreedFire) {
  const Rank one = rank(0);
  for (int i = 0; i < 40; ++i) {
    step(one, i, {1000 * i, 1000 * i + 1000});
    model::Allocation kept;
    kept.processId = one.process;
    kept.deviceId = one.device;
    kept.address = 4096 * (i + 1);
    kept.bytes = 1'000'000;
    kept.allocNs = 1000 * i + 10;
    trace_->add(kept);
    kept.bytes = 50'000'000;
    kept.freeNs = 1000 * i + 900;
    trace_->add(kept);
  }
  const CheckResult fired = judge("gpu-memory-increase");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_NEAR(std::get<double>(fired.outcome.evidence.at("last_bytes")), 38e6, 1e6);
}

TEST(Growth, ComparesTheLowsOfTenBlocks) {
  std::vector<double> rising;
  for (int i = 0; i < 100; ++i)
    rising.push_back(100 + i);
  EXPECT_DOUBLE_EQ(growthOf(rising).rising, 1);
  EXPECT_DOUBLE_EQ(growthOf(rising).first, 100);
  EXPECT_DOUBLE_EQ(growthOf(rising).last, 190);
  EXPECT_DOUBLE_EQ(growthOf(rising).share(), 0.9);
  EXPECT_DOUBLE_EQ(growthOf(std::vector<double>(10, 5)).rising, 0);
}

}  // namespace
}  // namespace sonde::rules
