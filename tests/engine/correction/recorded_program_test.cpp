// What is taken for a wait, and for whom, in traces made by hand: each costs 100 ns after an
// annotation of the thread that another one, or a device, waits for.
#include "analysis/engine/correction/corrected_times.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace sonde::engine::correction {
namespace {

using model::SliceKind;
using test::must;
using Time = std::pair<std::int64_t, std::int64_t>;

class RecordedProgramTest : public ::testing::Test {
 protected:
  RecordedProgramTest() {
    host_ = trace_.add(model::Host{.name = "h", .bootId = "b"});
    process_ = process(7, 0);
    main_ = thread(process_, 7);
    other_ = thread(process_, 8);
    trace_.add(model::Overhead{.probe = "annotation",
                               .api = "scope",
                               .meanNs = 100,
                               .errorNs = 0,
                               .method = "micro-loop",
                               .beforeNs = 0,
                               .insideNs = 0});
    // The threads are there from the beginning, and what they wait for is said.
    for (const model::ThreadId each : {main_, other_})
      trace_.slice(each, SliceKind::Wait, "begin", {0, 1}, {}, "sync");
  }

  model::ProcessId process(std::int64_t pid, std::int64_t rank) {
    return trace_.add(
        model::Process{.hostId = host_, .pid = pid, .rank = rank, .command = "train"});
  }
  model::ThreadId thread(model::ProcessId of, std::int64_t tid) {
    return trace_.add(model::Thread{.processId = of, .tid = tid});
  }
  // Its thread owes 100 ns from `end` on.
  void annotation(model::ThreadId on, Time time) {
    trace_.slice(on, SliceKind::Operation, "work", time, {}, "annotation");
  }
  std::int64_t corrected(model::ThreadId of, std::int64_t ns) {
    return correction().times.ofThread(of.value, ns);
  }
  const Correction& correction() {
    if (!correction_) {
      trace_.finish();
      trace_file_.emplace(must(store::openTrace(path_)));
      correction_.emplace(*must(readCorrection(*trace_file_)));
    }
    return *correction_;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  std::optional<store::Database> trace_file_;
  std::optional<Correction> correction_;
  model::HostId host_;
  model::ProcessId process_;
  model::ThreadId main_;
  model::ThreadId other_;
};

TEST_F(RecordedProgramTest, AThreadGoesOnWhenItsWakerHasLetItGo) {
  annotation(main_, {100, 200});
  trace_.handoff(main_, other_, {50, 1000});
  EXPECT_EQ(corrected(main_, 1000), 900);
  EXPECT_EQ(corrected(other_, 1000), 900);
}

TEST_F(RecordedProgramTest, WhatAThreadLosesBeforeAWaitTheWaitAbsorbs) {
  annotation(other_, {100, 200});
  trace_.handoff(main_, other_, {500, 1000});
  EXPECT_EQ(corrected(other_, 500), 400);
  EXPECT_EQ(corrected(other_, 1000), 1000);
}

TEST_F(RecordedProgramTest, AReceiveOfBytesWaitsForTheirSend) {
  const auto peer = process(9, 1);
  const auto far = thread(peer, 9);
  trace_.slice(far, SliceKind::Wait, "begin", {0, 1}, {}, "sync");
  const auto end = [&](model::ProcessId of, std::int64_t peerChannel) {
    return trace_.add(model::Channel{.processId = of,
                                     .local = "a",
                                     .remote = "b",
                                     .peerChannelId = model::ChannelId{peerChannel}});
  };
  const auto local = end(process_, 2);
  const auto remote = end(peer, 1);
  annotation(main_, {100, 200});
  const auto transfer =
      [&](model::ChannelId on, model::ThreadId by, model::Direction direction, Time time) {
        trace_.add(model::Transfer{.channelId = on,
                                   .threadId = by,
                                   .direction = direction,
                                   .offset = 0,
                                   .bytes = 10,
                                   .exact = true,
                                   .startNs = time.first,
                                   .durNs = time.second - time.first});
      };
  transfer(local, main_, model::Direction::Send, {900, 910});
  transfer(remote, far, model::Direction::Receive, {50, 1000});
  EXPECT_EQ(corrected(main_, 900), 800);
  EXPECT_EQ(corrected(far, 1000), 900);
}

TEST_F(RecordedProgramTest, RanksOfACollectiveWaitForTheLastToCome) {
  const auto peer = process(9, 1);
  const auto far = thread(peer, 9);
  trace_.slice(far, SliceKind::Wait, "begin", {0, 1}, {}, "sync");
  const auto part = [&](model::ProcessId of, model::ThreadId by, std::int64_t position, Time time) {
    const auto group = trace_.add(model::Communicator{
        .processId = of, .jobKey = "g", .size = 2, .position = position, .backend = "gloo"});
    const auto slice = trace_.slice(by, SliceKind::Collective, "allreduce", time);
    trace_.add(model::Collective{.processId = of,
                                 .communicatorId = group,
                                 .seq = 1,
                                 .op = model::CollectiveOp::Allreduce,
                                 .sliceId = slice,
                                 .startNs = time.first,
                                 .durNs = time.second - time.first});
  };
  annotation(main_, {100, 200});
  part(process_, main_, 0, {900, 1000});  // the last to come, with 100 ns of recording
  part(peer, far, 1, {500, 1000});
  EXPECT_EQ(corrected(main_, 1000), 900);
  EXPECT_EQ(corrected(far, 500), 500);
  EXPECT_EQ(corrected(far, 1000), 900);
}

TEST_F(RecordedProgramTest, AKernelWaitsForItsLaunchAndACallForItsKernel) {
  const auto device = trace_.add(model::Device{.hostId = host_, .kind = "gpu"});
  const auto stream = trace_.add(model::Stream{.processId = process_, .deviceId = device});
  annotation(main_, {100, 200});
  const auto launch = trace_.slice(main_, SliceKind::Api, "cudaLaunchKernel", {400, 410});
  model::Kernel kernel;
  kernel.work.streamId = stream;
  kernel.work.nameId = trace_.name("k");
  kernel.work.startNs = 500;
  kernel.work.durNs = 300;
  kernel.work.launchSliceId = launch;
  trace_.add(kernel);
  trace_.slice(main_, SliceKind::Api, "cudaStreamSynchronize", {450, 820});
  EXPECT_EQ(corrected(main_, 410), 310);
  EXPECT_EQ(correction().times.ofStream(stream.value, 500), 400);
  EXPECT_EQ(correction().times.ofStream(stream.value, 800), 700);
  EXPECT_EQ(corrected(main_, 820), 720);
}

TEST_F(RecordedProgramTest, AThreadOfWhichNothingIsKnownFollowsTheDriver) {
  trace_.add(
      model::Iteration{.processId = process_,
                       .number = 0,
                       .startNs = 90,
                       .durNs = 200'000,
                       .probeMask = 1,
                       .sliceId = trace_.slice(main_, SliceKind::Iteration, "i", {90, 200'090})});
  annotation(main_, {100, 200});
  trace_.slice(other_, SliceKind::Api, "call", {100'000, 100'010});
  EXPECT_EQ(corrected(main_, 100'000), 99'900);
  EXPECT_EQ(corrected(other_, 100'000), 99'900);
}

TEST_F(RecordedProgramTest, CountsWhatNobodyKnowsTheCostOf) {
  trace_.slice(main_, SliceKind::Api, "cudaMalloc", {100, 110}, {}, "cuda_runtime");
  annotation(main_, {200, 300});
  const CostClass call{"cuda", "call"};
  ASSERT_TRUE(correction().unknown.contains(call));
  EXPECT_EQ(correction().unknown.at(call), 1);
}

TEST_F(RecordedProgramTest, TimesThatAreNoneAreRefused) {
  annotation(main_, {std::int64_t{1} << 62, (std::int64_t{1} << 62) + 1});
  trace_.finish(false);
  const auto file = must(store::openTrace(path_));
  const auto read = readCorrection(file);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::Corrupt);
}

}  // namespace
}  // namespace sonde::engine::correction
