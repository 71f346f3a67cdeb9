#include "analysis/engine/standstill/standstill.h"

#include "tests/engine/metrics/rank_trace.h"

#include <gmock/gmock.h>

namespace sonde::engine::standstill {
namespace {

using test::must;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;

class StandstillTest : public test::RankTrace {
 protected:
  model::ThreadId rank(std::int64_t number,
                       model::ProcessState state = model::ProcessState::Signalled) {
    const model::ThreadId thread = process(number, 100 + number);
    model::Process row;
    row.id = process_;
    row.hostId = host_;
    row.pid = 100 + number;
    row.rank = number;
    row.startNs = 0;
    row.endNs = endNs_;
    row.state = state;
    if (state == model::ProcessState::Signalled)
      row.exitSignal = 9;
    if (state == model::ProcessState::Exited)
      row.exitStatus = 0;
    must(trace_->writer().update(row));
    return thread;
  }

  model::CommunicatorId group(std::int64_t position) {
    const auto id = trace_->add(model::Communicator{{}, process_, "world", 2, position, "gloo"});
    for (std::int64_t member = 0; member < 2; ++member)
      trace_->add(model::CommunicatorMember{
          id, member, member, member == position ? process_ : model::ProcessId{}});
    return id;
  }

  void collective(model::CommunicatorId group,
                  std::int64_t seq,
                  std::int64_t begin,
                  std::optional<std::int64_t> end) {
    model::Collective row;
    row.processId = process_;
    row.communicatorId = group;
    row.seq = seq;
    row.bytes = 288;
    row.startNs = begin;
    if (end)
      row.durNs = *end - begin;
    trace_->add(row);
  }

  model::OpenCall open(model::ThreadId thread, std::string_view kind, std::int64_t since) {
    model::OpenCall row;
    row.processId = process_;
    row.threadId = thread;
    row.kind = kind;
    row.category = "x";
    row.nameId = trace_->name(kind);
    row.startNs = since;
    row.seenNs = endNs_;
    return row;
  }

  std::optional<Standstill> read() { return must(readStandstill(RankTrace::open())); }

  std::int64_t endNs_ = 12 * kSecond;
};

TEST_F(StandstillTest, NamesWhoWaitsAndWhoHasNotCome) {
  const auto first = rank(0);
  const auto world = group(0);
  collective(world, 16, kSecond, kSecond + 1000);
  model::OpenCall waiting = open(first, "collective", 2 * kSecond);
  waiting.communicatorId = world;
  waiting.seq = 17;
  waiting.op = "allreduce";
  waiting.bytes = 288;
  trace_->add(waiting);
  rank(1);
  collective(group(1), 16, kSecond, kSecond + 2000);

  const auto found = read();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sinceNs, kSecond + 2000);
  EXPECT_EQ(found->untilNs, 12 * kSecond);
  EXPECT_EQ(found->windowNs, 12 * kSecond);
  EXPECT_FALSE(found->isRunning);
  ASSERT_THAT(found->rendezvous, SizeIs(1));
  const Rendezvous& one = found->rendezvous[0];
  EXPECT_EQ(one.group, "world");
  EXPECT_EQ(one.op, "allreduce");
  EXPECT_EQ(one.seq, 17);
  EXPECT_EQ(one.bytes, 288);
  ASSERT_THAT(one.entered, SizeIs(1));
  EXPECT_EQ(one.entered[0].name, "rank 0");
  EXPECT_EQ(one.entered[0].sinceNs, 2 * kSecond);
  ASSERT_THAT(one.absent, SizeIs(1));
  EXPECT_EQ(one.absent[0].name, "rank 1");
  EXPECT_TRUE(one.absent[0].isHere);
  ASSERT_TRUE(one.absent[0].last);
  EXPECT_EQ(one.absent[0].last->seq, 16);
}

TEST_F(StandstillTest, SaysWhoseTraceIsNotHere) {
  const auto first = rank(0);
  const auto world = group(0);
  model::OpenCall waiting = open(first, "collective", 2 * kSecond);
  waiting.communicatorId = world;
  waiting.seq = 17;
  waiting.op = "allreduce";
  trace_->add(waiting);
  collective(world, 16, kSecond, kSecond + 1000);
  const auto found = read();
  ASSERT_TRUE(found);
  ASSERT_THAT(found->rendezvous.at(0).absent, SizeIs(1));
  EXPECT_EQ(found->rendezvous[0].absent[0].name, "rank 1");
  EXPECT_FALSE(found->rendezvous[0].absent[0].isHere);
}

// The trace of a running rank may be older than those of the others.
class RunningTest : public StandstillTest {
 protected:
  // Rank 0 has waited in collective 17 since 5 s, and is known until 30 s; rank 1 until `knownNs`.
  std::optional<Standstill> read(std::int64_t knownNs, bool knowsGroup = true) {
    endNs_ = 30 * kSecond;
    const auto first = rank(0, model::ProcessState::Running);
    trace_->add(
        model::Meta{"watermark_ns:" + std::to_string(process_.value), std::to_string(endNs_)});
    const auto world = group(0);
    collective(world, 16, kSecond, kSecond + 1000);
    collective(world, 17, 5 * kSecond, std::nullopt);
    trace_->add(open(first, "wait", 5 * kSecond));
    rank(1, model::ProcessState::Running);
    trace_->add(
        model::Meta{"watermark_ns:" + std::to_string(process_.value), std::to_string(knownNs)});
    if (knowsGroup)
      collective(group(1), 16, kSecond, kSecond + 2000);
    return StandstillTest::read();
  }
};

TEST_F(RunningTest, StandsStillForAsLongAsAllRanksAreKnown) {
  const auto found = read(20 * kSecond);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->isRunning);
  EXPECT_EQ(found->untilNs, 20 * kSecond);
  ASSERT_THAT(found->rendezvous.at(0).absent, SizeIs(1));
  EXPECT_FALSE(found->rendezvous[0].absent[0].knownUntilNs);
}

TEST_F(RunningTest, ARankThatNobodyRecordsAnyMoreIsNotCalledAbsent) {
  const auto found = read(3 * kSecond);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->untilNs, 30 * kSecond);
  ASSERT_THAT(found->rendezvous.at(0).absent, SizeIs(1));
  EXPECT_EQ(found->rendezvous[0].absent[0].knownUntilNs, 3 * kSecond);
}

// The recorder has not stored the rank's group yet.
TEST_F(RunningTest, ARankIsFoundByItsNumber) {
  const auto found = read(3 * kSecond, false);
  ASSERT_TRUE(found);
  ASSERT_THAT(found->rendezvous.at(0).absent, SizeIs(1));
  EXPECT_TRUE(found->rendezvous[0].absent[0].isHere);
  EXPECT_EQ(found->rendezvous[0].absent[0].knownUntilNs, 3 * kSecond);
}

// Each waits for the other in a collective of its own.
TEST_F(StandstillTest, RanksInDifferentCollectivesAreNotSaidToHaveEnteredThem) {
  const auto inCollective = [&](std::int64_t number, const char* op) {
    const auto thread = rank(number);
    const auto world = group(number);
    collective(world, 16, kSecond, kSecond + 1000);
    model::OpenCall waiting = open(thread, "collective", 2 * kSecond + number);
    waiting.communicatorId = world;
    waiting.seq = 17;
    waiting.op = op;
    trace_->add(waiting);
  };
  inCollective(0, "allreduce");
  inCollective(1, "broadcast");
  const auto found = read();
  ASSERT_TRUE(found);
  ASSERT_THAT(found->rendezvous, SizeIs(2));
  ASSERT_THAT(found->rendezvous[0].absent, SizeIs(1));
  EXPECT_EQ(found->rendezvous[0].absent[0].name, "rank 1");
  EXPECT_EQ(found->rendezvous[0].absent[0].otherOp, "broadcast");
  ASSERT_THAT(found->rendezvous[1].absent, SizeIs(1));
  EXPECT_EQ(found->rendezvous[1].absent[0].otherOp, "allreduce");
}

// A group of thousands has no rows for its members.
TEST_F(StandstillTest, SaysOfHowManyItKnowsNothing) {
  const auto first = rank(0);
  const auto world = trace_->add(model::Communicator{{}, process_, "world", 5000, 0, "nccl"});
  model::OpenCall waiting = open(first, "collective", 2 * kSecond);
  waiting.communicatorId = world;
  waiting.seq = 17;
  waiting.op = "allreduce";
  trace_->add(waiting);
  collective(world, 16, kSecond, kSecond + 1000);
  const auto found = read();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rendezvous.at(0).unknown, 4999);
}

// Recording was paused, or had reached its limit.
TEST_F(StandstillTest, WhatWasNotRecordedIsNoStandstill) {
  const auto first = rank(0);
  iteration(first, 0, 0, kSecond / 10);
  trace_->add(open(first, "iteration", kSecond / 10));
  trace_->add(model::Meta{"watermark_ns", std::to_string(kSecond)});
  EXPECT_FALSE(read());
}

TEST_F(StandstillTest, WhatWasTrimmedIsNoStandstill) {
  const auto first = rank(0);
  iteration(first, 0, 0, kSecond / 10);
  trace_->add(open(first, "iteration", kSecond / 10));
  trace_->add(model::Meta{"kept_ns:" + std::to_string(process_.value), "[0,1000000000]"});
  EXPECT_FALSE(read());
}

// The first process waits in a shell for one that works.
TEST_F(StandstillTest, WithoutAnnotationsWhatAnyProcessDoesIsProgress) {
  const auto shell = rank(0);
  trace_->add(open(shell, "wait", kSecond));
  const auto worker = rank(1);
  trace_->slice(worker, model::SliceKind::Api, "read", {11 * kSecond, 11 * kSecond + kSecond / 2});
  EXPECT_FALSE(read());
}

// NCCL's call has returned, the device has not finished: only the collective's row exists.
TEST_F(StandstillTest, ACollectiveThatADeviceHasNotFinishedIsOpen) {
  rank(0);
  const auto world = group(0);
  collective(world, 16, kSecond, kSecond + 1000);
  collective(world, 17, 2 * kSecond, std::nullopt);
  rank(1);
  const auto other = group(1);
  collective(other, 16, kSecond, kSecond + 1000);
  collective(other, 17, 2 * kSecond, std::nullopt);
  const auto found = read();
  ASSERT_TRUE(found);
  ASSERT_THAT(found->rendezvous, SizeIs(1));
  EXPECT_THAT(found->rendezvous[0].entered, SizeIs(2));
  EXPECT_THAT(found->rendezvous[0].absent, IsEmpty());
}

// As calls of a library are that does not count them.
TEST_F(StandstillTest, WhoHasEnteredACollectiveWithoutANumberIsNotAbsent) {
  for (std::int64_t number = 0; number < 2; ++number) {
    const auto thread = rank(number);
    model::OpenCall waiting = open(thread, "collective", 2 * kSecond);
    waiting.communicatorId = group(number);
    waiting.op = "allreduce";
    trace_->add(waiting);
  }
  const auto found = read();
  ASSERT_TRUE(found);
  ASSERT_THAT(found->rendezvous, SizeIs(1));
  EXPECT_THAT(found->rendezvous[0].entered, SizeIs(2));
  EXPECT_THAT(found->rendezvous[0].absent, IsEmpty());
}

TEST_F(StandstillTest, AJobThatEndedByItselfDidNotStandStill) {
  const auto first = rank(0, model::ProcessState::Exited);
  collective(group(0), 16, kSecond, kSecond + 1000);
  trace_->add(open(first, "wait", 2 * kSecond));
  EXPECT_FALSE(read());
}

TEST_F(StandstillTest, AJobThatGotOnUntilItWasKilledDidNotStandStill) {
  const auto first = rank(0);
  collective(group(0), 16, 11 * kSecond, 11 * kSecond + kSecond / 2);
  trace_->add(open(first, "wait", 11 * kSecond + kSecond / 2));
  EXPECT_FALSE(read());
}

// A wait that is not longer than earlier iterations is no standstill.
TEST_F(StandstillTest, IsJudgedByTheLongestIteration) {
  const auto first = rank(0);
  iteration(first, 0, 0, 6 * kSecond);
  trace_->add(open(first, "iteration", 6 * kSecond));
  EXPECT_FALSE(read());
}

TEST_F(StandstillTest, LongerThanTwoOfTheLongestIterationsIsOne) {
  endNs_ = 19 * kSecond;
  const auto first = rank(0);
  iteration(first, 0, 0, 6 * kSecond);
  trace_->add(open(first, "iteration", 6 * kSecond));
  EXPECT_TRUE(read());
}

TEST_F(StandstillTest, WithoutAnythingOpenThereIsNothingToSay) {
  rank(0);
  collective(group(0), 16, kSecond, kSecond + 1000);
  EXPECT_FALSE(read());
}

TEST_F(StandstillTest, ThreadsThatWaitForEachOtherAreADeadlock) {
  const auto main = rank(0);
  model::Thread row;
  row.processId = process_;
  row.tid = 501;
  const auto one = trace_->add(row);
  row.tid = 502;
  const auto two = trace_->add(row);
  const auto waits = [&](model::ThreadId thread, model::ThreadId holder) {
    model::OpenCall call = open(thread, "wait", 2 * kSecond);
    call.waitsForThreadId = holder;
    trace_->add(call);
  };
  waits(main, one);  // a join, outside of the circle
  waits(one, two);
  waits(two, one);
  const auto found = read();
  ASSERT_TRUE(found);
  ASSERT_THAT(found->deadlocks, SizeIs(1));
  std::vector<std::int64_t> tids;
  for (const OpenCall& call : found->deadlocks[0].waits)
    tids.push_back(call.tid);
  EXPECT_THAT(tids, testing::UnorderedElementsAre(501, 502));
}

TEST_F(StandstillTest, WhoWaitsForOneThatWaitsForNobodyIsInNoDeadlock) {
  const auto main = rank(0);
  model::Thread row;
  row.processId = process_;
  row.tid = 501;
  const auto worker = trace_->add(row);
  model::OpenCall join = open(main, "wait", 2 * kSecond);
  join.waitsForThreadId = worker;
  trace_->add(join);
  trace_->add(open(worker, "operation", 2 * kSecond));
  const auto found = read();
  ASSERT_TRUE(found);
  EXPECT_THAT(found->deadlocks, IsEmpty());
}

TEST_F(StandstillTest, AHelperThatEndedBadlyIsNamed) {
  const auto first = rank(0);
  const auto owner = process_;
  collective(group(0), 16, kSecond, kSecond + 1000);
  trace_->add(open(first, "data_load", 2 * kSecond));
  model::Process helper;
  helper.hostId = host_;
  helper.pid = 4711;
  helper.parentId = owner;
  helper.startNs = 0;
  helper.endNs = 3 * kSecond / 2;
  helper.state = model::ProcessState::Unknown;
  trace_->add(helper);
  const auto found = read();
  ASSERT_TRUE(found);
  ASSERT_THAT(found->lostHelpers, SizeIs(1));
  EXPECT_EQ(found->lostHelpers[0].name, "process 4711");
  EXPECT_EQ(found->lostHelpers[0].owner, "rank 0");
}

}  // namespace
}  // namespace sonde::engine::standstill
