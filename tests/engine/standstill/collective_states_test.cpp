#include "analysis/engine/standstill/collective_states.h"

#include "tests/engine/metrics/rank_trace.h"

#include <gmock/gmock.h>

#include <map>

namespace sonde::engine::standstill {
namespace {

using test::must;
using testing::ElementsAre;
using State = CollectiveState;

constexpr std::int64_t kSecond = 1'000'000'000;

class CollectiveStatesTest : public test::RankTrace {
 protected:
  // A rank of a group of three that something killed after 20 s.
  model::CommunicatorId rank(std::int64_t number,
                             model::ProcessState state = model::ProcessState::Signalled) {
    thread_ = process(number, 100 + number);
    model::Process row;
    row.id = process_;
    row.hostId = host_;
    row.pid = 100 + number;
    row.rank = number;
    row.startNs = 0;
    row.endNs = 20 * kSecond;
    row.state = state;
    if (state == model::ProcessState::Signalled)
      row.exitSignal = 9;
    must(trace_->writer().update(row));
    const auto id = trace_->add(model::Communicator{{}, process_, "world", 3, number, "gloo"});
    for (std::int64_t member = 0; member < 3; ++member)
      trace_->add(model::CommunicatorMember{
          id, member, member, member == number ? process_ : model::ProcessId{}});
    return id;
  }

  model::CollectiveId collective(model::CommunicatorId group,
                                 std::int64_t seq,
                                 std::int64_t begin,
                                 std::optional<std::int64_t> end) {
    model::Collective row;
    row.processId = process_;
    row.communicatorId = group;
    row.seq = seq;
    row.startNs = begin;
    if (end)
      row.durNs = *end - begin;
    if (end)
      row.sliceId =
          trace_->slice(thread_, model::SliceKind::Collective, "allreduce", {begin, *end});
    const auto id = trace_->add(row);
    if (!end) {
      model::OpenCall open;
      open.processId = process_;
      open.threadId = thread_;
      open.kind = "collective";
      open.category = "gloo";
      open.nameId = trace_->name("allreduce");
      open.startNs = begin;
      open.seenNs = 20 * kSecond;
      open.communicatorId = group;
      open.collectiveId = id;
      open.seq = seq;
      open.op = "allreduce";
      trace_->add(open);
    }
    return id;
  }

  static std::vector<State> statesOf(const CollectiveStates::Row& row) {
    std::vector<State> states;
    for (const auto& cell : row.cells)
      states.push_back(cell.state);
    return states;
  }

  model::ThreadId thread_;
};

TEST_F(CollectiveStatesTest, SaysWhoIsInsideAndWhoHasNotCome) {
  const auto zero = rank(0);
  for (int seq = 0; seq < 3; ++seq)
    collective(zero, seq, (1 + seq) * kSecond, (1 + seq) * kSecond + 1000);
  collective(zero, 3, 5 * kSecond, {});
  // Rank 1 recorded from the second collective on.
  const auto one = rank(1);
  collective(one, 1, 2 * kSecond + 10, 2 * kSecond + 1000);
  collective(one, 2, 3 * kSecond + 10, 3 * kSecond + 1000);
  // Rank 2 has no records.
  const auto states = must(readCollectiveStates(open(), ""));
  ASSERT_TRUE(states);
  EXPECT_EQ(states->group, "world");
  ASSERT_EQ(states->columns.size(), 4U);
  EXPECT_EQ(states->columns[0].seq, 0);
  EXPECT_EQ(states->columns[3].seq, 3);
  EXPECT_EQ(states->columns[3].op, "allreduce");
  EXPECT_EQ(states->columns[3].firstNs, 5 * kSecond);
  ASSERT_EQ(states->rows.size(), 3U);
  EXPECT_EQ(states->rows[1].name, "rank 1");
  EXPECT_EQ(states->rows[1].rank, 1);
  EXPECT_THAT(statesOf(states->rows[0]),
              ElementsAre(State::Done, State::Done, State::Done, State::Waiting));
  EXPECT_THAT(statesOf(states->rows[1]),
              ElementsAre(State::Unknown, State::Done, State::Done, State::NotEntered));
  EXPECT_THAT(statesOf(states->rows[2]),
              ElementsAre(State::Unknown, State::Unknown, State::Unknown, State::Unknown));
  const auto& cell = states->rows[1].cells[2];
  EXPECT_EQ(cell.startNs, 3 * kSecond + 10);
  EXPECT_EQ(cell.durNs, 990);
  EXPECT_TRUE(cell.sliceId);
  EXPECT_FALSE(states->rows[0].cells[3].durNs);
}

TEST_F(CollectiveStatesTest, HasTheLastOnesOnly) {
  const auto zero = rank(0);
  for (std::int64_t seq = 0; seq < 50; ++seq)
    collective(zero, seq, seq * 100'000'000, seq * 100'000'000 + 1000);
  collective(zero, 50, 6 * kSecond, {});
  rank(1);
  const auto states = must(readCollectiveStates(open(), "world", 10));
  ASSERT_TRUE(states);
  ASSERT_EQ(states->columns.size(), 10U);
  EXPECT_EQ(states->columns.front().seq, 41);
  EXPECT_EQ(states->columns.back().seq, 50);
}

TEST_F(CollectiveStatesTest, DumpsSayHowFarARankCame) {
  const auto fact = [&](model::Owner owner, std::int64_t id, std::string_view key, std::int64_t n) {
    trace_->add(model::Arg{owner, id, trace_->name(key), n});
  };
  const auto dump = [&](std::int64_t number, std::int64_t called) {
    const auto group = rank(number);
    fact(model::Owner::Process, process_.value, "sonde.flight_recorder", 1);
    fact(model::Owner::Communicator, group.value, "last_completed", 2);
    fact(model::Owner::Communicator, group.value, "last_enqueued", called);
    return group;
  };
  const auto zero = dump(0, 3);
  // Its earlier entries are no longer in the dump of rank 0, but in that of rank 1.
  collective(zero, 3, 5 * kSecond, {});
  collective(dump(1, 2), 2, 2 * kSecond, 2 * kSecond + 1000);
  dump(2, 3);
  const auto states = must(readCollectiveStates(open(), ""));
  ASSERT_TRUE(states);
  ASSERT_EQ(states->columns.size(), 2U);
  EXPECT_THAT(statesOf(states->rows.at(0)), ElementsAre(State::Done, State::Waiting));
  EXPECT_THAT(statesOf(states->rows.at(1)), ElementsAre(State::Done, State::NotEntered));
  EXPECT_THAT(statesOf(states->rows.at(2)), ElementsAre(State::Done, State::Waiting));
}

TEST_F(CollectiveStatesTest, AJobThatEndedHasNone) {
  const auto zero = rank(0, model::ProcessState::Exited);
  collective(zero, 0, kSecond, kSecond + 1000);
  EXPECT_FALSE(must(readCollectiveStates(open(), "world")));
}

}  // namespace
}  // namespace sonde::engine::standstill
