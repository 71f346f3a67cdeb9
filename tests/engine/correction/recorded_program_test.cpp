// Which events count as waits, and for whom, in handmade traces. Each annotation of the thread that
// another one, or a device, waits for costs 100 ns afterwards.
#include "tests/engine/correction/recorded_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::correction {
namespace {

using RecordedProgramTest = RecordedRig;

TEST_F(RecordedProgramTest, AThreadGoesOnWhenItsWakerHasLetItGo) {
  annotation(main_, {100, 200});
  trace_.handoff(main_, other_, {50, 1000});
  EXPECT_EQ(corrected(main_, 1000), 900);
  EXPECT_EQ(corrected(other_, 1000), 900);
}

TEST_F(RecordedProgramTest, ToOpenAFileHasACostOfItsOwn) {
  for (const auto& [api, ns] : {std::pair("call", 10), std::pair("open", 200)})
    trace_.add(model::Overhead{.probe = "io",
                               .api = api,
                               .meanNs = static_cast<double>(ns),
                               .errorNs = 0,
                               .method = "micro-loop",
                               .beforeNs = 0,
                               .insideNs = 0});
  trace_.slice(main_, SliceKind::Io, "open", {100, 200}, {}, "io");
  trace_.slice(main_, SliceKind::Io, "read", {500, 600}, {}, "io");
  trace_.slice(main_, SliceKind::Io, "fopen", {1000, 1100}, {}, "io");
  trace_.slice(main_, SliceKind::Io, "read", {1500, 1600}, {}, "io");
  EXPECT_EQ(corrected(main_, 500), 300);
  EXPECT_EQ(corrected(main_, 1000), 790);
  EXPECT_EQ(corrected(main_, 1500), 1090);
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

// MPI_Irecv, then computing, and MPI_Wait, which waits for the message.
TEST_F(RecordedProgramTest, AReceiveByARequestIsWaitedForWhereTheRequestIs) {
  const auto peer = process(9, 1);
  const auto far = thread(peer, 9);
  trace_.slice(far, SliceKind::Wait, "begin", {0, 1}, {}, "sync");
  const auto end = [&](model::ProcessId of, std::int64_t peerChannel) {
    return trace_.add(model::Channel{.processId = of,
                                     .kind = model::ChannelKind::Mpi,
                                     .local = "a",
                                     .remote = "b",
                                     .peerChannelId = model::ChannelId{peerChannel}});
  };
  const auto local = end(process_, 2);
  const auto remote = end(peer, 1);
  annotation(main_, {100, 200});
  trace_.slice(far, SliceKind::Api, "MPI_Irecv", {20, 30}, {}, "mpi");
  annotation(far, {400, 500});  // within the request, on its own time
  trace_.slice(far, SliceKind::Wait, "MPI_Wait", {700, 1000}, {}, "mpi");
  trace_.add(model::Transfer{.channelId = local,
                             .threadId = main_,
                             .direction = model::Direction::Send,
                             .offset = 0,
                             .bytes = 10,
                             .exact = true,
                             .startNs = sentNs_,
                             .durNs = 10,
                             .tag = 3});
  trace_.add(model::Transfer{.channelId = remote,
                             .threadId = far,
                             .direction = model::Direction::Receive,
                             .offset = 0,
                             .bytes = 10,
                             .exact = true,
                             .startNs = 20,
                             .durNs = 980,
                             .tag = 3});
  EXPECT_EQ(corrected(main_, sentNs_), sentNs_ - 100);
  EXPECT_EQ(corrected(far, 400), 400);
  EXPECT_EQ(corrected(far, 700), 600);  // the annotation's cost
  EXPECT_EQ(corrected(far, 1000), 900);
}

TEST_F(RecordedProgramTest, AThousandRanksMeetOnce) {
  constexpr std::int64_t kRanks = 1000;
  annotation(main_, {100, 200});
  std::vector<model::ThreadId> threads = {main_};
  while (threads.size() < static_cast<std::size_t>(kRanks)) {
    const auto rank = static_cast<std::int64_t>(threads.size());
    threads.push_back(thread(process(100 + rank, rank), 100 + rank));
  }
  for (std::int64_t rank = 0; rank < kRanks; ++rank) {
    const model::ProcessId of{rank == 0 ? process_.value : process_.value + rank};
    const auto group = trace_.add(model::Communicator{
        .processId = of, .jobKey = "g", .size = kRanks, .position = rank, .backend = "mpi"});
    const Time time(rank == 0 ? 900 : 300, 1000);
    const auto slice =
        trace_.slice(threads[static_cast<std::size_t>(rank)], SliceKind::Collective, "all", time);
    trace_.add(model::Collective{.processId = of,
                                 .communicatorId = group,
                                 .seq = 1,
                                 .op = model::CollectiveOp::Allreduce,
                                 .sliceId = slice,
                                 .startNs = time.first,
                                 .durNs = time.second - time.first});
  }
  for (const model::ThreadId each : threads)
    ASSERT_EQ(corrected(each, 1000), 900);
  // As many as there are ranks, not their square.
  EXPECT_LT(correction().times.program()->schedule.stops.size(),
            5 * static_cast<std::size_t>(kRanks));
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

TEST_F(RecordedProgramTest, AThreadOfWhichNothingIsKnownFollowsTheDriver) {
  trace_.add(
      model::Iteration{.processId = process_,
                       .number = 0,
                       .startNs = 90,
                       .durNs = 900'000,
                       .probeMask = 1,
                       .sliceId = trace_.slice(main_, SliceKind::Iteration, "i", {90, 900'090})});
  annotation(main_, {100, 200});
  trace_.slice(other_, SliceKind::Api, "call", {500'000, 500'010});
  EXPECT_EQ(corrected(main_, 500'000), 499'900);
  EXPECT_EQ(corrected(other_, 500'000), 499'900);
}

// It computed for 30 µs between two calls, and its run time was recorded.
TEST_F(RecordedProgramTest, AThreadThatRunsBetweenWhatItRecordsFollowsNobody) {
  iterations(1'000'000);
  annotation(main_, {100, 200});
  const auto counter = trace_.add(model::Counter{
      .hostId = host_, .threadId = other_, .nameId = trace_.name("cpu time"), .unit = "ns"});
  trace_.add(model::Sample{counter, 0, 0.0});
  trace_.add(model::Sample{counter, 1'000'000, 990'000.0});
  annotation(main_, {900'000, 900'010});
  trace_.slice(other_, SliceKind::Api, "call", {30'000, 30'010});
  trace_.slice(other_, SliceKind::Api, "call", {600'000, 600'010});
  EXPECT_EQ(corrected(main_, 900'000), 899'900);
  EXPECT_EQ(corrected(other_, 30'000), 30'000);
  EXPECT_EQ(corrected(other_, 600'000), 600'000);
}

TEST_F(RecordedProgramTest, AWaitThatNobodyEndedFollowsTheDriverAndASleepDoesNot) {
  iterations(1'000'000);
  annotation(main_, {100, 200});
  trace_.slice(other_, SliceKind::Wait, "clock_nanosleep", {10, 40'000}, {}, "sync");
  const auto third = thread(process_, 9);
  trace_.slice(third, SliceKind::Wait, "epoll_wait", {10, 40'000}, {}, "sync");
  EXPECT_EQ(corrected(other_, 40'000), 40'000);
  EXPECT_EQ(corrected(third, 40'000), 39'900);
}

TEST_F(RecordedProgramTest, CountsWhatNobodyKnowsTheCostOf) {
  trace_.slice(main_, SliceKind::Api, "cudaMalloc", {100, 110}, {}, "cuda_runtime");
  trace_.slice(main_, SliceKind::Api, "cudaLaunchKernel", {120, 130}, {}, "cuda_runtime");
  trace_.slice(main_, SliceKind::Api, "cuLaunchKernel", {140, 150}, {}, "cuda_driver");
  annotation(main_, {200, 300});
  const auto unknown = correction().unknown;
  const auto count = [&](const CostClass& of) { return unknown.contains(of) ? unknown.at(of) : 0; };
  EXPECT_EQ(count({"cuda", "call"}), 1);
  EXPECT_EQ(count({"cuda", "launch"}), 2);
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
