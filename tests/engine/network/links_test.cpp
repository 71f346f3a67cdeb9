#include "analysis/engine/network/links.h"

#include "tests/engine/metrics/rank_trace.h"

#include <gmock/gmock.h>

namespace sonde::engine::network {
namespace {

using model::Direction;
using test::must;
using ::testing::SizeIs;

class LinksTest : public test::RankTrace {
 protected:
  // A channel of the process that was added last.
  model::ChannelId channel(model::ChannelKind kind, const char* local, const char* remote) {
    return trace_->add(
        model::Channel{.processId = process_, .kind = kind, .local = local, .remote = remote});
  }
  struct Moved {
    std::int64_t offset;
    std::int64_t bytes;
    std::int64_t startNs;
    std::int64_t durNs;
    model::OptionalInt tag{};
  };
  void move(model::ChannelId id, Direction direction, const Moved& of) {
    trace_->add(model::Transfer{.channelId = id,
                                .direction = direction,
                                .offset = of.offset,
                                .bytes = of.bytes,
                                .startNs = of.startNs,
                                .durNs = of.durNs,
                                .tag = of.tag});
  }
  // The first two channels are the ends of one connection.
  Links read() { return linksOf(finish()); }
  store::Database finish() {
    must(trace_->writer().commit());
    must(trace_->writer().begin());
    must(trace_->writer().database().exec(
        "UPDATE channel SET peer_channel_id = 3 - id WHERE id < 3"));
    return open();
  }
  static Links linksOf(const store::Database& trace,
                       const std::optional<metrics::Interval>& within = {}) {
    return must(readLinks(trace, must(metrics::readRanks(trace)), within));
  }
  void twoRanks(model::ChannelKind kind) {
    iteration(process(0, 10), 0, 0, 10'000);
    zero_ = channel(kind, "1:1", "2:2");
    iteration(process(1, 11), 0, 0, 10'000);
    one_ = channel(kind, "2:2", "1:1");
  }

  model::ChannelId zero_;
  model::ChannelId one_;
};

TEST_F(LinksTest, CountsBytesOnceAndTimesThemFromSendToReceive) {
  twoRanks(model::ChannelKind::Tcp);
  move(zero_, Direction::Send, {0, 100, 1000, 10});
  move(zero_, Direction::Send, {100, 50, 2000, 10});
  move(one_, Direction::Receive, {0, 30, 900, 150});  // the first bytes of the first call
  move(one_, Direction::Receive, {30, 120, 1100, 1400});
  move(one_, Direction::Send, {0, 7, 3000, 20});
  move(zero_, Direction::Receive, {0, 7, 3000, 50});
  const Links links = read();
  ASSERT_THAT(links.ends, SizeIs(2));
  EXPECT_EQ(links.ends[1].name, "rank 1");
  ASSERT_THAT(links.links, SizeIs(2));
  const Link& there = links.links[0];
  EXPECT_EQ(there.from, 0U);
  EXPECT_EQ(there.to, 1U);
  EXPECT_EQ(there.bytes, 150);
  EXPECT_EQ(there.messages, 2);
  EXPECT_EQ(there.busyNs, 1500);  // from 1000 to 2500
  EXPECT_EQ(there.medianLatencyNs, 500);
  EXPECT_EQ(there.longest, (metrics::Interval{1000, 2500}));
  EXPECT_NEAR(*there.bytesPerSecond(), 150e9 / 1500, 1e-3);
  const Link& back = links.links[1];
  EXPECT_EQ(back.from, 1U);
  EXPECT_EQ(back.bytes, 7);
  EXPECT_EQ(back.medianLatencyNs, 50);
}

TEST_F(LinksTest, ARangeHasTheWholeMessagesThatOverlapIt) {
  twoRanks(model::ChannelKind::Tcp);
  move(zero_, Direction::Send, {0, 100, 1000, 10});
  move(one_, Direction::Receive, {0, 100, 1100, 400});
  move(zero_, Direction::Send, {100, 50, 2000, 10});
  move(one_, Direction::Receive, {100, 50, 2000, 100});
  move(one_, Direction::Send, {0, 7, 3000, 0});
  const store::Database trace = finish();
  const auto found = [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::pair<std::int64_t, std::int64_t>> bytesAndBusy;
    for (const Link& each : linksOf(trace, metrics::Interval{begin, end}).links)
      bytesAndBusy.emplace_back(each.bytes, each.busyNs);
    return bytesAndBusy;
  };
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(found(1400, 1450), (Pairs{{100, 500}})) << "while it is on its way";
  EXPECT_EQ(found(1499, 2001), (Pairs{{150, 600}}));
  EXPECT_EQ(found(1500, 2000), Pairs{}) << "one has arrived, the next has not left";
  EXPECT_EQ(found(3000, 3001), (Pairs{{7, 0}})) << "an instant";
  EXPECT_EQ(found(2999, 3000), Pairs{});
}

TEST_F(LinksTest, MatchesMessagesOfMpiByTagAndNumber) {
  twoRanks(model::ChannelKind::Mpi);
  move(zero_, Direction::Send, {0, 100, 1000, 10, 5});
  move(zero_, Direction::Send, {0, 100, 1200, 10, 6});
  move(one_, Direction::Receive, {0, 100, 1000, 700, 6});
  move(one_, Direction::Receive, {0, 100, 1700, 300, 5});
  const Links links = read();
  ASSERT_THAT(links.links, SizeIs(1));
  EXPECT_EQ(links.links[0].bytes, 200);
  EXPECT_EQ(links.links[0].medianLatencyNs, 500);  // of 500 and 1000
  EXPECT_EQ(links.links[0].busyNs, 1000);
}

TEST_F(LinksTest, OfAnUnrecordedEndHasTheCallsOfTheOther) {
  twoRanks(model::ChannelKind::Tcp);
  const auto store = channel(model::ChannelKind::Tcp, "2:9", "9:9");
  move(store, Direction::Receive, {0, 40, 100, 25});
  const Links links = read();
  ASSERT_THAT(links.links, SizeIs(1));
  EXPECT_EQ(links.ends[links.links[0].from].name, "9:9");
  EXPECT_EQ(links.ends[links.links[0].to].rank, 1);
  EXPECT_EQ(links.links[0].busyNs, 25);
  EXPECT_FALSE(links.links[0].medianLatencyNs);
}

TEST_F(LinksTest, CountsSendsOfALibraryOnlyWhereNothingElseMoved) {
  twoRanks(model::ChannelKind::Tcp);
  move(one_, Direction::Send, {0, 7, 3000, 20});
  const auto one = process_;
  const model::ProcessId zero{one.value - 1};
  const auto call = [&](model::ProcessId process, model::CollectiveOp op, std::int64_t peer) {
    const auto group = trace_->add(
        model::Communicator{.processId = process, .jobKey = "g", .size = 2, .position = 1 - peer});
    trace_->add(model::CommunicatorMember{group, 0, 0, zero});
    trace_->add(model::CommunicatorMember{group, 1, 1, one});
    trace_->add(model::Collective{.processId = process,
                                  .communicatorId = group,
                                  .seq = 3,
                                  .op = op,
                                  .bytes = 64,
                                  .peer = peer,
                                  .startNs = 100 * (2 - peer),
                                  .durNs = 300});
  };
  call(one, model::CollectiveOp::Send, 0);     // the bytes of the transfer
  call(zero, model::CollectiveOp::Send, 1);    // 100 to 400
  call(one, model::CollectiveOp::Receive, 0);  // 200 to 500
  const Links links = read();
  ASSERT_THAT(links.links, SizeIs(2));
  EXPECT_EQ(links.links[1].kind, "tcp");
  EXPECT_EQ(links.links[0].kind, "call");
  EXPECT_EQ(links.links[0].bytes, 64);
  EXPECT_EQ(links.links[0].medianLatencyNs, 400);
}

TEST_F(LinksTest, AreEmptyWithoutTransfers) {
  twoRanks(model::ChannelKind::Tcp);
  const Links links = read();
  EXPECT_TRUE(links.links.empty());
  EXPECT_TRUE(links.ends.empty());
}

}  // namespace
}  // namespace sonde::engine::network
