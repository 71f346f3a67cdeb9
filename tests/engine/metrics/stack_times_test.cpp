#include "analysis/engine/metrics/stack_times.h"

#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace sonde::engine::metrics {
namespace {

using model::SliceKind;
using test::must;
using ::testing::HasSubstr;

// One process with a thread "main" and two workers of a library, samples of 1 ns each:
//
//   main      |iteration 4: 100-200: |forward 100-150 |backward 150-190|  |iteration 5: 200-300:
//   |forward 200-250| other     |loading 140-160 |
class StackTimes : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto host = trace_.add(model::Host{.name = "h", .bootId = "b"});
    process_ = trace_.add(model::Process{.hostId = host, .pid = 1, .rank = 3});
    main_ = trace_.add(model::Thread{.processId = process_, .tid = 1});
    other_ = trace_.add(model::Thread{.processId = process_, .tid = 2});
    worker_ = trace_.add(model::Thread{.processId = process_, .tid = 3});
    iteration(4, {100, 200});
    iteration(5, {200, 300});
    trace_.slice(main_, SliceKind::Forward, "forward", {100, 150});
    trace_.slice(main_, SliceKind::Backward, "backward", {150, 190});
    trace_.slice(main_, SliceKind::Forward, "forward", {200, 250});
    trace_.slice(other_, SliceKind::DataLoad, "loading", {140, 160});
    trace_.slice(other_, SliceKind::Wait, "forward", {160, 300});  // a call of that name
    const auto frame = trace_.add(model::Frame{.nameId = trace_.name("work")});
    stack_ = trace_.add(model::Stack{.frameId = frame});
  }

  void iteration(std::int64_t number, std::pair<std::int64_t, std::int64_t> time) {
    trace_.add(model::Iteration{.processId = process_,
                                .number = number,
                                .startNs = time.first,
                                .durNs = time.second - time.first});
  }
  void sample(model::ThreadId thread, std::int64_t ns) {
    trace_.add(model::StackSample{.threadId = thread, .tsNs = ns, .stackId = stack_, .weight = 1});
  }

  // An allocation whose stack is taken `late` ns after it, on that thread's clock, and is cut off.
  void allocation(model::ThreadId thread, std::int64_t ns, std::int64_t bytes, std::int64_t late) {
    trace_.add(model::Allocation{.processId = process_,
                                 .threadId = thread,
                                 .allocator = model::Allocator::Malloc,
                                 .address = 4096,
                                 .bytes = bytes,
                                 .allocNs = ns});
    trace_.add(model::StackSample{.threadId = thread,
                                  .tsNs = ns + late,
                                  .stackId = stack_,
                                  .truncated = true,
                                  .kind = model::SampleKind::Event});
  }

  // Samples by thread.
  std::map<int, std::int64_t> found(const StackFilter& filter) {
    if (!std::exchange(finished_, true))
      trace_.finish();
    auto trace = must(store::openTrace(path_));
    std::map<int, std::int64_t> counts;
    for (const model::StackTime& time : must(stackTimes(trace, filter))) {
      EXPECT_EQ(time.ns, time.samples);
      EXPECT_EQ(time.stackId, stack_);
      counts[static_cast<int>(time.threadId.value - main_.value) + 1] += time.samples;
    }
    return counts;
  }
  std::string refusal(const StackFilter& filter) {
    if (!std::exchange(finished_, true))
      trace_.finish();
    auto trace = must(store::openTrace(path_));
    const auto times = stackTimes(trace, filter);
    return times ? "(none)" : times.error().message;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "a.sonde";
  test::TraceBuilder trace_{path_};
  model::ProcessId process_;
  model::ThreadId main_;
  model::ThreadId other_;
  model::ThreadId worker_;
  model::StackId stack_;
  bool finished_ = false;
};

using Counts = std::map<int, std::int64_t>;

TEST_F(StackTimes, AreThoseOfAllThreads) {
  for (const std::int64_t ns : {50, 120, 121})
    sample(main_, ns);
  sample(worker_, 400);
  EXPECT_EQ(found({}), (Counts{{1, 3}, {3, 1}}));
  EXPECT_EQ(found({.rank = 3}), (Counts{{1, 3}, {3, 1}}));
}

TEST_F(StackTimes, OfAnOperationAreThoseOfItsThread) {
  for (const std::int64_t ns : {99, 100, 149, 150, 199, 200, 249, 250})
    sample(main_, ns);
  sample(other_, 145);  // loading
  EXPECT_EQ(found({.operation = "forward"}), (Counts{{1, 4}}));
  EXPECT_EQ(found({.operation = "backward"}), (Counts{{1, 1}}));
  EXPECT_EQ(found({.operation = "loading"}), (Counts{{2, 1}}));
}

TEST_F(StackTimes, OfAWorkerAreWhereItsProcessIs) {
  // In forward; in another scope, so unknown; in backward; in none.
  for (const std::int64_t ns : {110, 145, 155, 165, 195, 210})
    sample(worker_, ns);
  EXPECT_EQ(found({.operation = "forward"}), (Counts{{3, 2}}));
  EXPECT_EQ(found({.operation = "backward"}), (Counts{{3, 1}}));
  EXPECT_EQ(found({.operation = "loading"}), Counts{});
}

TEST_F(StackTimes, OfIterationsAreThoseOfTheirTime) {
  for (const std::int64_t ns : {99, 100, 199, 200, 299, 300})
    sample(main_, ns);
  sample(worker_, 210);
  EXPECT_EQ(found({.iterations = {{4, 4}}}), (Counts{{1, 2}}));
  EXPECT_EQ(found({.iterations = {{4, 5}}}), (Counts{{1, 4}, {3, 1}}));
  EXPECT_EQ(found({.iterations = {{5, 9}}, .operation = "forward"}), (Counts{{1, 1}, {3, 1}}));
}

TEST_F(StackTimes, OfARangeAreThoseOfItsTimeOnTheJobsClock) {
  trace_.add(model::ClockMap{.hostId = model::HostId{1}, .fromNs = 0, .offsetNs = 1000});
  for (const std::int64_t ns : {99, 100, 149, 150})
    sample(main_, ns);
  EXPECT_EQ(found({.range = {{1100, 1150}}}), (Counts{{1, 2}}));
  EXPECT_EQ(found({.range = {{100, 150}}}), Counts{});
}

TEST_F(StackTimes, OfIterationsThatLieWithinAnotherGoByItsNumber) {
  iteration(5, {110, 120});
  iteration(6, {210, 220});
  for (const std::int64_t ns : {115, 215})
    sample(main_, ns);
  EXPECT_EQ(found({.iterations = {{5, 6}}}), (Counts{{1, 1}}));
  EXPECT_THAT(refusal({.iterations = {{6, 6}}}), HasSubstr("there is no iteration from 6 to 6"));
}

TEST_F(StackTimes, OfAnOperationThatNeverEndedReachToTheEnd) {
  trace_.add(model::Slice{.threadId = main_,
                          .kind = SliceKind::Operation,
                          .nameId = trace_.name("hung"),
                          .startNs = 400});
  sample(main_, 399);
  sample(main_, 1000);
  EXPECT_EQ(found({.operation = "hung"}), (Counts{{1, 1}}));
}

TEST_F(StackTimes, OfAllocationsAreTheirBytes) {
  sample(main_, 120);
  allocation(main_, 110, 1000, 3);
  allocation(main_, 2000, 100, -3);
  allocation(worker_, 120, 10, 0);
  allocation(other_, 5000, 1, 501);  // another allocation's stack
  trace_.finish();
  auto trace = must(store::openTrace(path_));
  const auto bytes = [&](const StackFilter& filter) {
    std::vector<std::pair<std::int64_t, bool>> found;
    for (const model::StackTime& time : must(stackTimes(trace, filter)))
      found.emplace_back(time.ns, time.truncated);
    return found;
  };
  using Bytes = std::vector<std::pair<std::int64_t, bool>>;
  constexpr StackClock kBytes = StackClock::Allocated;
  EXPECT_EQ(bytes({.clock = kBytes}), (Bytes{{1100, true}, {10, true}}));
  EXPECT_EQ(bytes({.clock = kBytes, .operation = "forward"}), (Bytes{{1000, true}, {10, true}}));
  EXPECT_EQ(bytes({}), (Bytes{{1, false}}));
}

TEST_F(StackTimes, OfDevicesAreThoseOfTheWorkThatACallLaunched) {
  const auto call = [&](std::int64_t ns, model::StackId stack) {
    return trace_.add(model::Slice{.threadId = main_,
                                   .kind = SliceKind::Api,
                                   .category = "cuda_runtime",
                                   .nameId = trace_.name("cudaGraphLaunch"),
                                   .startNs = ns,
                                   .durNs = 5,
                                   .stackId = stack});
  };
  const auto device = trace_.add(model::Device{.hostId = model::HostId{1}, .kind = "gpu"});
  const auto stream = trace_.add(model::Stream{.processId = process_, .deviceId = device});
  const auto in = call(110, stack_);
  const auto out = call(195, stack_);
  const auto bare = call(120, {});
  const auto kernel = [&](model::SliceId launch, std::int64_t durNs) {
    model::Kernel row;
    row.work.streamId = stream;
    row.work.nameId = trace_.name("kernel");
    row.work.startNs = 1000;
    row.work.durNs = durNs;
    row.work.launchSliceId = launch;
    trace_.add(row);
  };
  kernel(in, 100);
  kernel(in, 20);
  kernel(out, 3);
  kernel(bare, 4000);
  model::Copy copy;
  copy.work.streamId = stream;
  copy.work.nameId = trace_.name("copy");
  copy.work.startNs = 1000;
  copy.work.durNs = 7;
  copy.work.launchSliceId = in;
  trace_.add(copy);
  trace_.finish();
  auto trace = must(store::openTrace(path_));
  const auto deviceNs = [&](const StackFilter& filter) {
    std::int64_t ns = 0;
    for (const model::StackTime& time : must(stackTimes(trace, filter)))
      ns += time.ns;
    return ns;
  };
  EXPECT_EQ(deviceNs({.clock = StackClock::Device}), 130);
  EXPECT_EQ(deviceNs({.clock = StackClock::Device, .operation = "forward"}), 127);
  EXPECT_EQ(deviceNs({.clock = StackClock::Device, .operation = "loading"}), 0);
}

TEST_F(StackTimes, WhatIsNotThereIsNamed) {
  EXPECT_THAT(refusal({}), HasSubstr("'sonde run --sources +stack'"));
}

TEST_F(StackTimes, WhatIsAskedForInVainIsNamed) {
  sample(main_, 100);
  EXPECT_EQ(refusal({.rank = 1}), "there is no rank 1: the trace has 3");
  EXPECT_THAT(refusal({.iterations = {{6, 7}}}), HasSubstr("no iteration from 6 to 7"));
  EXPECT_EQ(refusal({.operation = "forwards"}),
            "there is no operation 'forwards': did you mean 'forward'?");
  EXPECT_EQ(refusal({.operation = "forward"}), "(none)");
  EXPECT_THAT(refusal({.clock = StackClock::Allocated}), HasSubstr("--stacks-at alloc"));
}

}  // namespace
}  // namespace sonde::engine::metrics
