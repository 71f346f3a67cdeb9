#include "analysis/engine/diff/iteration_times.h"

#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::diff {
namespace {

using model::SliceKind;
using test::must;
using Nanoseconds = std::vector<double>;
using Names = std::vector<IterationName>;

constexpr Dimensions kAll{true, true, true, true, true, false};

// A process whose iterations last 1000 ns each, from 1000 · number on.
class Job {
 public:
  explicit Job(const std::string& path) : path_(path), trace_(path) {
    process_ = trace_.add(
        model::Process{.hostId = trace_.add(model::Host{.name = "h"}), .pid = 10, .rank = 3});
    main_ = thread(11);
    stream_ = trace_.add(model::Stream{.processId = process_, .number = 7});
  }

  test::TraceBuilder& trace() { return trace_; }
  model::ThreadId main() const { return main_; }
  model::ThreadId thread(std::int64_t tid) {
    return trace_.add(model::Thread{.processId = process_, .tid = tid});
  }

  model::SliceId iteration(std::int64_t number,
                           model::OptionalInt length = 1000,
                           std::int64_t probes = 0) {
    return iterationAt(number * 1000, number, length, probes);
  }
  model::SliceId iterationAt(std::int64_t begin,
                             std::int64_t number,
                             model::OptionalInt length = 1000,
                             std::int64_t probes = 0) {
    const auto slice =
        trace_.slice(main_, SliceKind::Iteration, "it", {begin, begin + length.value_or(0)});
    trace_.add(model::Iteration{.processId = process_,
                                .number = number,
                                .startNs = begin,
                                .durNs = length,
                                .probeMask = probes,
                                .sliceId = slice});
    return slice;
  }
  model::SliceId part(SliceKind kind,
                      std::string_view name,
                      std::pair<std::int64_t, std::int64_t> time,
                      model::SliceId parent) {
    return trace_.slice(main_, kind, name, time, parent);
  }
  // A kernel launched at `launchNs` in `scope`.
  void kernel(std::string_view name,
              std::int64_t launchNs,
              std::pair<std::int64_t, std::int64_t> time,
              model::SliceId scope) {
    trace_.add(model::Kernel{.work = work(name, launchNs, time, scope)});
  }
  void copy(std::int64_t launchNs,
            std::pair<std::int64_t, std::int64_t> time,
            model::SliceId scope) {
    trace_.add(model::Copy{.work = work("Memcpy HtoD", launchNs, time, scope)});
  }

  // The cost of each scope.
  void cost(std::string_view method, double before, double inside, double after, double error) {
    trace_.add(model::Overhead{.probe = "torch",
                               .api = "scope",
                               .meanNs = before + inside + after,
                               .errorNs = error,
                               .method = method,
                               .beforeNs = before,
                               .insideNs = inside});
  }

  std::vector<IterationTimes> read(const Dimensions& by = kAll) {
    trace_.finish();
    return must(readIterationTimes(must(store::openTrace(path_)), by));
  }

 private:
  model::DeviceWork work(std::string_view name,
                         std::int64_t launchNs,
                         std::pair<std::int64_t, std::int64_t> time,
                         model::SliceId scope) {
    model::DeviceWork work;
    work.streamId = stream_;
    work.nameId = trace_.name(name);
    work.startNs = time.first;
    work.durNs = time.second - time.first;
    work.scopeId = scope;
    work.launchSliceId =
        trace_.slice(main_, SliceKind::Api, "cudaLaunchKernel", {launchNs, launchNs + 5}, scope);
    return work;
  }

  std::string path_;
  test::TraceBuilder trace_;
  model::ProcessId process_;
  model::ThreadId main_;
  model::StreamId stream_;
};

class IterationTimesTest : public ::testing::Test {
 protected:
  Job job() { return Job(folder_ / "t.sonde"); }
  test::TemporaryFolder folder_;
};

Subject of(Kind kind, const char* name) {
  return {kind, {}, name};
}

TEST_F(IterationTimesTest, HostTimeIsThatOfTheInnermostOperation) {
  Job job = this->job();
  for (const std::int64_t number : {0, 1}) {
    const std::int64_t at = number * 1000;
    const auto step = job.iteration(number);
    const auto forward = job.part(SliceKind::Forward, "forward", {at + 100, at + 500}, step);
    job.part(SliceKind::Operation, "attention", {at + 200, at + 250 + 50 * number}, forward);
  }
  const std::vector<IterationTimes> ranks = job.read();
  ASSERT_EQ(ranks.size(), 1U);
  EXPECT_EQ(ranks[0].rank, 3);
  EXPECT_EQ(ranks[0].iterations, (Names{{0, 0}, {1, 0}}));
  const Times& times = ranks[0].times;
  EXPECT_EQ(times.at({}), (Nanoseconds{1000, 1000}));
  EXPECT_EQ(times.at(of(Kind::Host, "forward")), (Nanoseconds{350, 300}));
  EXPECT_EQ(times.at(of(Kind::Host, "attention")), (Nanoseconds{50, 100}));
  EXPECT_EQ(times.at({Kind::Host, {}, {}}), (Nanoseconds{600, 600})) << "outside of all";
}

TEST_F(IterationTimesTest, WhatTwoThreadsDoAtOnceCountsForBoth) {
  Job job = this->job();
  const auto step = job.iteration(0);
  job.part(SliceKind::Forward, "forward", {100, 500}, step);
  const auto other = job.thread(12);
  job.trace().slice(other, SliceKind::DataLoad, "prefetch", {300, 700});
  const Times times = job.read()[0].times;
  EXPECT_EQ(times.at(of(Kind::Host, "forward")), (Nanoseconds{400}));
  EXPECT_EQ(times.at(of(Kind::Host, "prefetch")), (Nanoseconds{400}));
}

TEST_F(IterationTimesTest, DeviceTimeBelongsToTheIterationAndOperationThatLaunchedIt) {
  Job job = this->job();
  const auto first = job.iteration(0);
  const auto forward = job.part(SliceKind::Forward, "forward", {100, 900}, first);
  const auto layer = job.part(SliceKind::Module, "layer", {200, 800}, forward);
  job.iteration(1);
  job.kernel("gemm", 300, {1200, 1500}, layer);  // runs in the second iteration
  job.kernel(
      "gemm", 310, {1400, 1600}, layer);  // at the same time, on another stream of the device
  job.kernel("relu", 320, {1600, 1650}, layer);
  job.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 330, {1700, 1900}, layer);
  job.copy(340, {1900, 1990}, layer);
  const Times times = job.read()[0].times;
  EXPECT_EQ(times.at(of(Kind::Compute, "forward")), (Nanoseconds{450, 0})) << "what overlaps, once";
  EXPECT_EQ(times.at(of(Kind::Comm, "forward")), (Nanoseconds{200, 0}));
  EXPECT_EQ(times.at(of(Kind::Copy, "forward")), (Nanoseconds{90, 0}));
  EXPECT_EQ(times.at(of(Kind::Kernel, "gemm")), (Nanoseconds{500, 0})) << "of kernels, the sum";
  EXPECT_EQ(times.at(of(Kind::Kernel, "relu")), (Nanoseconds{50, 0}));
  EXPECT_EQ(times.at(of(Kind::Module, "layer")), (Nanoseconds{600, 0}));
}

TEST_F(IterationTimesTest, AKernelWithoutALaunchBelongsToTheIterationItBeganIn) {
  Job job = this->job();
  job.iteration(0);
  job.iteration(1);
  job.kernel("early", -50, {-40, 10}, {});  // launched before all iterations: belongs to none
  model::DeviceWork work;
  const auto stream = job.trace().add(model::Stream{.processId = model::ProcessId{1}, .number = 9});
  work.streamId = stream;
  work.nameId = job.trace().name("orphan");
  work.startNs = 1100;
  work.durNs = 30;
  job.trace().add(model::Kernel{.work = work});
  const Times times = job.read()[0].times;
  EXPECT_EQ(times.at(of(Kind::Kernel, "orphan")), (Nanoseconds{0, 30}));
  EXPECT_EQ(times.at({Kind::Compute, {}, {}}), (Nanoseconds{0, 30}));
  EXPECT_FALSE(times.contains(of(Kind::Kernel, "early")));
}

TEST_F(IterationTimesTest, IterationsWithFewerProbesDoNotCount) {
  Job job = this->job();
  job.iteration(0, 1000, 0b101);
  job.iteration(1, 1000, 0b001);
  job.iteration(2, 1100, 0b101);  // the first after a switch
  job.iteration(3, 900, 0b101);
  const std::vector<IterationTimes> ranks = job.read();
  EXPECT_EQ(ranks[0].iterations, (Names{{0, 0}, {3, 0}}));
  EXPECT_EQ(ranks[0].times.at({}), (Nanoseconds{1000, 900}));
  EXPECT_EQ(ranks[0].partial, 2U);
}

// As in a program that counts from 0 in each epoch.
TEST_F(IterationTimesTest, IterationsOfOneNumberAreEachByThemselvesInTheOrderOfTime) {
  Job job = this->job();
  for (const std::int64_t epoch : {0, 1, 2})
    for (const std::int64_t number : {0, 1}) {
      const std::int64_t at = (2 * epoch + number) * 1000;
      const auto step = job.iterationAt(at, number, 900 + 10 * epoch + number);
      job.part(SliceKind::Forward, "forward", {at + 100, at + 200 + 10 * epoch}, step);
    }
  const std::vector<IterationTimes> ranks = job.read();
  EXPECT_EQ(ranks[0].iterations, (Names{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(ranks[0].times.at({}), (Nanoseconds{900, 901, 910, 911, 920, 921}));
  EXPECT_EQ(ranks[0].times.at(of(Kind::Host, "forward")),
            (Nanoseconds{100, 100, 110, 110, 120, 120}));
}

// An iteration that is left out on one rank may count on another.
TEST_F(IterationTimesTest, IterationsThatDoNotCountAreCountedAsOnesOfTheirNumber) {
  Job job = this->job();
  job.iterationAt(0, 7, 1000, 0b001);
  job.iterationAt(1000, 8, 1000, 0b101);  // the first after a switch
  job.iterationAt(2000, 7, 1000, 0b101);
  job.iterationAt(3000, 9, 1000, 0b101);
  EXPECT_EQ(job.read()[0].iterations, (Names{{7, 1}, {9, 0}}));
}

TEST_F(IterationTimesTest, IterationsWithinOthersOfTheirThreadDoNotCount) {
  Job job = this->job();
  for (const std::int64_t number : {0, 3}) {
    const auto step = job.iteration(number);
    job.iterationAt(number * 1000, number + 1, 400);
    job.iterationAt(number * 1000 + 500, number + 2, 500);
    job.part(SliceKind::Forward, "forward", {number * 1000 + 600, number * 1000 + 700}, step);
  }
  const std::vector<IterationTimes> ranks = job.read();
  EXPECT_EQ(ranks[0].iterations, (Names{{0, 0}, {3, 0}}));
  EXPECT_EQ(ranks[0].times.at({}), (Nanoseconds{1000, 1000}));
  EXPECT_EQ(ranks[0].times.at(of(Kind::Host, "forward")), (Nanoseconds{100, 100}));
  EXPECT_EQ(ranks[0].partial, 0U);
}

TEST_F(IterationTimesTest, OfAProcessOfWhichNoneCountsThereAreNoTimes) {
  Job job = this->job();
  job.iteration(0, 1000, 0b100);
  job.iteration(1, 1000, 0b001);
  const std::vector<IterationTimes> ranks = job.read();
  ASSERT_EQ(ranks.size(), 1U);
  EXPECT_TRUE(ranks[0].iterations.empty());
  EXPECT_EQ(ranks[0].times.at({}), Nanoseconds());
  EXPECT_EQ(ranks[0].partial, 2U);
}

// As in some of torch.profiler's files.
TEST_F(IterationTimesTest, IterationsThatAnotherProcessMarksAreThoseOfTheDevices) {
  Job job = this->job();
  const auto marker = job.trace().add(model::Process{.hostId = model::HostId{1}, .pid = 20});
  const auto thread = job.trace().add(model::Thread{.processId = marker, .tid = 20});
  for (std::int64_t number = 0; number < 2; ++number) {
    const auto slice = job.trace().slice(
        thread, SliceKind::Iteration, "it", {number * 1000, number * 1000 + 1000});
    job.trace().add(model::Iteration{.processId = marker,
                                     .number = number,
                                     .startNs = number * 1000,
                                     .durNs = 1000,
                                     .sliceId = slice});
  }
  job.kernel("gemm", 1100, {1200, 1500}, {});
  const std::vector<IterationTimes> ranks = job.read();
  ASSERT_EQ(ranks.size(), 1U);
  EXPECT_EQ(ranks[0].rank, 3);
  EXPECT_EQ(ranks[0].times.at({}), (Nanoseconds{1000, 1000}));
  EXPECT_EQ(ranks[0].times.at(of(Kind::Kernel, "gemm")), (Nanoseconds{0, 300}));
  EXPECT_FALSE(ranks[0].times.contains({Kind::Host, {}, {}})) << "the marker's time is not theirs";
}

TEST_F(IterationTimesTest, IterationsThatHaveNoDurationDoNotCount) {
  Job job = this->job();
  job.iteration(0);
  job.iteration(1, std::nullopt);
  job.iteration(2, -5);
  job.iteration(3, 0);
  const std::vector<IterationTimes> ranks = job.read();
  EXPECT_EQ(ranks[0].iterations, (Names{{0, 0}, {3, 0}}));
  EXPECT_EQ(ranks[0].times.at({}), (Nanoseconds{1000, 0}));
}

TEST_F(IterationTimesTest, WithoutIterationsThereIsNothing) {
  Job job = this->job();
  job.part(SliceKind::Forward, "forward", {100, 500}, {});
  EXPECT_TRUE(job.read().empty());
}

TEST_F(IterationTimesTest, OnlyWhatIsAskedForIsThere) {
  Job job = this->job();
  const auto step = job.iteration(0);
  const auto forward = job.part(SliceKind::Forward, "forward", {100, 500}, step);
  job.kernel("gemm", 200, {300, 400}, forward);
  Dimensions by;
  by.kernel = true;
  const Times times = job.read(by)[0].times;
  EXPECT_EQ(times.size(), 2U);
  EXPECT_TRUE(times.contains(of(Kind::Kernel, "gemm")));
}

// Also if a time would be longer than recorded with costs off by as much.
TEST_F(IterationTimesTest, PartsAreAsUnsureAsTheIterationThatTheyAre) {
  Job job = this->job();
  const auto step = job.iteration(0);
  const auto all = job.part(SliceKind::Operation, "all", {0, 1000}, step);
  job.part(SliceKind::Operation, "all", {200, 300}, all);
  job.part(SliceKind::Operation, "all", {500, 600}, all);
  job.cost("assumed", 20, 10, 30, 60);
  const IterationTimes times = job.read()[0];
  EXPECT_EQ(times.times.at(of(Kind::Host, "all")), times.times.at({}));
  EXPECT_EQ(times.errors.at(of(Kind::Host, "all")), times.errors.at({}));
  EXPECT_GT(times.errors.at({})[0], 100);
}

TEST_F(IterationTimesTest, OfACalibrationTheNoiseIsTheRunsOwn) {
  const auto costsOf = [](std::string_view method, std::string_view calibrated) {
    const test::TemporaryFolder folder;
    Job job(folder / "t.sonde");
    job.part(SliceKind::Forward, "forward", {100, 500}, job.iteration(0));
    job.cost(method, 0, 40, 0, 10);
    if (!calibrated.empty())
      job.trace().meta("calibrated", calibrated);
    const IterationTimes times = job.read()[0];
    EXPECT_EQ(times.errors.at({}), (Nanoseconds{10}));
    return times.costs;
  };
  const CostSource found = costsOf("in-run", R"({"error_ns": 9, "noise_ns": 6.0})");
  EXPECT_TRUE(found.ownRun);
  EXPECT_DOUBLE_EQ(found.noise, 0.6);
  EXPECT_EQ(costsOf("in-run", R"({"noise_ns": 60})").noise, 1);
  EXPECT_EQ(costsOf("in-run", "").noise, 1) << "nobody says that anything is shared";
  EXPECT_EQ(costsOf("micro-loop", "").noise, 0);
}

TEST_F(IterationTimesTest, ScopesThatLeadBackToThemselvesEnd) {
  Job job = this->job();
  const auto step = job.iteration(0);
  const auto layer = job.part(SliceKind::Module, "layer", {100, 500}, step);
  job.kernel("gemm", 200, {300, 400}, layer);
  job.trace().finish();
  {
    auto damaged = must(store::Database::open(folder_ / "t.sonde", store::Access::ReadWrite));
    must(damaged.exec("UPDATE slice SET scope_id = id WHERE kind = 'module'"));
  }
  const auto ranks = must(readIterationTimes(must(store::openTrace(folder_ / "t.sonde")), kAll));
  EXPECT_EQ(ranks[0].times.at({Kind::Compute, {}, {}}), (Nanoseconds{100}));
}

}  // namespace
}  // namespace sonde::engine::diff
