// The order of messages that one process alone could not settle, and the agreement of both ends.
#include "analysis/engine/merge/message_order.h"

#include "analysis/engine/metrics/messages.h"
#include "analysis/store/statement.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <tuple>
#include <vector>

namespace sonde::engine {
namespace {

using model::Direction;
using test::must;
using ::testing::ElementsAre;
using ::testing::Pair;

class MessageOrder : public ::testing::Test {
 protected:
  void SetUp() override {
    const model::HostId host = trace_.add(model::Host{.name = "a", .bootId = "boot"});
    process_ = trace_.add(model::Process{.hostId = host, .pid = 1});
    thread_ = trace_.add(model::Thread{.processId = process_, .tid = 1});
    other_ = trace_.add(model::Thread{.processId = process_, .tid = 2});
    channel_ = add("mpi:k/0/1", "mpi:k/1/0");
    peer_ = add("mpi:k/1/0", "mpi:k/0/1");
  }

  model::ChannelId add(const char* local, const char* remote) {
    return trace_.add(model::Channel{
        .processId = process_, .kind = model::ChannelKind::Mpi, .local = local, .remote = remote});
  }
  // A message with `offset`, open from begin to end.
  void receive(std::int64_t offset,
               std::pair<std::int64_t, std::int64_t> time,
               bool anySource,
               std::int64_t tag = 0,
               std::optional<model::ThreadId> thread = {}) {
    trace_.add(model::Transfer{.channelId = channel_,
                               .threadId = thread.value_or(thread_),
                               .direction = Direction::Receive,
                               .offset = offset,
                               .startNs = time.first,
                               .durNs = time.second - time.first,
                               .tag = tag,
                               .anySource = anySource});
  }
  // (offset, exact) of each row, in the order in which they were added.
  std::vector<std::pair<std::int64_t, bool>> ordered() {
    store::Database& trace = trace_.writer().database();
    must(merge::orderMessages(trace));
    store::Statement rows = must(trace.prepare("SELECT offset, exact FROM transfer ORDER BY id"));
    std::vector<std::pair<std::int64_t, bool>> found;
    while (must(rows.step()))
      found.emplace_back(rows.integer(0), rows.integer(1) != 0);
    return found;
  }

  test::TemporaryFolder folder_;
  test::TraceBuilder trace_{folder_ / "t.sonde"};
  model::ProcessId process_;
  model::ThreadId thread_;
  model::ThreadId other_;
  model::ChannelId channel_;
  model::ChannelId peer_;
};

// Numbered by their ends: the later one first.
TEST_F(MessageOrder, ReceivesFromAnybodyGoByWhenTheyWerePosted) {
  receive(1, {10, 100}, true);
  receive(0, {20, 90}, true);
  receive(2, {100, 110}, true);  // begins when the others have ended
  EXPECT_THAT(ordered(), ElementsAre(Pair(0, true), Pair(1, true), Pair(2, true)));
}

TEST_F(MessageOrder, OneFromAnybodyAmongOthersToo) {
  receive(2, {10, 100}, true);
  receive(0, {20, 50}, false);
  receive(1, {30, 60}, false);
  EXPECT_THAT(ordered(), ElementsAre(Pair(0, true), Pair(1, true), Pair(2, true)));
}

TEST_F(MessageOrder, TagsAndWhatWasNotOpenTogetherStayAsTheyAre) {
  receive(1, {10, 20}, true);
  receive(0, {20, 30}, true);
  receive(7, {10, 100}, true, 1);
  receive(3, {10, 100}, true, 2);
  EXPECT_THAT(ordered(), ElementsAre(Pair(1, true), Pair(0, true), Pair(7, true), Pair(3, true)));
}

TEST_F(MessageOrder, ItIsNotSureWhereMessagesWereLost) {
  trace_.add(model::Loss{.probe = "mpi",
                         .kind = "message",
                         .count = 1,
                         .reason = "spool full",
                         .processId = process_});
  receive(1, {10, 100}, true);
  receive(0, {20, 90}, true);
  receive(2, {200, 210}, true);
  EXPECT_THAT(ordered(), ElementsAre(Pair(0, false), Pair(1, false), Pair(2, true)));
}

TEST_F(MessageOrder, ItIsNotSureWhereProcessesRecordedInPart) {
  for (const auto& [key, value] : {std::pair("capture", "every:2"),
                                   {"thinned", "2"},
                                   {"paused", "1"},
                                   {"discarded", "65536"}}) {
    must(trace_.writer().database().exec("DELETE FROM meta; DELETE FROM transfer"));
    trace_.add(model::Meta{key, value});
    receive(1, {10, 100}, true);
    receive(0, {20, 90}, true);
    EXPECT_THAT(ordered(), ElementsAre(Pair(0, false), Pair(1, false))) << key;
  }
}

TEST_F(MessageOrder, ARingThatLetNothingGoHasAll) {
  trace_.add(model::Meta{"discarded", "0"});
  receive(1, {10, 100}, true);
  receive(0, {20, 90}, true);
  EXPECT_THAT(ordered(), ElementsAre(Pair(0, true), Pair(1, true)));
}

TEST_F(MessageOrder, OfReceivesFromAnybodyInSeveralThreadsNobodyKnowsWhichWasFirst) {
  receive(0, {10, 25}, true);
  receive(1, {20, 35}, true, 0, other_);
  receive(2, {100, 115}, true);
  receive(3, {200, 215}, true, 0, other_);
  EXPECT_THAT(ordered(), ElementsAre(Pair(0, false), Pair(1, false), Pair(2, true), Pair(3, true)));
}

// The recorder has compared those itself.
TEST_F(MessageOrder, OtherMessagesOfSeveralThreadsAreAsTheRecorderHasNumberedThem) {
  receive(1, {10, 25}, false);
  receive(0, {20, 35}, false, 0, other_);
  EXPECT_THAT(ordered(), ElementsAre(Pair(1, true), Pair(0, true)));
}

class MessageConservation : public MessageOrder {
 protected:
  void move(model::ChannelId channel,
            Direction direction,
            std::int64_t offset,
            std::int64_t bytes,
            bool exact = true) {
    trace_.add(model::Transfer{.channelId = channel,
                               .threadId = thread_,
                               .direction = direction,
                               .offset = offset,
                               .bytes = bytes,
                               .exact = exact,
                               .tag = 3});
  }
  metrics::Conservation sum(bool cut = false) {
    store::Database& trace = trace_.writer().database();
    must(trace.exec("UPDATE channel SET peer_channel_id = 3 - id"));
    metrics::Conservation found;
    must(metrics::addMessages(trace, cut, found));
    return found;
  }
};

TEST_F(MessageConservation, BothEndsOfEachMessageSayTheSame) {
  move(channel_, Direction::Send, 0, 100);
  move(peer_, Direction::Receive, 0, 100);
  move(peer_, Direction::Send, 0, 7);
  move(channel_, Direction::Receive, 0, 7);
  const metrics::Conservation found = sum();
  EXPECT_EQ(found.pairs, 1);
  EXPECT_EQ(found.exactPairs, 1);
  EXPECT_EQ(found.agreeingPairs, 1);
  EXPECT_EQ(found.sentBytes, 107);
  EXPECT_EQ(found.missingBytes + found.unsentBytes, 0);
}

TEST_F(MessageConservation, WhatOneEndAloneTellsOfIsMissing) {
  move(channel_, Direction::Send, 0, 100);
  move(peer_, Direction::Receive, 0, 90);
  move(channel_, Direction::Send, 1, 40);
  move(peer_, Direction::Receive, 2, 5);
  const metrics::Conservation found = sum();
  EXPECT_EQ(found.agreeingPairs, 0);
  EXPECT_EQ(found.missingBytes, 50);
  EXPECT_EQ(found.unsentBytes, 5);
}

TEST_F(MessageConservation, ATrimmedTraceComparesWhatBothEndsHave) {
  move(channel_, Direction::Send, 0, 100);
  move(channel_, Direction::Send, 1, 40);
  move(peer_, Direction::Receive, 1, 40);
  EXPECT_EQ(sum(true).agreeingPairs, 1);
  EXPECT_EQ(sum(false).agreeingPairs, 0);
}

TEST_F(MessageConservation, InexactOnesAreNotCompared) {
  move(channel_, Direction::Send, 0, 100, false);
  const metrics::Conservation found = sum();
  EXPECT_EQ(found.pairs, 1);
  EXPECT_EQ(found.exactPairs, 0);
}

}  // namespace
}  // namespace sonde::engine
