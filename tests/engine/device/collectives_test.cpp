#include "analysis/engine/device/collectives.h"

#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

namespace sonde::engine::device {
namespace {

using test::must;
using ::testing::SizeIs;

constexpr std::int64_t kUs = 1000;

class Collectives : public test::DeviceTrace {
 protected:
  model::CommunicatorId group(const Rank& rank,
                              std::int64_t size,
                              std::optional<std::int64_t> position = {}) {
    return trace_->add(model::Communicator{
        .processId = rank.process, .jobKey = "world", .size = size, .position = position});
  }
  void call(const Rank& rank,
            model::CommunicatorId group,
            model::CollectiveOp op,
            std::int64_t seq,
            Span time,
            std::optional<std::int64_t> root = {}) {
    trace_->add(model::Collective{.processId = rank.process,
                                  .communicatorId = group,
                                  .seq = seq,
                                  .op = op,
                                  .bytes = 1'000'000,
                                  .root = root,
                                  .startNs = time.first * kUs,
                                  .durNs = (time.second - time.first) * kUs});
  }
};

TEST_F(Collectives, WaitingEndsWhenTheLastRankComes) {
  const Rank one = rank(0);
  const Rank two = rank(1);
  const auto a = group(one, 2);
  const auto b = group(two, 2);
  call(one, a, model::CollectiveOp::Allreduce, 0, {100, 300});
  call(two, b, model::CollectiveOp::Allreduce, 0, {250, 301});
  call(one, a, model::CollectiveOp::Allreduce, 1, {500, 600});
  call(two, b, model::CollectiveOp::Allreduce, 1, {450, 600});
  const auto trace = open();
  const auto all = must(readCollectives(trace));
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].arrivals[all[0].last].rank, 1);
  EXPECT_EQ(all[0].arrivals[0].waitNs, 150 * kUs);
  EXPECT_EQ(all[0].arrivals[0].transferNs, 50 * kUs);
  EXPECT_EQ(all[0].arrivals[1].waitNs, 0);
  EXPECT_EQ(all[0].arrivals[1].transferNs, 51 * kUs);
  EXPECT_EQ(all[1].arrivals[all[1].last].rank, 0);
  const auto rows = collectiveRows(all);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].ns.count, 4);
  EXPECT_EQ(rows[0].waitNs, 200 * kUs);
  EXPECT_EQ(rows[0].waitNs + rows[0].transferNs, rows[0].ns.total);
  EXPECT_TRUE(rows[0].fromTransfers);
  // 1 MB in 51 µs and in 100 µs: the median, and 2(n-1)/n = 1 for two ranks.
  const double expected = (1e6 / 51e-6 + 1e6 / 100e-6) / 2;
  EXPECT_NEAR(rows[0].algorithmBytesPerSecond.value(), expected, 1);
  EXPECT_NEAR(rows[0].busBytesPerSecond.value(), expected, 1);
}

TEST_F(Collectives, ARankArrivesWhenItsKernelBeginsNotWhenItIsCalled) {
  const Rank one = rank(0);
  const Rank two = rank(1);
  for (const auto& [rank, begin] : {std::pair(one, 200), std::pair(two, 240)}) {
    const auto ran = kernel(stream(rank, 9), "ncclDevKernel_AllReduce", {begin * kUs, 300 * kUs});
    trace_->add(model::Collective{.processId = rank.process,
                                  .communicatorId = group(rank, 2),
                                  .seq = 5,
                                  .kernelId = ran,
                                  .startNs = 10 * kUs,
                                  .durNs = 290 * kUs});
  }
  const auto trace = open();
  const auto all = must(readCollectives(trace));
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].firstArrivalNs(), 200 * kUs);
  EXPECT_EQ(all[0].arrivals[0].waitNs, 40 * kUs);
  EXPECT_EQ(all[0].arrivals[1].transferNs, 60 * kUs);
}

TEST_F(Collectives, WhatEndsBeforeAnotherRankComesIsNotSplit) {
  const Rank one = rank(0);
  const Rank two = rank(1);
  const auto a = group(one, 2);
  const auto b = group(two, 2);
  call(one, a, model::CollectiveOp::Allgather, 0, {100, 200});
  call(two, b, model::CollectiveOp::Allgather, 0, {300, 400});
  const auto trace = open();
  const auto all = must(readCollectives(trace));
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_FALSE(all[0].isSplit());
  EXPECT_EQ(all[0].arrivals[0].waitNs + all[0].arrivals[0].transferNs, 0);
  EXPECT_FALSE(checkClocks(all).agree);
  EXPECT_EQ(collectiveRows(all)[0].unfit, 1);
  EXPECT_FALSE(collectiveRows(all)[0].fromTransfers);
}

// The ranks wait for no one else.
TEST_F(Collectives, OthersWaitForTheRootOfABroadcast) {
  const Rank one = rank(0);
  const Rank two = rank(1);
  const auto a = group(one, 2, 0);
  const auto b = group(two, 2, 1);
  call(one, a, model::CollectiveOp::Broadcast, 0, {500, 510}, 0);
  call(two, b, model::CollectiveOp::Broadcast, 0, {600, 650}, 0);
  call(one, a, model::CollectiveOp::Broadcast, 1, {850, 860}, 0);
  call(two, b, model::CollectiveOp::Broadcast, 1, {700, 900}, 0);
  const auto trace = open();
  const auto all = must(readCollectives(trace));
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].arrivals[0].waitNs, 0);
  EXPECT_EQ(all[0].arrivals[0].transferNs, 10 * kUs);
  EXPECT_EQ(all[0].arrivals[1].transferNs, 50 * kUs);
  EXPECT_EQ(all[1].arrivals[0].transferNs, 10 * kUs);
  EXPECT_EQ(all[1].arrivals[1].waitNs, 150 * kUs);
  EXPECT_EQ(all[1].arrivals[1].transferNs, 50 * kUs);
  const auto rows = collectiveRows(all);
  EXPECT_TRUE(rows[0].fromTransfers);
  EXPECT_NEAR(rows[0].algorithmBytesPerSecond.value(), 1e6 / 50e-6, 1);
}

TEST_F(Collectives, TheRootOfAReduceWaitsForAllOthers) {
  const Rank one = rank(0);
  const Rank two = rank(1);
  call(one, group(one, 2, 0), model::CollectiveOp::Reduce, 0, {100, 320}, 0);
  call(two, group(two, 2, 1), model::CollectiveOp::Reduce, 0, {300, 310}, 0);
  const auto trace = open();
  const auto all = must(readCollectives(trace));
  EXPECT_EQ(all[0].arrivals[0].waitNs, 200 * kUs);
  EXPECT_EQ(all[0].arrivals[0].transferNs, 20 * kUs);
  EXPECT_EQ(all[0].arrivals[1].waitNs, 0);
  EXPECT_EQ(all[0].arrivals[1].transferNs, 10 * kUs);
}

TEST_F(Collectives, WithoutItsRootNobodyKnowsWhoWaits) {
  const Rank one = rank(1);
  const Rank two = rank(2);
  call(one, group(one, 3, 1), model::CollectiveOp::Broadcast, 0, {100, 200}, 0);
  call(two, group(two, 3, 2), model::CollectiveOp::Broadcast, 0, {150, 200}, 0);
  const auto trace = open();
  const auto all = must(readCollectives(trace));
  EXPECT_FALSE(all[0].isSplit());
  EXPECT_EQ(all[0].arrivals[0].waitNs + all[0].arrivals[0].transferNs, 0);
}

TEST_F(Collectives, OfOneRankOfManyTheBandwidthIsOfTheWholeCall) {
  const Rank one = rank(3);
  call(one, group(one, 8), model::CollectiveOp::Allreduce, 0, {100, 200});
  const auto trace = open();
  const auto rows = collectiveRows(must(readCollectives(trace)));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_FALSE(rows[0].fromTransfers);
  EXPECT_EQ(rows[0].waitNs + rows[0].transferNs, 0);
  EXPECT_NEAR(rows[0].algorithmBytesPerSecond.value(), 1e10, 1);
  EXPECT_NEAR(rows[0].busBytesPerSecond.value(), 1.75e10, 1);
}

TEST_F(Collectives, SharesAreOfTheTimeOfAllRanksInAllOfThem) {
  const Rank one = rank(0);
  const Rank two = rank(1);
  const auto a = group(one, 2);
  const auto b = group(two, 2);
  call(one, a, model::CollectiveOp::Allreduce, 0, {100, 300});
  call(two, b, model::CollectiveOp::Allreduce, 0, {200, 300});
  call(one, a, model::CollectiveOp::Broadcast, 1, {400, 500});
  const auto trace = open();
  const auto rows = collectiveRows(must(readCollectives(trace)));
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].op, "allreduce");
  EXPECT_DOUBLE_EQ(rows[0].share, 0.75);
  EXPECT_DOUBLE_EQ(rows[1].share, 0.25);
}

TEST_F(Collectives, SendsAndReceivesStandAlone) {
  const Rank one = rank(0);
  const Rank two = rank(1);
  call(one, group(one, 2), model::CollectiveOp::Send, 0, {100, 200});
  call(two, group(two, 2), model::CollectiveOp::Send, 0, {100, 200});
  const auto trace = open();
  EXPECT_THAT(must(readCollectives(trace)), SizeIs(2));
}

// github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md
TEST(BusFactor, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(busFactor("allreduce", 8), 1.75);
  EXPECT_DOUBLE_EQ(busFactor("allreduce", 2), 1);
  for (const char* op : {"allgather", "reducescatter", "alltoall"})
    EXPECT_DOUBLE_EQ(busFactor(op, 8), 0.875) << op;
  for (const char* op : {"broadcast", "reduce", "send", "receive"})
    EXPECT_DOUBLE_EQ(busFactor(op, 8), 1) << op;
  EXPECT_DOUBLE_EQ(busFactor("allreduce", 1), 1);
}

}  // namespace
}  // namespace sonde::engine::device
