#include "analysis/engine/metrics/traffic.h"

#include "tests/engine/metrics/rank_trace.h"

#include <gmock/gmock.h>

namespace sonde::engine::metrics {
namespace {

using test::must;
using ::testing::SizeIs;

class Traffic : public test::RankTrace {
 protected:
  model::ChannelId channel(model::ChannelKind kind, const char* local, const char* remote) {
    return trace_->add(
        model::Channel{.processId = process_, .kind = kind, .local = local, .remote = remote});
  }
  void move(model::ChannelId id,
            model::Direction direction,
            std::int64_t offset,
            std::int64_t bytes) {
    trace_->add(
        model::Transfer{.channelId = id, .direction = direction, .offset = offset, .bytes = bytes});
  }
  // Sets each channel's other end to the one that `peer`, an SQL expression, names.
  store::Database opened(const std::string& peer) {
    must(trace_->writer().commit());
    must(trace_->writer().begin());
    must(trace_->writer().database().exec("UPDATE channel SET peer_channel_id = " + peer));
    return open();
  }
  Conservation conservation(const std::string& peer) {
    const auto trace = opened(peer);
    return must(conservationOf(trace));
  }
};

TEST_F(Traffic, ConservationFindsBytesThatNeverArrived) {
  process(0, 1);
  const auto a = channel(model::ChannelKind::Tcp, "1:1", "2:2");
  const auto b = channel(model::ChannelKind::Tcp, "2:2", "1:1");
  move(a, model::Direction::Send, 0, 100);
  move(a, model::Direction::Send, 100, 50);
  move(b, model::Direction::Receive, 0, 30);  // short reads
  move(b, model::Direction::Receive, 30, 110);
  move(b, model::Direction::Send, 0, 5);
  move(a, model::Direction::Receive, 0, 5);
  const Conservation sum = conservation("3 - id");
  EXPECT_EQ(sum.pairs, 1);
  EXPECT_EQ(sum.exactPairs, 1);
  EXPECT_EQ(sum.agreeingPairs, 0);
  EXPECT_EQ(sum.sentBytes, 155);
  EXPECT_EQ(sum.missingBytes, 10);
  EXPECT_EQ(sum.unsentBytes, 0);
}

TEST_F(Traffic, ConservationOfATrimmedTraceLeavesOutWhatOneEndLost) {
  process(0, 1);
  const auto a = channel(model::ChannelKind::Tcp, "1:1", "2:2");
  const auto b = channel(model::ChannelKind::Tcp, "2:2", "1:1");
  for (const std::int64_t offset : {100, 200, 300, 400, 600})
    move(a, model::Direction::Send, offset, 100);
  for (const std::int64_t offset : {250, 300, 450, 500})
    move(b, model::Direction::Receive, offset, 50);
  move(b, model::Direction::Send, 70, 5);  // missing at the other end
  trace_->meta("trimmed", "iterations 3-4");
  const Conservation sum = conservation("3 - id");
  EXPECT_EQ(sum.pairs, 1);
  EXPECT_EQ(sum.agreeingPairs, 0);
  EXPECT_EQ(sum.missingBytes, 100);  // 350-450; bytes before 250 and after 550 were cut away
  EXPECT_EQ(sum.unsentBytes, 50);    // 500-550
}

TEST_F(Traffic, ConservationCountsWhatMovedNothingAndLeavesOutWhatIsInexact) {
  process(0, 1);
  channel(model::ChannelKind::Tcp, "1:1", "2:2");
  channel(model::ChannelKind::Tcp, "2:2", "1:1");
  const auto c = channel(model::ChannelKind::Tcp, "1:3", "2:4");
  channel(model::ChannelKind::Tcp, "2:4", "1:3");
  model::Transfer row;
  row.channelId = c;
  row.direction = model::Direction::Send;
  row.bytes = 10;
  row.exact = false;
  trace_->add(row);
  const Conservation sum = conservation("CASE WHEN id < 3 THEN 3 - id ELSE 7 - id END");
  EXPECT_EQ(sum.pairs, 2);
  EXPECT_EQ(sum.exactPairs, 1);
  EXPECT_EQ(sum.agreeingPairs, 1);
  EXPECT_EQ(sum.sentBytes, 0);
}

// A job's queue with four writers: each of them names the reader, but the reader only the first.
TEST_F(Traffic, TrafficOfASharedPipeIsWithAllThatMovedBytes) {
  iteration(process(0, 1), 0, 0, 100);
  const auto reader = channel(model::ChannelKind::Pipe, "pipe:15:7:r", "pipe:15:7:w");
  channel(model::ChannelKind::Pipe, "pipe:15:7:w", "pipe:15:7:r");  // its own, unused
  const auto other = channel(model::ChannelKind::Tcp, "1:1", "2:2");
  for (const std::int64_t writer : {0, 1, 2, 3}) {
    process(0, 10 + writer);
    const auto id = channel(model::ChannelKind::Pipe, "pipe:15:7:w", "pipe:15:7:r");
    move(id, model::Direction::Send, writer * 100, 100);
  }
  move(reader, model::Direction::Receive, 0, 250);
  move(reader, model::Direction::Receive, 250, 150);
  process({}, 77);
  const auto server = channel(model::ChannelKind::Tcp, "2:2", "1:1");
  move(other, model::Direction::Send, 0, 30);
  const auto trace = opened(
      "CASE id WHEN 3 THEN 8 WHEN 8 THEN 3 WHEN 2 THEN NULL WHEN 1 THEN 4 "
      "ELSE 1 END");
  EXPECT_EQ(server.value, 8);
  const auto traffic = must(trafficOf(trace, must(readRanks(trace))));
  ASSERT_THAT(traffic, SizeIs(2));
  EXPECT_EQ(traffic[0].rank, 0);
  EXPECT_EQ(traffic[0].process, "rank 0");
  EXPECT_EQ(traffic[0].peer, "4 processes");
  EXPECT_EQ(traffic[0].receivedBytes, 400);
  EXPECT_EQ(traffic[0].sentBytes, 0);
  EXPECT_EQ(traffic[0].transfers, 2);
  EXPECT_EQ(traffic[0].channels, 1);
  EXPECT_EQ(traffic[1].peer, "process 77");
  EXPECT_EQ(traffic[1].sentBytes, 30);
}

TEST_F(Traffic, ConservationTakesTheWritersOfAPipeTogether) {
  process(0, 1);
  const auto first = channel(model::ChannelKind::Pipe, "pipe:15:7:w", "pipe:15:7:r");
  const auto second = channel(model::ChannelKind::Pipe, "pipe:15:7:w", "pipe:15:7:r");
  const auto reader = channel(model::ChannelKind::Pipe, "pipe:15:7:r", "pipe:15:7:w");
  move(first, model::Direction::Send, 0, 10);
  move(second, model::Direction::Send, 10, 20);
  move(reader, model::Direction::Receive, 0, 30);
  const Conservation sum = conservation("CASE id WHEN 3 THEN 1 ELSE 3 END");
  EXPECT_EQ(sum.pairs, 1);
  EXPECT_EQ(sum.agreeingPairs, 1);
  EXPECT_EQ(sum.sentBytes, 30);
}

TEST_F(Traffic, NothingIsMissingOfConnectionsWhoseProbeWasOffForAWhile) {
  process(0, 1);
  const auto sender = channel(model::ChannelKind::Tcp, "a", "b");
  channel(model::ChannelKind::Tcp, "b", "a");
  move(sender, model::Direction::Send, 0, 10);
  EXPECT_EQ(conservation("3 - id").missingBytes, 10);
  auto trace = must(store::Database::open(folder_ / "t.sonde", store::Access::ReadWrite));
  must(
      trace.exec("INSERT INTO thread(process_id, tid) VALUES(1, 9); INSERT "
                 "INTO probe_call(thread_id, probe, api, recorded, "
                 "unrecorded) VALUES(1, 'net', '', 0, 7)"));
  const Conservation sum = must(conservationOf(trace));
  EXPECT_EQ(sum.pairs, 1);
  EXPECT_EQ(sum.exactPairs, 0);
  EXPECT_EQ(sum.missingBytes, 0);
}

}  // namespace
}  // namespace sonde::engine::metrics
