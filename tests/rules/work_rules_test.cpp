// Rules about copies, kernels and jobs that share them.
#include "tests/rules/rule_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kBatch = 1'000'000;

class WorkRules : public test::RuleTrace {
 protected:
  // Iterations of 1000 ns in each of which a kernel runs.
  void iterate(const Rank& rank, int count) {
    stream_ = stream(rank, 7);
    for (int i = 0; i < count; ++i) {
      step(rank, i, {1000 * i, 1000 * i + 1000});
      kernel(stream_, "gemm", {1000 * i + 100, 1000 * i + 200});
    }
  }
  void toHost(std::int64_t beginNs, std::int64_t bytes) {
    copy(stream_, "Memcpy DtoH", {beginNs, beginNs + 25}, bytes, {}, model::CopyKind::DeviceToHost);
  }
  void toDevice(std::int64_t beginNs, std::int64_t bytes, model::SliceId scope = {}) {
    model::Copy row;
    row.work = work(stream_, "Memcpy HtoD", {beginNs, beginNs + 25}, {});
    row.work.bytes = bytes;
    row.work.scopeId = scope;
    row.kind = model::CopyKind::HostToDevice;
    trace_->add(row);
  }
  model::StreamId stream_;
};

TEST_F(WorkRules, DataThatComesBackIsARedundantCopy) {
  const Rank one = rank(0);
  iterate(one, 4);
  const auto scope = trace_->slice(one.thread, model::SliceKind::Operator, "aten::to", {300, 500});
  for (int i = 0; i < 4; ++i) {
    toHost(1000 * i + 300, kBatch);
    toDevice(1000 * i + 400, kBatch, scope);
  }
  const CheckResult fired = judge("redundant-copies");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_EQ(fired.entity, "rank 0");
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0.05);  // 50 of 1000 ns
  EXPECT_EQ(std::get<std::int64_t>(fired.outcome.evidence.at("round_trips")), 4);
  EXPECT_EQ(std::get<std::int64_t>(fired.outcome.evidence.at("bytes")), 4 * kBatch);
  EXPECT_THAT(fired.outcome.message, HasSubstr("the largest in aten::to"));
  EXPECT_EQ(verdict("redundant-copies", {{"max_share", 0.05}}), Verdict::Pass);
  EXPECT_EQ(verdict("redundant-copies", {{"min_bytes", kBatch}}), Verdict::Fired);
  EXPECT_EQ(verdict("redundant-copies", {{"min_bytes", kBatch + 1}}), Verdict::Pass);
}

// A batch goes to the device, its results to the host; the next iteration has as many.
TEST_F(WorkRules, CopiesOneWayAreNotRedundant) {
  iterate(rank(0), 4);
  for (int i = 0; i < 4; ++i) {
    toDevice(1000 * i + 10, kBatch);
    toHost(1000 * i + 900, kBatch);
    toHost(1000 * i + 950, kBatch / 2);
  }
  const CheckResult healthy = judge("redundant-copies");
  EXPECT_EQ(healthy.outcome.verdict, Verdict::Pass);
  EXPECT_EQ(*healthy.outcome.value, 0);
}

TEST_F(WorkRules, CopiesWithoutSizesAreInsufficient) {
  iterate(rank(0), 2);
  model::Copy row;
  row.work = work(stream_, "Memcpy HtoD", {500, 600}, {});
  row.kind = model::CopyKind::HostToDevice;
  trace_->add(row);
  EXPECT_THAT(judge("redundant-copies").outcome.message, HasSubstr("does not have the sizes"));
  EXPECT_EQ(verdict("redundant-copies"), Verdict::Insufficient);
}

TEST_F(WorkRules, CopiesWithoutIterationsAreInsufficient) {
  stream_ = stream(rank(0), 7);
  kernel(stream_, "gemm", {0, 10});
  toHost(20, kBatch);
  toDevice(60, kBatch);
  EXPECT_THAT(judge("redundant-copies").outcome.message, HasSubstr("no iteration was recorded"));
  EXPECT_EQ(verdict("redundant-copies"), Verdict::Insufficient);
}

class FusableJobs : public test::RuleTrace {
 protected:
  // A process that trains alone, with a kernel of each given name and `blocks` in an iteration.
  void job(const std::vector<std::string>& kernels, std::int64_t blocks, std::int64_t kernelNs) {
    if (!host_)
      host_ = trace_->add(model::Host{.name = "h", .bootId = "boot-a"});
    Rank one;
    one.process = trace_->add(model::Process{.hostId = host_, .pid = 100 + jobs_});
    one.thread = trace_->add(model::Thread{.processId = one.process, .tid = 100 + jobs_});
    one.device = trace_->add(model::Device{
        .hostId = host_, .kind = "gpu", .ordinal = jobs_++, .name = "NVIDIA H100 80GB HBM3"});
    last_ = one;
    const auto stream = this->stream(one, 7);
    for (int i = 0; i < 4; ++i) {
      step(one, i, {1000 * i, 1000 * i + 1000});
      std::int64_t at = 1000 * i;
      for (const std::string& name : kernels) {
        model::Kernel row;
        row.work = work(stream, name, {at, at + kernelNs}, {});
        if (blocks > 0) {
          row.grid = {blocks, 1, 1};
          row.block = {256, 1, 1};
        }
        trace_->add(row);
        at += kernelNs;
      }
    }
  }
  std::int64_t jobs_ = 0;
  Rank last_;
};

TEST_F(FusableJobs, TwinsThatLeaveTheirDevicesIdleFire) {
  job({"a", "b"}, 66, 250);
  job({"a", "b"}, 66, 200);
  job({"c"}, 66, 200);
  const CheckResult fired = judge("fusable-jobs");
  EXPECT_EQ(fired.outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*fired.outcome.value, 0.25);  // half of the time, 66 of 132 multiprocessors
  EXPECT_EQ(std::get<std::vector<std::string>>(fired.outcome.evidence.at("jobs")),
            (std::vector<std::string>{"process 100", "process 101"}));
  EXPECT_EQ(fired.outcome.next.front(), "sonde whatif TRACE --ask fused-jobs,jobs=2");
  EXPECT_EQ(verdict("fusable-jobs", {{"max_used", 0.25}}), Verdict::Pass);
}

TEST_F(FusableJobs, BusyTwinsPass) {
  job({"a"}, 200, 900);
  job({"a"}, 200, 300);
  EXPECT_EQ(verdict("fusable-jobs"), Verdict::Pass);
}

TEST_F(FusableJobs, OtherModelsPass) {
  job({"a", "b"}, 66, 100);
  job({"a", "c"}, 66, 100);
  job({"a", "b"}, 99, 100);
  const CheckResult healthy = judge("fusable-jobs");
  EXPECT_EQ(healthy.outcome.verdict, Verdict::Pass);
  EXPECT_THAT(healthy.outcome.message, HasSubstr("other models"));
}

TEST_F(FusableJobs, RanksOfOneJobAreSkipped) {
  for (int i = 0; i < 2; ++i) {
    job({"a"}, 66, 100);
    trace_->add(model::Communicator{
        .processId = last_.process, .jobKey = "world", .size = 2, .position = i});
  }
  EXPECT_EQ(verdict("fusable-jobs"), Verdict::Skipped);
}

TEST_F(FusableJobs, KernelsWithoutShapesAreInsufficient) {
  job({"a"}, 0, 100);
  job({"a"}, 0, 100);
  EXPECT_EQ(verdict("fusable-jobs"), Verdict::Insufficient);
}

TEST_F(FusableJobs, OneProcessIsSkipped) {
  job({"a"}, 66, 100);
  EXPECT_EQ(verdict("fusable-jobs"), Verdict::Skipped);
}

}  // namespace
}  // namespace sonde::rules
