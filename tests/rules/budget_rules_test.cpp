// Rules about what an iteration may use, and about memory that lies idle.
#include "tests/rules/rule_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class BudgetRules : public test::RuleTrace {
 protected:
  // Iterations of a second.
  void iterate(int count) {
    one_ = rank(0);
    for (int i = 0; i < count; ++i)
      step(one_, i, {kSecondNs * i, kSecondNs * i + kSecondNs});
  }
  void transfer(model::ChannelId channel, std::int64_t ns, std::int64_t bytes) {
    trace_->add(model::Transfer{.channelId = channel,
                                .threadId = one_.thread,
                                .direction = model::Direction::Send,
                                .bytes = bytes,
                                .startNs = ns,
                                .durNs = 10});
  }
  static constexpr std::int64_t kSecondNs = 1'000'000'000;
  Rank one_;
};

TEST_F(BudgetRules, BytesOnNetworksCountByTheMedianIteration) {
  iterate(5);
  const auto channel = trace_->add(model::Channel{
      .processId = one_.process, .kind = model::ChannelKind::Tcp, .local = "a", .remote = "b"});
  const auto pipe = trace_->add(model::Channel{
      .processId = one_.process, .kind = model::ChannelKind::Pipe, .local = "c", .remote = "d"});
  for (int i = 0; i < 5; ++i) {
    transfer(channel, kSecondNs * i + 100, i == 4 ? 9'000 : 600);
    transfer(channel, kSecondNs * i + 200, 400);
    transfer(pipe, kSecondNs * i + 300, 5'000);
  }
  const CheckResult fired = judge("bytes-over-budget", {{"max_network_bytes", std::int64_t{999}}});
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(fired.entity, "rank 0, network");
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 1000);
  EXPECT_EQ(std::get<std::int64_t>(fired.outcome.evidence.at("largest_bytes")), 9'400);
  EXPECT_EQ(verdict("bytes-over-budget", {{"max_network_bytes", std::int64_t{1000}}}),
            Verdict::Pass);
  EXPECT_EQ(verdict("bytes-over-budget",
                    {{"max_network_bytes", std::int64_t{1000}}, {"min_samples", std::int64_t{6}}}),
            Verdict::Insufficient);
}

TEST_F(BudgetRules, CopiesHaveABudgetOfTheirOwn) {
  iterate(3);
  const auto stream = this->stream(one_, 7);
  for (int i = 0; i < 3; ++i) {
    copy(stream, "Memcpy HtoD", {kSecondNs * i + 10, kSecondNs * i + 20}, 700);
    copy(stream,
         "Memset",
         {kSecondNs * i + 30, kSecondNs * i + 40},
         5'000,
         {},
         model::CopyKind::Set);
  }
  const auto both =
      judgeAll("bytes-over-budget",
               {{"max_network_bytes", std::int64_t{1}}, {"max_copied_bytes", std::int64_t{699}}});
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(both[0].entity, "rank 0, network");
  EXPECT_EQ(both[0].outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(both[0].outcome.message, HasSubstr("--sources +net"));
  EXPECT_EQ(both[1].entity, "rank 0, copies");
  EXPECT_EQ(both[1].outcome.verdict, Verdict::Fired);
  EXPECT_EQ(verdict("bytes-over-budget", {{"max_copied_bytes", std::int64_t{700}}}), Verdict::Pass);
}

TEST_F(BudgetRules, CollectivesStandForMissingTransfers) {
  iterate(3);
  for (int i = 0; i < 3; ++i)
    trace_->add(model::Collective{.processId = one_.process,
                                  .op = model::CollectiveOp::Allreduce,
                                  .bytes = 800,
                                  .startNs = kSecondNs * i + 5,
                                  .durNs = 10});
  const CheckResult fired = judge("bytes-over-budget", {{"max_network_bytes", std::int64_t{799}}});
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_THAT(fired.outcome.message, HasSubstr("in collectives"));
}

TEST_F(BudgetRules, WithoutABudgetNothingIsJudged) {
  iterate(3);
  EXPECT_EQ(verdict("bytes-over-budget"), Verdict::Insufficient);
  EXPECT_THAT(judge("bytes-over-budget").outcome.message, HasSubstr("no budget is set"));
  EXPECT_EQ(verdict("energy-over-budget"), Verdict::Insufficient);
  EXPECT_THAT(judge("energy-over-budget").outcome.message, HasSubstr("no budget is set"));
}

TEST_F(BudgetRules, EnergyOfADeviceIsJudgedByIteration) {
  iterate(4);
  const auto meter = trace_->add(model::Counter{.hostId = host_,
                                                .deviceId = one_.device,
                                                .nameId = trace_->name("GPU energy"),
                                                .unit = "J",
                                                .kind = model::CounterKind::Total});
  kernel(stream(one_, 7), "gemm", {0, 4 * kSecondNs});
  for (int second = 0; second <= 4; ++second)
    trace_->add(model::Sample{meter, second * kSecondNs, 300.0 * second});
  const CheckResult fired = judge("energy-over-budget", {{"max_device_joules", 299.0}});
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(fired.entity, "gpu 0, GPU energy");
  EXPECT_NEAR(*fired.outcome.value, 300, 1e-9);
  EXPECT_EQ(verdict("energy-over-budget", {{"max_device_joules", 300.0}}), Verdict::Pass);
  const CheckResult host = judge("energy-over-budget", {{"max_host_joules", 1.0}});
  EXPECT_EQ(host.outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(host.outcome.message, HasSubstr("--sources +system"));
}

class Fragmentation : public test::RuleTrace {
 protected:
  void snapshot(double reserved, double inUse, std::optional<double> largest) {
    const Rank one = rank(0);
    const auto add = [&](const char* name, double bytes) {
      const auto counter = trace_->add(model::Counter{.hostId = host_,
                                                      .processId = one.process,
                                                      .deviceId = one.device,
                                                      .nameId = trace_->name(name),
                                                      .unit = "bytes"});
      trace_->add(model::Sample{counter, 50, bytes});
    };
    add("allocator reserved", reserved);
    add("allocator in use", inUse);
    if (largest)
      add("allocator largest free block", *largest);
  }
};

TEST_F(Fragmentation, FreeMemoryInPiecesFires) {
  snapshot(1e9, 6e8, 1e8);
  const CheckResult fired = judge("memory-fragmentation");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(fired.entity, "rank 0");
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0.4);
  EXPECT_THAT(fired.outcome.message, HasSubstr("the largest free block has 100.0 MB"));
  EXPECT_EQ(verdict("memory-fragmentation", {{"max_share", 0.4}}), Verdict::Pass);
  EXPECT_EQ(verdict("memory-fragmentation", {{"min_largest", 0.25}}), Verdict::Pass);
  EXPECT_EQ(verdict("memory-fragmentation", {{"min_bytes", std::int64_t{400'000'000}}}),
            Verdict::Fired);
  EXPECT_EQ(verdict("memory-fragmentation", {{"min_bytes", std::int64_t{400'000'001}}}),
            Verdict::Pass);
}

TEST_F(Fragmentation, FreeMemoryInOnePiecePasses) {
  snapshot(1e9, 6e8, 2e8);
  EXPECT_EQ(verdict("memory-fragmentation"), Verdict::Pass);
}

// The mark with the most memory in use counts, not a later one after much was freed.
TEST_F(Fragmentation, MarksOfTorchProfilerCountAtTheirPeak) {
  const Rank one = rank(0);
  const auto mark = [&](std::int64_t ns, double inUse) {
    const auto id = trace_->slice(one.thread, model::SliceKind::Mark, "[memory]", {ns, ns});
    trace_->add(model::Arg{
        model::Owner::Slice,
        id.value,
        trace_->name("args"),
        fmt::format(R"({{"Total Allocated": {}, "Total Reserved": 1000000000, "Bytes": 1, "Addr":)"
                    R"( 1, "Device Id": 0, "Device Type": 1}})",
                    static_cast<std::int64_t>(inUse))});
  };
  mark(10, 5e8);
  mark(20, 6.5e8);
  mark(30, 1e8);
  const CheckResult fired = judge("memory-fragmentation");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0.35);
  EXPECT_EQ(fired.outcome.time->fromNs, 20);
  EXPECT_EQ(verdict("memory-fragmentation", {{"max_share", 0.35}}), Verdict::Pass);
}

TEST_F(Fragmentation, WithoutReservedMemoryItIsInsufficient) {
  step(rank(0), 0, {0, 100});
  sources("annotation,cuda");
  const CheckResult result = judge("memory-fragmentation");
  EXPECT_EQ(result.outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(result.outcome.message, HasSubstr("_dump_snapshot()"));
}

}  // namespace
}  // namespace sonde::rules
