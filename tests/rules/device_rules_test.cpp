#include "tests/rules/rule_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

// Iterations of 1000 ns. A rank's kernels and copies are on stream 7.
class DeviceRules : public test::RuleTrace {
 protected:
  // A kernel of each iteration, launched by a call of `callNs` that ends when it begins.
  void steps(const Rank& rank, int count, std::int64_t kernelNs, std::int64_t callNs = 10) {
    const auto stream = this->stream(rank, 7);
    for (int i = 0; i < count; ++i) {
      const std::int64_t begin = 1000 * i;
      step(rank, i, {begin, begin + 1000});
      const auto launch = call(rank, "cudaLaunchKernel", {begin + 100, begin + 100 + callNs});
      kernel(stream, "gemm", {begin + 100 + callNs, begin + 100 + callNs + kernelNs}, launch);
    }
    stream_ = stream;
  }
  model::StreamId stream_;
};

TEST_F(DeviceRules, GapsAreTheMedianIdleShareOfAnIteration) {
  steps(rank(0), 6, 600);
  const CheckResult fired = judge("gpu-gaps", {{"max_share", 0.39}});
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(fired.entity, "rank 0");
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0.4);
  EXPECT_EQ(fired.outcome.window, "iterations 0-5");
  EXPECT_THAT(fired.outcome.message, HasSubstr("idle for 40 % of an iteration"));
  EXPECT_EQ(std::get<std::string>(fired.outcome.evidence.at("cause")), "host");
  EXPECT_EQ(verdict("gpu-gaps", {{"max_share", 0.4}}), Verdict::Pass);  // equal is healthy
}

TEST_F(DeviceRules, AJobWithoutDevicesIsSkippedIfTheyWouldHaveBeenRecorded) {
  const Rank host = rank(0);
  step(host, 0, {0, 100});
  sources("annotation,cuda");
  for (const char* name : {"gpu-gaps",
                           "launch-bound",
                           "host-synchronisations",
                           "one-block-kernels",
                           "pageable-copies",
                           "synchronous-copies"})
    EXPECT_EQ(verdict(name), Verdict::Skipped) << name;
}

TEST_F(DeviceRules, AJobWhoseDevicesWereNotRecordedIsInsufficient) {
  step(rank(0), 0, {0, 100});
  sources("annotation,torch");
  for (const char* name : {"gpu-gaps",
                           "launch-bound",
                           "host-synchronisations",
                           "one-block-kernels",
                           "pageable-copies",
                           "synchronous-copies"}) {
    const CheckResult result = judge(name);
    EXPECT_EQ(result.outcome.verdict, Verdict::Insufficient) << name;
    EXPECT_THAT(result.outcome.message, HasSubstr("--sources +cuda"));
  }
}

TEST_F(DeviceRules, LaunchBoundNeedsShortKernelsAndAWaitingStream) {
  steps(rank(0), 10, 40, 50);  // 40 of 1000 ns busy, each shorter than its launch
  EXPECT_EQ(verdict("launch-bound"), Verdict::Insufficient);  // ten are too few
  const test::Settings enough = {{"min_samples", std::int64_t{10}}};
  const CheckResult fired = judge("launch-bound", enough);
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 1);
  EXPECT_EQ(verdict("launch-bound", {{"min_samples", std::int64_t{10}}, {"max_share", 1.0}}),
            Verdict::Pass);
  EXPECT_EQ(verdict("launch-bound", {{"min_samples", std::int64_t{10}}, {"min_idle", 0.99}}),
            Verdict::Pass);
}

TEST_F(DeviceRules, LaunchBoundIsSilentOnLongKernels) {
  steps(rank(0), 10, 700, 50);
  EXPECT_EQ(verdict("launch-bound", {{"min_samples", std::int64_t{10}}}), Verdict::Pass);
}

TEST_F(DeviceRules, HostSynchronisationsCountsCallsAnIteration) {
  const Rank one = rank(0);
  steps(one, 4, 300);
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k)
      call(one, "cudaStreamSynchronize", {1000 * i + 500 + 50 * k, 1000 * i + 520 + 50 * k});
  const CheckResult fired = judge("host-synchronisations");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 3);
  EXPECT_THAT(fired.outcome.message, HasSubstr("cudaStreamSynchronize"));
  EXPECT_EQ(verdict("host-synchronisations", {{"max_per_iteration", 3.0}}), Verdict::Pass);
  EXPECT_EQ(verdict("host-synchronisations", {{"min_share", 0.07}}), Verdict::Pass);  // 6 %
}

TEST_F(DeviceRules, SynchronousCopiesCountByTheirTime) {
  const Rank one = rank(0);
  steps(one, 4, 300);
  for (int i = 0; i < 4; ++i) {
    call(one, "cudaMemcpy", {1000 * i + 600, 1000 * i + 650});
    call(one, "cudaMemcpyAsync", {1000 * i + 700, 1000 * i + 900});
  }
  const CheckResult fired = judge("synchronous-copies");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_NEAR(*fired.outcome.value, 0.05, 1e-12);
  EXPECT_EQ(fired.outcome.samples, 4);
  EXPECT_EQ(verdict("synchronous-copies", {{"max_share", 0.05}}), Verdict::Pass);
}

TEST_F(DeviceRules, PageableCopiesCountByTheirTime) {
  const Rank one = rank(0);
  steps(one, 4, 300);
  for (int i = 0; i < 4; ++i) {
    model::Copy row;
    row.work = work(stream_, "Memcpy HtoD", {1000 * i + 500, 1000 * i + 600}, {});
    row.work.bytes = 1'000'000;
    row.kind = model::CopyKind::HostToDevice;
    row.pinned = i % 2 == 0;
    trace_->add(row);
  }
  const CheckResult fired = judge("pageable-copies");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 200.0 / 4000);
  EXPECT_EQ(std::get<std::int64_t>(fired.outcome.evidence.at("bytes")), 2'000'000);
  EXPECT_EQ(verdict("pageable-copies", {{"max_share", 0.05}}), Verdict::Pass);
}

TEST_F(DeviceRules, PageableCopiesOfUnknownMemoryAreInsufficient) {
  const Rank one = rank(0);
  steps(one, 4, 300);
  model::Copy row;
  row.work = work(stream_, "Memcpy HtoD", {500, 600}, {});
  row.kind = model::CopyKind::HostToDevice;
  trace_->add(row);
  EXPECT_EQ(verdict("pageable-copies"), Verdict::Insufficient);
}

TEST_F(DeviceRules, OneBlockKernelsCountByTheirTime) {
  const Rank one = rank(0);
  const auto stream = this->stream(one, 7);
  step(one, 0, {0, 1000});
  for (const std::int64_t blocks : {1, 64}) {
    model::Kernel row;
    row.work = work(stream, "k", {blocks, blocks + (blocks == 1 ? 20 : 180)}, {});
    row.grid = {blocks, 1, 1};
    trace_->add(row);
  }
  model::Kernel reduce;  // has few blocks on purpose
  reduce.work = work(stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", {500, 900}, {});
  reduce.grid = {1, 1, 1};
  trace_->add(reduce);
  const CheckResult fired = judge("one-block-kernels");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0.1);
  EXPECT_EQ(fired.entity, "rank 0");
  EXPECT_EQ(verdict("one-block-kernels", {{"max_share", 0.1}}), Verdict::Pass);
}

TEST_F(DeviceRules, KernelsWithoutAGridAreInsufficient) {
  steps(rank(0), 2, 300);
  EXPECT_EQ(verdict("one-block-kernels"), Verdict::Insufficient);
}

}  // namespace
}  // namespace sonde::rules
