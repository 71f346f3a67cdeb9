#include "analysis/engine/merge/join_ranks.h"

#include "analysis/engine/merge/transfer_collectives.h"
#include "analysis/store/statement.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

namespace sonde::engine::merge {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class JoinRanks : public ::testing::Test {
 protected:
  JoinRanks() {
    for (model::HostId& host : hosts_) {
      model::Host row;
      row.name = "h";
      host = trace_->add(row);
    }
  }

  model::ProcessId process(std::size_t host,
                           std::optional<std::int64_t> rank = {},
                           std::int64_t startNs = 0,
                           std::int64_t endNs = 1000) {
    model::Process row;
    row.hostId = hosts_[host];
    row.rank = rank;
    row.startNs = startNs;
    row.endNs = endNs;
    return trace_->add(row);
  }
  std::int64_t channel(model::ProcessId process,
                       model::ChannelKind kind,
                       const char* local,
                       const char* remote,
                       std::int64_t openNs = 0) {
    model::Channel row;
    row.processId = process;
    row.kind = kind;
    row.local = local;
    row.remote = remote;
    row.openNs = openNs;
    return trace_->add(row).value;
  }
  void move(std::int64_t channel,
            model::Direction direction,
            std::int64_t bytes,
            std::int64_t atNs) {
    model::Transfer row;
    row.channelId = model::ChannelId{channel};
    row.direction = direction;
    row.bytes = bytes;
    row.startNs = atNs;
    row.durNs = 1;
    trace_->add(row);
  }
  // channel id → peer id, for those that have one.
  std::map<std::int64_t, std::int64_t> matched() {
    auto database = must(store::TraceWriter::release(std::move(trace_->writer())));
    must(matchChannels(database));
    must(matchChannels(database));  // may be run again
    std::map<std::int64_t, std::int64_t> peers;
    auto rows = must(database.prepare(
        "SELECT id, peer_channel_id FROM channel WHERE peer_channel_id IS NOT NULL"));
    while (must(rows.step()))
      peers[rows.integer(0)] = rows.integer(1);
    return peers;
  }

  static constexpr auto kSend = model::Direction::Send;
  static constexpr auto kReceive = model::Direction::Receive;

  test::TemporaryFolder folder_;
  std::optional<test::TraceBuilder> trace_{std::in_place, folder_ / "t.sonde"};
  model::HostId hosts_[2];
};

TEST_F(JoinRanks, PairsExchangedAddressesAcrossHosts) {
  const auto a = channel(process(0), model::ChannelKind::Tcp, "10.0.0.1:1", "10.0.0.2:2");
  const auto b =
      channel(process(1), model::ChannelKind::Tcp, "10.0.0.2:2", "10.0.0.1:1", 999'999'999'999);
  channel(process(1), model::ChannelKind::Tcp, "10.0.0.2:3", "10.0.0.1:1");
  EXPECT_THAT(matched(), ElementsAre(Pair(a, b), Pair(b, a)));
}

// A UNIX socket that connects sees no name before the other end accepts.
TEST_F(JoinRanks, AnEndWithoutAPeerNamePairsWithTheEndThatNamesIt) {
  const auto client = channel(process(0), model::ChannelKind::Unix, "unix:5", "");
  const auto server = channel(process(0), model::ChannelKind::Unix, "unix:6", "unix:5");
  channel(process(1), model::ChannelKind::Unix, "unix:5", "");
  channel(process(0), model::ChannelKind::Unix, "unix:7", "");
  EXPECT_THAT(matched(), ElementsAre(Pair(client, server), Pair(server, client)));
}

TEST_F(JoinRanks, EndsOfNcclsChannelsPairAcrossHosts) {
  const auto send =
      channel(process(0), model::ChannelKind::Nccl, "nccl:7/0/0>1/send", "nccl:7/0/0>1/receive");
  const auto receive =
      channel(process(1), model::ChannelKind::Nccl, "nccl:7/0/0>1/receive", "nccl:7/0/0>1/send");
  channel(process(1), model::ChannelKind::Nccl, "nccl:7/1/0>1/receive", "nccl:7/1/0>1/send");
  EXPECT_THAT(matched(), UnorderedElementsAre(Pair(send, receive), Pair(receive, send)));
}

// NCCL reports the collectives of its transfers, and its calls return before their collectives end.
TEST_F(JoinRanks, TransfersAreOfNcclsCollectivesOnlyWhereItSaysSo) {
  const model::ProcessId rank = process(0);
  model::Thread thread;
  thread.processId = rank;
  thread.id = trace_->add(thread);
  model::Communicator communicator;
  communicator.processId = rank;
  communicator.jobKey = "nccl:7";
  communicator.backend = "nccl";
  model::Slice call;
  call.threadId = thread.id;
  call.kind = model::SliceKind::Collective;
  call.category = "nccl";
  call.nameId = trace_->name("ncclAllReduce");
  call.startNs = 100;
  call.durNs = 5;
  model::Collective row;
  row.processId = rank;
  row.communicatorId = trace_->add(communicator);
  row.sliceId = trace_->add(call);
  row.startNs = 100;
  row.durNs = 100;
  const model::CollectiveId collective = trace_->add(row);
  model::Transfer transfer;
  transfer.threadId = thread.id;
  transfer.startNs = 150;
  transfer.durNs = 10;
  transfer.channelId = {channel(rank, model::ChannelKind::Tcp, "10.0.0.1:1", "10.0.0.2:2")};
  trace_->add(transfer);
  transfer.channelId = {
      channel(rank, model::ChannelKind::Nccl, "nccl:7/0/0>1/send", "nccl:7/0/0>1/receive")};
  transfer.startNs = 500;
  transfer.collectiveId = collective;
  trace_->add(transfer);
  auto database = must(store::TraceWriter::release(std::move(trace_->writer())));
  must(assignCollectives(database));
  auto rows = must(database.prepare("SELECT coalesce(collective_id, 0) FROM transfer ORDER BY id"));
  ASSERT_TRUE(must(rows.step()));
  EXPECT_EQ(rows.integer(0), 0);
  ASSERT_TRUE(must(rows.step()));
  EXPECT_EQ(rows.integer(0), collective.value);
}

TEST_F(JoinRanks, LoopbackPipesAndUnixStreamsStayOnTheirHost) {
  channel(process(0), model::ChannelKind::Tcp, "127.0.0.1:1", "127.0.0.1:2");
  channel(process(1), model::ChannelKind::Tcp, "127.0.0.1:2", "127.0.0.1:1");
  channel(process(0), model::ChannelKind::Unix, "unix:5", "unix:6");
  channel(process(1), model::ChannelKind::Unix, "unix:6", "unix:5");
  const auto v6 = channel(process(0), model::ChannelKind::Tcp, "[::1]:1", "[::1]:2");
  channel(process(1), model::ChannelKind::Tcp, "[::1]:2", "[::1]:1");
  const auto peer = channel(process(0), model::ChannelKind::Tcp, "[::1]:2", "[::1]:1");
  EXPECT_THAT(matched(), ElementsAre(Pair(v6, peer), Pair(peer, v6)));
}

TEST_F(JoinRanks, AddressesUsedAgainPairByTime) {
  const auto client = process(0);
  const auto server = process(0);
  std::int64_t ends[2][2];
  for (std::int64_t round : {1, 0}) {  // written in another order than they happened
    ends[round][0] =
        channel(client, model::ChannelKind::Tcp, "10.0.0.1:1", "10.0.0.1:2", round * 500);
    ends[round][1] =
        channel(server, model::ChannelKind::Tcp, "10.0.0.1:2", "10.0.0.1:1", round * 500 + 1);
    move(ends[round][0], kSend, 10, round * 500 + 100);
    move(ends[round][1], kReceive, 10, round * 500 + 101);
    move(ends[round][1], kSend, 10, round * 500 + 102);
    move(ends[round][0], kReceive, 10, round * 500 + 103);
  }
  // A third use without a recorded other end gets no peer.
  const auto alone = channel(client, model::ChannelKind::Tcp, "10.0.0.1:1", "10.0.0.1:2", 5000);
  move(alone, kSend, 10, 5100);
  move(alone, kReceive, 10, 5101);
  auto peers = matched();
  EXPECT_EQ(peers.size(), 4U);
  for (int round : {0, 1}) {
    EXPECT_EQ(peers[ends[round][0]], ends[round][1]);
    EXPECT_EQ(peers[ends[round][1]], ends[round][0]);
  }
}

TEST_F(JoinRanks, AddressesUsedAgainPairWhenAReceiverComesLate) {
  const auto client = process(0);
  const auto server = process(0);
  std::int64_t ends[2][2];
  for (std::int64_t round : {1, 0}) {
    ends[round][0] =
        channel(client, model::ChannelKind::Tcp, "10.0.0.1:1", "10.0.0.1:2", round * 500);
    ends[round][1] =
        channel(server, model::ChannelKind::Tcp, "10.0.0.1:2", "10.0.0.1:1", round * 500 + 50);
    move(ends[round][0], kSend, 10, round * 500 + 10);
    move(ends[round][1], kReceive, 10, round * 500 + 60);
  }
  EXPECT_THAT(matched(),
              UnorderedElementsAre(Pair(ends[0][0], ends[0][1]),
                                   Pair(ends[0][1], ends[0][0]),
                                   Pair(ends[1][0], ends[1][1]),
                                   Pair(ends[1][1], ends[1][0])));
}

// Unnamed jobs of a launcher have equal keys.
TEST_F(JoinRanks, OfTwoJobsOfMpiTheRanksOfEachPair) {
  std::int64_t senders[2] = {};
  std::int64_t receivers[2] = {};
  for (const std::int64_t job : {0, 1}) {
    const auto from = process(0, 0, job * 1000, job * 1000 + 900);
    const auto to = process(0, 1, job * 1000, job * 1000 + 900);
    senders[job] = channel(from, model::ChannelKind::Mpi, "mpi:k.0/0/1", "mpi:k.0/1/0");
    receivers[job] = channel(to, model::ChannelKind::Mpi, "mpi:k.0/1/0", "mpi:k.0/0/1");
    move(senders[job], kSend, job == 0 ? 500 : 100, job * 1000 + 400);
    move(receivers[job], kReceive, job == 0 ? 100 : 500, job * 1000 + 500);
  }
  EXPECT_THAT(matched(),
              UnorderedElementsAre(Pair(senders[0], receivers[0]),
                                   Pair(receivers[0], senders[0]),
                                   Pair(senders[1], receivers[1]),
                                   Pair(receivers[1], senders[1])));
}

// A pipe to a worker: after fork, parent and child both hold both ends; the child writes and the
// parent reads.
TEST_F(JoinRanks, APipeThatSeveralHoldPairsTheEndsThatMoveBytes) {
  const auto parent = process(0);
  const auto child = process(0);
  const auto parentReads = channel(parent, model::ChannelKind::Pipe, "pipe:9:7:r", "pipe:9:7:w");
  channel(parent, model::ChannelKind::Pipe, "pipe:9:7:w", "pipe:9:7:r");
  channel(child, model::ChannelKind::Pipe, "pipe:9:7:r", "pipe:9:7:w");
  const auto childWrites = channel(child, model::ChannelKind::Pipe, "pipe:9:7:w", "pipe:9:7:r");
  move(childWrites, kSend, 100, 50);
  move(parentReads, kReceive, 100, 60);
  auto peers = matched();
  EXPECT_EQ(peers[parentReads], childWrites);
  EXPECT_EQ(peers[childWrites], parentReads);
}

TEST_F(JoinRanks, SeveralWritersOfAPipePointAtItsReader) {
  const auto reads = channel(process(0), model::ChannelKind::Pipe, "pipe:9:7:r", "pipe:9:7:w");
  const auto first = channel(process(0), model::ChannelKind::Pipe, "pipe:9:7:w", "pipe:9:7:r");
  const auto second = channel(process(0), model::ChannelKind::Pipe, "pipe:9:7:w", "pipe:9:7:r");
  move(first, kSend, 90, 1);
  move(second, kSend, 10, 2);  // it was open for longer, but moved less
  move(reads, kReceive, 100, 3);
  EXPECT_THAT(matched(), ElementsAre(Pair(reads, first), Pair(first, reads), Pair(second, reads)));
}

TEST_F(JoinRanks, WritersOfAPipeThatAreGoneBeforeItIsReadPointAtItsReader) {
  const auto first = channel(process(0), model::ChannelKind::Pipe, "pipe:9:7:w", "pipe:9:7:r", 0);
  const auto second = channel(process(0), model::ChannelKind::Pipe, "pipe:9:7:w", "pipe:9:7:r", 5);
  const auto reads = channel(process(0), model::ChannelKind::Pipe, "pipe:9:7:r", "pipe:9:7:w", 50);
  const auto idle = channel(process(0), model::ChannelKind::Pipe, "pipe:9:7:r", "pipe:9:7:w", 0);
  move(first, kSend, 1000, 1);
  move(second, kSend, 1000, 6);
  move(reads, kReceive, 2000, 60);
  auto peers = matched();
  EXPECT_EQ(peers.count(idle), 0U);
  EXPECT_THAT(peers, ElementsAre(Pair(first, reads), Pair(second, reads), Pair(reads, first)));
}

TEST_F(JoinRanks, BothWaysOfASocketPairThatSeveralHoldAreSeenApart) {
  const auto asks = channel(process(0), model::ChannelKind::Unix, "unix:5", "unix:6");
  const auto listens = channel(process(0), model::ChannelKind::Unix, "unix:5", "unix:6");
  const auto answers = channel(process(0), model::ChannelKind::Unix, "unix:6", "unix:5");
  const auto serves = channel(process(0), model::ChannelKind::Unix, "unix:6", "unix:5");
  move(asks, kSend, 100, 1);
  move(serves, kReceive, 100, 2);
  move(answers, kSend, 100, 3);
  move(listens, kReceive, 100, 4);
  EXPECT_THAT(
      matched(),
      ElementsAre(
          Pair(asks, serves), Pair(listens, answers), Pair(answers, listens), Pair(serves, asks)));
}

TEST_F(JoinRanks, CommunicatorsMadeAgainJoinByOrdinal) {
  std::int64_t made[2][2];
  for (std::int64_t rank : {0, 1}) {
    const auto owner = process(0, rank);
    for (int ordinal : {0, 1}) {
      model::Communicator row;
      row.processId = owner;
      row.jobKey = "world";
      row.size = 2;
      if (rank == 0)
        row.position = 0;  // rank 1's probe did not find its position
      const auto id = trace_->add(row);
      made[rank][ordinal] = id.value;
      for (std::int64_t member : {0, 1})
        trace_->add(model::CommunicatorMember{id, member, member, {}});
    }
  }
  auto database = must(store::TraceWriter::release(std::move(trace_->writer())));
  must(joinCommunicators(database));
  EXPECT_EQ(must(database.queryInteger(
                "SELECT count(*) FROM communicator_member m JOIN process p ON p.id = m.process_id"
                " WHERE p.rank = m.rank")),
            8);
  EXPECT_NE(made[0][0], made[0][1]);
}

}  // namespace
}  // namespace sonde::engine::merge
