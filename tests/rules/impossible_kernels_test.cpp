#include "tests/rules/rule_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMicro = 1'000;

// A rank on an A100 whose kernels of 10 µs follow each other.
class ImpossibleKernels : public test::RuleTrace {
 protected:
  void SetUp() override {
    host_ = trace_->add(model::Host{.name = "h", .bootId = "boot-a"});
    one_.process = trace_->add(model::Process{.hostId = host_, .pid = 100, .rank = 0});
    one_.thread = trace_->add(model::Thread{.processId = one_.process, .tid = 100});
    one_.device = trace_->add(model::Device{
        .hostId = host_, .kind = "gpu", .ordinal = 0, .name = "NVIDIA A100-SXM4-80GB"});
    stream_ = stream(one_, 7);
    for (int i = 0; i < 9; ++i)
      kernel(stream_, "add", {20 * kMicro * i, 20 * kMicro * i + 10 * kMicro});
  }
  std::int64_t count(const CheckResult& result, const char* key) {
    return std::get<std::int64_t>(result.outcome.evidence.at(key));
  }
  // A product of two square matrices whose kernel takes `ns`, from 1 ms on.
  void product(std::int64_t extent, std::int64_t ns) {
    const auto op = trace_->slice(
        one_.thread, model::SliceKind::Operator, "aten::mm", {900 * kMicro, 950 * kMicro});
    const std::string shapes = "[[" + std::to_string(extent) + ", " + std::to_string(extent) +
                               "], [" + std::to_string(extent) + ", " + std::to_string(extent) +
                               "]]";
    trace_->add(model::Arg{model::Owner::Slice, op.value, trace_->name("shapes"), shapes});
    trace_->add(model::Arg{
        model::Owner::Slice, op.value, trace_->name("dtypes"), "[c10::Half, c10::Half]"});
    kernel(stream_, "gemm", {1000 * kMicro, 1000 * kMicro + ns}, {}, op);
  }
  Rank one_;
  model::StreamId stream_;
};

TEST_F(ImpossibleKernels, HealthyTimesPass) {
  kernel(stream_, "last", {190 * kMicro, 200 * kMicro});
  const CheckResult healthy = judge("impossible-kernels");
  EXPECT_EQ(healthy.outcome.verdict, Verdict::Pass);
  EXPECT_EQ(healthy.entity, "rank 0");
  EXPECT_EQ(healthy.outcome.samples, 10);
  EXPECT_EQ(count(healthy, "compared_with_peak"), 0);
}

TEST_F(ImpossibleKernels, AKernelWithoutTimeFires) {
  kernel(stream_, "nothing", {195 * kMicro, 195 * kMicro});
  const CheckResult fired = judge("impossible-kernels");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0.1);
  EXPECT_THAT(fired.outcome.message, HasSubstr("1 without time; the first is nothing"));
  EXPECT_EQ(verdict("impossible-kernels", {{"max_share", 0.1}}), Verdict::Pass);
}

TEST_F(ImpossibleKernels, OverlapOnAStreamFires) {
  kernel(stream_, "early", {168 * kMicro, 178 * kMicro});  // the last one ends at 170
  const CheckResult fired = judge("impossible-kernels");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(count(fired, "overlapping_the_next"), 1);
  EXPECT_EQ(verdict("impossible-kernels", {{"max_overlap_ns", 2 * kMicro}}), Verdict::Pass);
}

// Programmatic dependent launch.
TEST_F(ImpossibleKernels, KernelsOfNewerDevicesMayOverlap) {
  Rank two = one_;
  two.device = trace_->add(
      model::Device{.hostId = host_, .kind = "gpu", .ordinal = 1, .name = "NVIDIA H100 80GB HBM3"});
  const auto other = stream(two, 9);
  kernel(other, "one", {0, 100 * kMicro});
  kernel(other, "two", {50 * kMicro, 150 * kMicro});
  EXPECT_EQ(verdict("impossible-kernels"), Verdict::Pass);
}

TEST_F(ImpossibleKernels, KernelsOfOtherStreamsAndOfGraphsMayOverlap) {
  kernel(stream(one_, 8), "beside", {0, 200 * kMicro});
  for (const std::int64_t begin : {300, 305}) {
    model::Kernel row;
    row.work = work(stream_, "node", {begin * kMicro, (begin + 10) * kMicro}, {});
    row.work.graphId = 3;
    trace_->add(row);
  }
  EXPECT_EQ(verdict("impossible-kernels"), Verdict::Pass);
}

TEST_F(ImpossibleKernels, AKernelThatEndsAfterTheWaitForItFires) {
  const auto launch = call(one_, "cudaLaunchKernel", {400 * kMicro, 402 * kMicro});
  kernel(stream_, "late", {410 * kMicro, 500 * kMicro}, launch);
  trace_->add(model::Sync{.processId = one_.process,
                          .streamId = stream_,
                          .kind = model::SyncKind::Stream,
                          .startNs = 405 * kMicro,
                          .durNs = 55 * kMicro});
  const CheckResult fired = judge("impossible-kernels");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(count(fired, "ending_after_a_wait_for_them"), 1);
  EXPECT_EQ(count(fired, "waited_for"), 1);
  EXPECT_EQ(verdict("impossible-kernels", {{"max_late_ns", 40 * kMicro}}), Verdict::Pass);
}

TEST_F(ImpossibleKernels, WhatWasLaunchedBehindAWaitMayEndLater) {
  const auto launch = call(one_, "cudaLaunchKernel", {450 * kMicro, 452 * kMicro});
  kernel(stream_, "later", {455 * kMicro, 500 * kMicro}, launch);
  trace_->add(model::Sync{.processId = one_.process,
                          .streamId = stream_,
                          .kind = model::SyncKind::Stream,
                          .startNs = 405 * kMicro,
                          .durNs = 55 * kMicro});
  EXPECT_EQ(verdict("impossible-kernels"), Verdict::Pass);
}

// 2 · 4096³ operations take 441 µs at the peak of an A100.
TEST_F(ImpossibleKernels, ArithmeticAboveThePeakFires) {
  product(4096, 180 * kMicro);
  const CheckResult fired = judge("impossible-kernels");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(count(fired, "above_the_peak"), 1);
  EXPECT_EQ(count(fired, "compared_with_peak"), 1);
  EXPECT_EQ(verdict("impossible-kernels", {{"max_of_peak", 2.5}}), Verdict::Pass);
}

TEST_F(ImpossibleKernels, ArithmeticBelowThePeakPasses) {
  product(4096, 600 * kMicro);
  const CheckResult healthy = judge("impossible-kernels");
  EXPECT_EQ(healthy.outcome.verdict, Verdict::Pass);
  EXPECT_EQ(count(healthy, "compared_with_peak"), 1);
}

class WithoutKernels : public test::RuleTrace {};

TEST_F(WithoutKernels, ImpossibleKernelsNeedsAProbe) {
  step(rank(0), 0, {0, 100});
  sources("annotation,torch");
  const CheckResult result = judge("impossible-kernels");
  EXPECT_EQ(result.outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(result.outcome.message, HasSubstr("--sources +cuda"));
}

TEST_F(WithoutKernels, ImpossibleKernelsSkipsAJobWithoutDevices) {
  step(rank(0), 0, {0, 100});
  sources("annotation,cuda");
  EXPECT_EQ(verdict("impossible-kernels"), Verdict::Skipped);
}

}  // namespace
}  // namespace sonde::rules
