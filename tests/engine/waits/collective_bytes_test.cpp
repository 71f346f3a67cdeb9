#include "analysis/engine/waits/collective_bytes.h"

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
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::Pair;

constexpr std::int64_t kUs = 1000;

// Two ranks with a connection. Each has a main thread, one that runs collectives and one that
// serves the socket. Times are in µs.
class CollectiveBytes : public ::testing::Test {
 protected:
  CollectiveBytes() {
    const auto host = trace_.add(model::Host{.name = "h"});
    for (const std::int64_t rank : {0, 1}) {
      Rank& of = ranks_[rank];
      of.process = trace_.add(model::Process{.hostId = host, .pid = 7 + rank, .rank = rank});
      of.main = trace_.add(model::Thread{.processId = of.process, .tid = 7 + rank});
      of.runs = trace_.add(model::Thread{.processId = of.process, .tid = 17 + rank});
      of.serves = trace_.add(model::Thread{.processId = of.process, .tid = 27 + rank});
      of.channel = trace_.add(model::Channel{.processId = of.process,
                                             .kind = model::ChannelKind::Tcp,
                                             .peerChannelId = model::ChannelId{2 - rank}});
      slice(of.main, model::SliceKind::Iteration, 0, 9000);
    }
  }
  void slice(model::ThreadId thread, model::SliceKind kind, std::int64_t begin, std::int64_t end) {
    trace_.slice(thread,
                 kind,
                 kind == model::SliceKind::Collective ? "all_reduce" : "step",
                 {begin * kUs, end * kUs});
  }
  void move(std::size_t rank,
            model::ThreadId thread,
            Direction direction,
            std::int64_t offset,
            std::int64_t startUs) {
    trace_.add(model::Transfer{.channelId = ranks_[rank].channel,
                               .threadId = thread,
                               .direction = direction,
                               .offset = offset,
                               .bytes = 100,
                               .startNs = startUs * kUs,
                               .durNs = kUs});
  }

  // Waiting thread, begin, end, waker, its time, all in µs, and the lag in µs.
  using Found = std::tuple<model::ThreadId,
                           std::int64_t,
                           std::int64_t,
                           model::ThreadId,
                           std::int64_t,
                           std::int64_t>;
  std::vector<Found> found() {
    trace_.finish();
    const auto trace = must(store::openTrace(path_));
    Lanes lanes = must(readLanes(trace));
    std::vector<model::ThreadId> threads(lanes.count);
    for (const auto& [id, facts] : lanes.threads)
      threads[facts.lane] = model::ThreadId{id};
    Waits waits = must(readWaits(trace, lanes, {}));
    for (const auto& [thread, name] : must(addCollectiveBytes(trace, lanes, {}, waits)))
      serving_.emplace_back(thread, name);
    std::vector<Found> all;
    for (const Wait& wait : waits.waits)
      all.emplace_back(threads[wait.lane],
                       wait.begin == Wait::kStart ? -1 : wait.begin / kUs,
                       wait.end / kUs,
                       threads[wait.waker],
                       wait.wakerNs / kUs,
                       wait.lagNs / kUs);
    return all;
  }

  struct Rank {
    model::ProcessId process;
    model::ThreadId main, runs, serves;
    model::ChannelId channel;
  };
  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  Rank ranks_[2];
  std::vector<std::pair<std::int64_t, std::int64_t>> serving_;  // thread and name
};

// Rank 0 sends two messages in its collective; rank 1's serving thread gets them 300 µs later.
TEST_F(CollectiveBytes, AReceiveAfterAPauseWaitedForItsBytes) {
  auto& [a, b] = ranks_;
  slice(a.runs, model::SliceKind::Collective, 100, 900);
  slice(b.runs, model::SliceKind::Collective, 100, 900);
  move(0, a.runs, Direction::Send, 0, 200);
  move(0, a.runs, Direction::Send, 100, 300);
  move(1, b.runs, Direction::Send, 0, 150);
  move(1, b.serves, Direction::Receive, 0, 500);
  move(1, b.serves, Direction::Receive, 100, 600);
  EXPECT_THAT(found(),
              IsSupersetOf({Found(b.serves, -1, 501, a.runs, 200, 301),
                            Found(b.serves, 501, 601, a.runs, 300, 301),
                            Found(b.runs, 151, 900, b.serves, 601, 0)}));
  EXPECT_THAT(serving_, ElementsAre(Pair(b.serves.value, ::testing::Gt(0))));
}

TEST_F(CollectiveBytes, AReceiveWithoutAPauseWaitedForNothingElse) {
  auto& [a, b] = ranks_;
  slice(a.runs, model::SliceKind::Collective, 100, 900);
  slice(b.runs, model::SliceKind::Collective, 100, 900);
  move(0, a.runs, Direction::Send, 0, 200);
  move(0, a.runs, Direction::Send, 100, 300);
  move(1, b.runs, Direction::Send, 0, 150);
  move(1, b.serves, Direction::Receive, 0, 500);
  move(1, b.serves, Direction::Receive, 100, 502);
  EXPECT_THAT(found(), Not(Contains(Found(b.serves, 501, 503, a.runs, 300, 203))));
}

// A thread that sends at once after the one that runs the collective was asked by that one. Later
// it sends what the socket did not take before.
TEST_F(CollectiveBytes, ASendAfterAPauseWaitedForTheCollective) {
  auto& [a, b] = ranks_;
  slice(a.runs, model::SliceKind::Collective, 100, 5000);
  move(0, a.runs, Direction::Send, 0, 200);
  move(0, a.serves, Direction::Send, 100, 400);
  move(0, a.serves, Direction::Send, 200, 3000);
  const auto all = found();
  EXPECT_THAT(all, Contains(Found(a.serves, -1, 400, a.runs, 201, 0)));
  for (const Found& each : all)
    EXPECT_NE(std::get<2>(each), 3000);
}

// The thread would else follow its main thread.
TEST_F(CollectiveBytes, CollectivesThatFollowAtOnceWereInAQueue) {
  auto& [a, b] = ranks_;
  slice(a.runs, model::SliceKind::Collective, 100, 900);
  slice(a.runs, model::SliceKind::Collective, 1300, 1900);
  slice(a.runs, model::SliceKind::Collective, 4000, 4900);
  move(0, a.runs, Direction::Send, 0, 200);
  move(0, a.serves, Direction::Send, 100, 400);
  const auto all = found();
  EXPECT_THAT(all, Not(Contains(Found(a.runs, 900, 1300, a.main, 1300, 0))));
  EXPECT_THAT(all, Contains(Found(a.runs, 1900, 4000, a.main, 4000, 0)));
}

TEST_F(CollectiveBytes, AThreadIsNotServingIfItsSocketHasNoCollectives) {
  auto& [a, b] = ranks_;
  move(0, a.main, Direction::Send, 0, 200);
  move(0, a.serves, Direction::Send, 100, 400);
  slice(b.runs, model::SliceKind::Collective, 100, 900);
  found();
  EXPECT_THAT(serving_, IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::waits
