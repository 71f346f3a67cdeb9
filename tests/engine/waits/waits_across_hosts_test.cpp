#include "analysis/engine/waits/waits.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::waits {
namespace {

using align::JobClock;
using test::must;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kAheadNs = 5000;  // the second host's clock, of the first one's
constexpr std::int64_t kJobNs = 1000;    // the job's clock, of the first host's

// Two hosts with a thread each. The first one sends at 100; the second one receives from 50 to 120.
class WaitsAcrossHosts : public ::testing::Test {
 protected:
  WaitsAcrossHosts() {
    for (const std::int64_t rank : {0, 1}) {
      const auto host = trace_.add(model::Host{.name = "h", .bootId = rank == 0 ? "a" : "b"});
      processes_.push_back(trace_.add(model::Process{.hostId = host, .pid = 7, .rank = rank}));
      threads_.push_back(trace_.add(model::Thread{.processId = processes_.back(), .tid = 7}));
      ThreadFacts& facts = lanes_.threads[threads_.back().value];
      facts.processId = processes_.back().value;
      facts.lane = lanes_.add();
    }
    trace_.add(model::ClockMap{model::HostId{1}, 0, kJobNs, 0, 0});
  }
  std::int64_t there(std::int64_t ns) const { return ns + kAheadNs; }
  void mapSecond(std::int64_t errorNs = 0) {
    trace_.add(model::ClockMap{model::HostId{2}, 0, kJobNs - kAheadNs + errorNs, 0, 0});
  }

  void connect(model::ChannelKind kind) {
    const auto ours = trace_.add(model::Channel{
        .processId = processes_[0], .kind = kind, .peerChannelId = model::ChannelId{2}});
    const auto theirs =
        trace_.add(model::Channel{.processId = processes_[1], .kind = kind, .peerChannelId = ours});
    trace_.add(model::Transfer{.channelId = ours,
                               .threadId = threads_[0],
                               .direction = model::Direction::Send,
                               .bytes = 10,
                               .startNs = 100,
                               .durNs = 5,
                               .tag = 3});
    const auto call =
        trace_.slice(threads_[1], model::SliceKind::Api, "receive", {there(50), there(120)});
    trace_.add(model::Transfer{.channelId = theirs,
                               .threadId = threads_[1],
                               .direction = model::Direction::Receive,
                               .bytes = 10,
                               .startNs = there(50),
                               .durNs = 70,
                               .tag = 3,
                               .sliceId = call});
  }
  void meet() {
    for (const std::size_t rank : {0U, 1U}) {
      const std::int64_t begin = rank == 0 ? 200 : there(250);
      const std::int64_t end = rank == 0 ? 300 : there(301);
      const auto group = trace_.add(model::Communicator{
          .processId = processes_[rank], .jobKey = "world", .size = 2, .backend = "mpi"});
      const auto call =
          trace_.slice(threads_[rank], model::SliceKind::Collective, "allreduce", {begin, end});
      trace_.add(model::Collective{.processId = processes_[rank],
                                   .communicatorId = group,
                                   .seq = 0,
                                   .sliceId = call,
                                   .startNs = begin,
                                   .durNs = end - begin});
    }
  }
  Waits read(bool onJobClock = true) {
    trace_.finish();
    const auto trace = must(store::openTrace(path_));
    const JobClock clock = onJobClock ? must(JobClock::read(trace)) : JobClock();
    return must(readWaits(trace, lanes_, clock));
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  std::vector<model::ProcessId> processes_;
  std::vector<model::ThreadId> threads_;
  Lanes lanes_;
};

class WaitsForMessages : public WaitsAcrossHosts,
                         public ::testing::WithParamInterface<model::ChannelKind> {};

TEST_P(WaitsForMessages, LeadToOtherHostsOnTheJobsClock) {
  mapSecond();
  connect(GetParam());
  const Waits found = read();
  ASSERT_THAT(found.waits, SizeIs(1));
  EXPECT_EQ(found.waits[0].lane, 1);
  EXPECT_EQ(found.waits[0].waker, 0);
  EXPECT_EQ(found.waits[0].begin, kJobNs + 50);
  EXPECT_EQ(found.waits[0].end, kJobNs + 120);
  EXPECT_EQ(found.waits[0].wakerNs, kJobNs + 100);
}

TEST_P(WaitsForMessages, OfAHostThatIsNotMappedAreUnknown) {
  connect(GetParam());
  EXPECT_THAT(read().waits, IsEmpty());
}

TEST_P(WaitsForMessages, StayInsideHostsOnTheirOwnClocks) {
  mapSecond();
  connect(GetParam());
  EXPECT_THAT(read(false).waits, IsEmpty());
}

TEST_P(WaitsForMessages, ThatEndBeforeTheMessageWasSentAreCounted) {
  mapSecond(-40);
  connect(GetParam());
  const Waits found = read();
  EXPECT_THAT(found.waits, IsEmpty());
  EXPECT_EQ(found.early.count, 1);
  EXPECT_EQ(found.early.worstNs, 20);
}

INSTANTIATE_TEST_SUITE_P(Kinds,
                         WaitsForMessages,
                         ::testing::Values(model::ChannelKind::Tcp, model::ChannelKind::Mpi));

TEST_F(WaitsAcrossHosts, RanksOfMappedHostsMeet) {
  mapSecond();
  meet();
  const Waits found = read();
  ASSERT_THAT(found.meetings, SizeIs(1));
  const Meeting& meeting = found.meetings[0];
  ASSERT_THAT(meeting.arrivals, SizeIs(2));
  ASSERT_THAT(meeting.waiting, SizeIs(2));
  EXPECT_EQ(meeting.arrivals[meeting.arrivals[0].lane == 1 ? 0 : 1].at, kJobNs + 250);
  EXPECT_EQ(meeting.waiting[meeting.waiting[0].lane == 1 ? 0 : 1].end, kJobNs + 301);
}

TEST_F(WaitsAcrossHosts, RanksMeetOnlyInTheirHostWithoutAMap) {
  meet();
  EXPECT_THAT(read().meetings, IsEmpty());
}

TEST_F(WaitsAcrossHosts, RanksMeetOnlyInTheirHostOnHostClocks) {
  mapSecond();
  meet();
  EXPECT_THAT(read(false).meetings, IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::waits
