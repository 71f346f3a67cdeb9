#include "rules/builtin/job/wait_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using engine::standstill::OpenCall;
using engine::standstill::RankState;
using engine::standstill::Rendezvous;
using engine::standstill::Standstill;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Rendezvous::Member member(std::int64_t rank, bool isHere = true) {
  Rendezvous::Member one;
  one.name = "rank " + std::to_string(rank);
  one.rank = rank;
  one.isHere = isHere;
  return one;
}

RankState rank(std::int64_t number) {
  RankState state;
  state.rank = number;
  state.name = "rank " + std::to_string(number);
  return state;
}

OpenCall receiveFrom(std::int64_t peer) {
  OpenCall call;
  call.kind = "receive";
  call.peer = peer;
  return call;
}

TEST(WaitGraph, NamesWhoHasNotEntered) {
  Standstill found;
  found.ranks = {rank(0), rank(1), rank(2)};
  Rendezvous one;
  one.entered = {member(0), member(2)};
  one.absent = {member(1)};
  found.rendezvous = {one};
  const auto culprits = culpritsOf(found);
  ASSERT_THAT(culprits, SizeIs(1));
  EXPECT_EQ(culprits[0].name, "rank 1");
  EXPECT_THAT(culprits[0].waiting, ElementsAre("rank 0", "rank 2"));
  EXPECT_FALSE(culprits[0].isInCircle);
}

// 0 and 3 wait in a collective for 1, which waits for a message of 2.
TEST(WaitGraph, FollowsMessagesToTheirSender) {
  Standstill found;
  found.ranks = {rank(0), rank(1), rank(2), rank(3)};
  found.ranks[1].open = {receiveFrom(2)};
  Rendezvous one;
  one.entered = {member(0), member(3)};
  one.absent = {member(1)};
  found.rendezvous = {one};
  const auto culprits = culpritsOf(found);
  ASSERT_THAT(culprits, SizeIs(1));
  EXPECT_EQ(culprits[0].name, "rank 2");
  EXPECT_THAT(culprits[0].waiting, ElementsAre("rank 0", "rank 1", "rank 3"));
}

TEST(WaitGraph, NamesACircleOnlyIfNobodyElseIsToBlame) {
  Standstill found;
  found.ranks = {rank(0), rank(1), rank(2)};
  found.ranks[0].open = {receiveFrom(1)};
  found.ranks[1].open = {receiveFrom(0)};
  auto culprits = culpritsOf(found);
  ASSERT_THAT(culprits, SizeIs(2));
  EXPECT_TRUE(culprits[0].isInCircle);
  EXPECT_THAT(culprits[0].waiting, ElementsAre("rank 1"));
  found.ranks[1].open.push_back(receiveFrom(2));
  culprits = culpritsOf(found);
  ASSERT_THAT(culprits, SizeIs(1));
  EXPECT_EQ(culprits[0].name, "rank 2");
}

TEST(WaitGraph, SaysNothingIfSeveralRanksAreNotHere) {
  Standstill found;
  found.ranks = {rank(0)};
  Rendezvous one;
  one.entered = {member(0)};
  one.absent = {member(1, false)};
  found.rendezvous = {one};
  EXPECT_THAT(culpritsOf(found), SizeIs(1));
  found.rendezvous[0].absent.push_back(member(2, false));
  EXPECT_THAT(culpritsOf(found), IsEmpty());
  found.rendezvous[0].absent.push_back(member(3));
  ASSERT_THAT(culpritsOf(found), SizeIs(1));
  EXPECT_EQ(culpritsOf(found)[0].name, "rank 3");
}

TEST(WaitGraph, ASingleProcessIsItsOwnCulprit) {
  Standstill found;
  found.ranks = {rank(0)};
  ASSERT_THAT(culpritsOf(found), SizeIs(1));
  EXPECT_THAT(culpritsOf(found)[0].waiting, IsEmpty());
}

}  // namespace
}  // namespace sonde::rules
