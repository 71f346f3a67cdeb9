#include "tests/rules/rule_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kSecond = 1'000'000'000;

class TimingRules : public test::RuleTrace {
 protected:
  // Iterations with a noise of 2 %, `factor` times as long from `from` to `until`.
  void iterations(int count, int from, int until, double factor) {
    const Rank one = rank(0);
    std::mt19937 random(7);
    std::normal_distribution<double> noise(1, 0.02);
    std::int64_t ns = 0;
    for (int i = 0; i < count; ++i) {
      const auto length = static_cast<std::int64_t>(100'000 * noise(random) *
                                                    (i >= from && i < until ? factor : 1));
      step(one, i, {ns, ns + length});
      ns += length;
    }
  }
  // A process that began at 0 and ended at `endNs`, with iterations of a second.
  void run(std::int64_t firstNs, int count, std::int64_t endNs) {
    host_ = trace_->add(model::Host{.name = "h", .bootId = "boot-a"});
    Rank one;
    one.process = trace_->add(model::Process{.hostId = host_,
                                             .pid = 5,
                                             .rank = 0,
                                             .startNs = 0,
                                             .endNs = endNs,
                                             .state = model::ProcessState::Exited});
    one.thread = trace_->add(model::Thread{.processId = one.process, .tid = 5});
    for (int i = 0; i < count; ++i)
      step(one, i, {firstNs + i * kSecond, firstNs + (i + 1) * kSecond});
  }
};

TEST_F(TimingRules, AnIncreaseOfTheIterationTimeFires) {
  iterations(200, 100, 200, 1.3);
  const CheckResult fired = judge("iteration-time-change");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_NEAR(*fired.outcome.value, 0.3, 0.03);
  EXPECT_NEAR(
      static_cast<double>(std::get<std::int64_t>(fired.outcome.evidence.at("iteration"))), 100, 3);
  EXPECT_EQ(verdict("iteration-time-change", {{"max_increase", 0.4}}), Verdict::Pass);
}

TEST_F(TimingRules, AnIncreaseThatIsOverIsNoneNow) {
  iterations(300, 100, 200, 1.3);
  EXPECT_EQ(verdict("iteration-time-change"), Verdict::Pass);
}

TEST_F(TimingRules, SteadyAndFasterIterationsAreHealthy) {
  iterations(200, 0, 100, 1.3);
  EXPECT_EQ(verdict("iteration-time-change"), Verdict::Pass);
}

TEST_F(TimingRules, FewIterationsAreInsufficient) {
  iterations(10, 5, 10, 2);
  const CheckResult result = judge("iteration-time-change");
  EXPECT_EQ(result.outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(result.outcome.message, HasSubstr("too few"));
}

TEST_F(TimingRules, InitializationCountsFromTheProcess) {
  run(90 * kSecond, 3, 100 * kSecond);
  const CheckResult fired = judge("max-initialization-time", {{"max_s", 89.0}});
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 90);
  EXPECT_EQ(verdict("max-initialization-time", {{"max_s", 90.0}}), Verdict::Pass);
}

TEST_F(TimingRules, AJobThatNeverBeginsAnIterationFiresWhenItIsLate) {
  run(0, 0, 100 * kSecond);
  EXPECT_EQ(verdict("max-initialization-time", {{"max_s", 99.0}}), Verdict::Fired);
  EXPECT_EQ(verdict("max-initialization-time", {{"max_s", 100.0}}), Verdict::Insufficient);
}

TEST_F(TimingRules, AStallCountsFromTheLastIteration) {
  run(0, 10, 40 * kSecond);
  const CheckResult fired = judge("stalled-training", {{"threshold_s", 29.0}});
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 30);
  EXPECT_EQ(verdict("stalled-training", {{"threshold_s", 30.0}}), Verdict::Pass);
}

TEST_F(TimingRules, WithoutIterationsAStallIsInsufficient) {
  run(0, 0, 40 * kSecond);
  EXPECT_EQ(verdict("stalled-training"), Verdict::Insufficient);
}

class LoadingRules : public test::RuleTrace {
 protected:
  // The load of the iteration `slowest` takes twice as long.
  void run(std::int64_t loadUs, int count = 10, int slowest = -1) {
    const Rank one = rank(0);
    for (int i = 0; i < count; ++i) {
      const std::int64_t at = 1000 * kMicrosecond * i;
      step(one, i, {at, at + 1000 * kMicrosecond});
      const std::int64_t us = i == slowest ? 2 * loadUs : loadUs;
      trace_->slice(
          one.thread, model::SliceKind::DataLoad, "data_load", {at, at + us * kMicrosecond});
    }
  }
};

TEST_F(LoadingRules, WaitingForDataFires) {
  run(300);
  const CheckResult fired = judge("data-loader");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0.3);
  EXPECT_THAT(fired.outcome.hint, HasSubstr("num_workers"));  // it has none
  EXPECT_EQ(verdict("data-loader", {{"max_share", 0.3}}), Verdict::Pass);
}

TEST_F(LoadingRules, SaysThatNoProcessorIsFreeForWorkers) {
  host_ = trace_->add(model::Host{.name = "h", .bootId = "boot-a", .cpuCount = 2});
  const auto busy = trace_->add(model::Counter{.hostId = host_,
                                               .nameId = trace_->name("cpu busy"),
                                               .unit = "ns",
                                               .kind = model::CounterKind::Total});
  for (std::int64_t ns = 0; ns <= 10'000 * kMicrosecond; ns += 500 * kMicrosecond)
    trace_->add(model::Sample{busy, ns, 1.9 * static_cast<double>(ns)});
  run(300);
  const Outcome outcome = judge("data-loader").outcome;
  EXPECT_THAT(outcome.hint, HasSubstr("no processor is free"));
  EXPECT_DOUBLE_EQ(std::get<double>(outcome.evidence.at("processors_busy")), 1.9);
}

TEST_F(LoadingRules, LeadsToTheIterationThatWaitedLongest) {
  run(300, 10, 7);
  const auto time = judge("data-loader").outcome.time;
  ASSERT_TRUE(time);
  EXPECT_EQ(time->fromNs, 7000 * kMicrosecond);
  EXPECT_EQ(time->toNs, 8000 * kMicrosecond);
}

TEST_F(LoadingRules, FewIterationsAreInsufficient) {
  run(300, 4);
  EXPECT_EQ(verdict("data-loader"), Verdict::Insufficient);
}

TEST_F(LoadingRules, WithoutRecordsOfLoadingItIsInsufficient) {
  step(rank(0), 0, {0, 100});
  EXPECT_TRUE(judge("data-loader").outcome.inputMissing);
}

TEST_F(LoadingRules, TheFrameworksPartsAreDescribed) {
  run(300);
  const CheckResult result = judge("overall-framework-metrics");
  EXPECT_EQ(result.outcome.verdict, Verdict::Pass);
  EXPECT_DOUBLE_EQ(std::get<double>(result.outcome.evidence.at("data loading")), 0.3);
  EXPECT_EQ(result.outcome.message,
            "the median iteration takes 1 ms: other 70 %, data loading 30 %");
}

TEST_F(LoadingRules, WithoutIterationsThereAreNoParts) {
  rank(0);
  EXPECT_EQ(verdict("overall-framework-metrics"), Verdict::Insufficient);
}

class RecordingRules : public test::RuleTrace {};

TEST_F(RecordingRules, LostRecordsCountAsAShare) {
  const Rank one = rank(0);
  for (int i = 0; i < 98; ++i)
    step(one, i, {100 * i, 100 * i + 100});
  trace_->add(model::Loss{"cuda", "kernel", 2, "spool full", one.process});
  const CheckResult fired = judge("dropped-data");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0.02);
  EXPECT_THAT(fired.outcome.message, HasSubstr("cuda kernel (spool full): 2"));
  EXPECT_EQ(verdict("dropped-data", {{"max_share", 0.02}}), Verdict::Pass);
}

TEST_F(RecordingRules, TheRecordersShareOfAProcessor) {
  step(rank(0), 0, {0, 100});
  trace_->meta("recorder_beside_ppm", "250000");
  EXPECT_EQ(verdict("recorder-cost"), Verdict::Fired);
  EXPECT_EQ(verdict("recorder-cost", {{"max_processors", 0.25}}), Verdict::Pass);
}

TEST_F(RecordingRules, WithoutTheShareItIsInsufficient) {
  step(rank(0), 0, {0, 100});
  EXPECT_EQ(verdict("recorder-cost"), Verdict::Insufficient);
}

}  // namespace
}  // namespace sonde::rules
