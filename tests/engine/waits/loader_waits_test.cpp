#include "analysis/engine/waits/loader_waits.h"

#include "analysis/engine/waits/read_lanes.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace sonde::engine::waits {
namespace {

using model::Direction;
using test::must;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// A rank with a loader process that was started in its first load. The rank sends orders to the
// loader's main thread through one pipe, and another thread of it sends batches through another
// pipe.
class LoaderWaits : public ::testing::Test {
 protected:
  LoaderWaits() {
    const auto host = trace_.add(model::Host{.name = "h"});
    const auto rank = trace_.add(model::Process{.hostId = host, .pid = 7, .rank = 0});
    main_ = trace_.add(model::Thread{.processId = rank, .tid = 7});
    loader_ = trace_.add(
        model::Process{.hostId = host, .pid = 8, .parentId = rank, .rank = 0, .startNs = 5});
    worker_ = trace_.add(model::Thread{.processId = loader_, .tid = 8});
    feeder_ = trace_.add(model::Thread{.processId = loader_, .tid = 9});
    trace_.slice(main_, model::SliceKind::DataLoad, "start", {1, 9});
    orders_ = pipe(rank, loader_);
    batches_ = pipe(loader_, rank);
  }

  std::pair<model::ChannelId, model::ChannelId> pipe(model::ProcessId from, model::ProcessId to) {
    const model::ChannelId next{static_cast<std::int64_t>(++channels_ * 2)};
    const auto ours = trace_.add(
        model::Channel{.processId = from, .kind = model::ChannelKind::Pipe, .peerChannelId = next});
    return {ours,
            trace_.add(model::Channel{
                .processId = to, .kind = model::ChannelKind::Pipe, .peerChannelId = ours})};
  }
  model::ChannelId channel(model::ProcessId process, model::ChannelId peer) {
    return trace_.add(model::Channel{
        .processId = process, .kind = model::ChannelKind::Unix, .peerChannelId = peer});
  }
  void move(model::ChannelId channel,
            model::ThreadId thread,
            Direction direction,
            std::int64_t offset,
            std::int64_t startNs) {
    trace_.add(model::Transfer{.channelId = channel,
                               .threadId = thread,
                               .direction = direction,
                               .offset = offset,
                               .bytes = 100,
                               .startNs = startNs,
                               .durNs = 1});
  }
  void order(int number, std::int64_t sentNs, std::int64_t receivedNs) {
    move(orders_.first, main_, Direction::Send, number * 100, sentNs);
    move(orders_.second, worker_, Direction::Receive, number * 100, receivedNs);
  }
  void batch(int number, std::int64_t sentNs, std::int64_t receivedNs) {
    move(batches_.first, feeder_, Direction::Send, number * 100, sentNs);
    move(batches_.second, main_, Direction::Receive, number * 100, receivedNs);
  }

  // Waiting thread, begin, end, waker, its time.
  using Found =
      std::tuple<model::ThreadId, std::int64_t, std::int64_t, model::ThreadId, std::int64_t>;
  std::vector<Found> found() {
    trace_.finish();
    const auto trace = must(store::openTrace(path_));
    Lanes lanes = must(readLanes(trace));
    std::vector<model::ThreadId> threads(lanes.count);
    for (const auto& [id, facts] : lanes.threads)
      threads[facts.lane] = model::ThreadId{id};
    Waits waits;
    must(addLoaderWaits(trace, lanes, {}, waits));
    std::vector<Found> all;
    for (const Wait& wait : waits.waits)
      all.emplace_back(threads[wait.lane], wait.begin, wait.end, threads[wait.waker], wait.wakerNs);
    return all;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  int channels_ = 0;
  model::ProcessId loader_;
  model::ThreadId main_, worker_, feeder_;
  std::pair<model::ChannelId, model::ChannelId> orders_, batches_;
};

TEST_F(LoaderWaits, TheRankWaitsForABatchThatCameBeforeItsReceive) {
  order(0, 10, 12);
  batch(0, 100, 110);
  trace_.slice(main_, model::SliceKind::DataLoad, "next", {50, 130});
  EXPECT_THAT(found(),
              UnorderedElementsAre(Found(main_, 50, 111, feeder_, 100),
                                   Found(feeder_, Wait::kStart, 100, worker_, 100)));
}

TEST_F(LoaderWaits, TheRankDoesNotWaitForABatchThatWasThereBefore) {
  order(0, 10, 12);
  batch(0, 40, 60);
  trace_.slice(main_, model::SliceKind::DataLoad, "next", {50, 130});
  EXPECT_THAT(found(), UnorderedElementsAre(Found(feeder_, Wait::kStart, 40, worker_, 40)));
}

TEST_F(LoaderWaits, OutsideOfLoadsABatchIsNoReasonToWait) {
  batch(0, 100, 110);
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(LoaderWaits, TheLoaderWaitsOnceItHasSentABatchForEachOrder) {
  order(0, 10, 12);
  batch(0, 100, 110);
  order(1, 140, 150);
  batch(1, 170, 180);
  EXPECT_THAT(found(),
              UnorderedElementsAre(Found(worker_, 100, 151, main_, 140),
                                   Found(feeder_, Wait::kStart, 100, worker_, 100),
                                   Found(feeder_, 100, 170, worker_, 170)));
}

// The second order was there before the first batch, so the loader worked without a break.
TEST_F(LoaderWaits, TheLoaderDoesNotWaitForAnOrderThatItHasAlready) {
  order(0, 10, 12);
  batch(0, 100, 110);
  order(1, 20, 90);
  batch(1, 170, 180);
  EXPECT_THAT(found(),
              UnorderedElementsAre(Found(feeder_, Wait::kStart, 100, worker_, 90),
                                   Found(feeder_, 100, 170, worker_, 170)));
}

// A loader that was spawned receives its program first, through a pipe of its own.
TEST_F(LoaderWaits, TheProgramOfALoaderIsNoOrder) {
  const auto program = pipe(model::ProcessId{1}, loader_);
  move(program.first, main_, Direction::Send, 0, 2);
  move(program.second, worker_, Direction::Receive, 0, 6);
  order(0, 10, 12);
  batch(0, 100, 110);
  order(1, 140, 150);
  batch(1, 170, 180);
  EXPECT_THAT(found(),
              UnorderedElementsAre(Found(worker_, 100, 151, main_, 140),
                                   Found(feeder_, Wait::kStart, 100, worker_, 100),
                                   Found(feeder_, 100, 170, worker_, 170)));
}

// The rank connects to a thread of the loader, which speaks first, as Python's servers of shared
// memory do.
TEST_F(LoaderWaits, AServerWaitsForItsClientsToConnect) {
  const auto rank = channel(model::ProcessId{1}, model::ChannelId{6});
  const auto served = channel(loader_, rank);
  move(served, feeder_, Direction::Send, 0, 200);
  move(rank, main_, Direction::Receive, 0, 210);
  trace_.slice(main_, model::SliceKind::DataLoad, "next", {150, 180});
  EXPECT_THAT(found(), UnorderedElementsAre(Found(feeder_, Wait::kStart, 200, main_, 180)));
}

// Two processes write to the pipe that the rank reads its batches from.
TEST_F(LoaderWaits, ABatchIsOfTheWriterWhoseTurnItWas) {
  order(0, 10, 12);
  const auto other = trace_.add(model::Channel{
      .processId = loader_, .kind = model::ChannelKind::Pipe, .peerChannelId = batches_.second});
  move(other, worker_, Direction::Send, 0, 60);
  move(batches_.first, feeder_, Direction::Send, 0, 100);
  move(batches_.second, main_, Direction::Receive, 0, 70);
  move(batches_.second, main_, Direction::Receive, 100, 110);
  trace_.slice(main_, model::SliceKind::DataLoad, "next", {50, 130});
  EXPECT_THAT(found(),
              ::testing::IsSupersetOf(
                  {Found(main_, 50, 71, worker_, 60), Found(main_, 50, 111, feeder_, 100)}));
}

}  // namespace
}  // namespace sonde::engine::waits
