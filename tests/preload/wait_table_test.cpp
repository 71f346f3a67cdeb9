// Which thread is found as the waker of a waiter.
#include "collector/preload/sync/interposer/wait_table.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace sonde::preload::sync {
namespace {

constexpr std::uint64_t kObject = 0x7f00'1234'5670;
constexpr std::uint64_t kLate = 1'000'000;  // ticks at which a waiter continues
constexpr std::int32_t kAnna = 11;
constexpr std::int32_t kBert = 22;

// A post at `kObject` that takes effect from `begin` to `end`.
void post(std::int32_t thread, std::uint64_t begin, std::uint64_t end, PostTraits traits = 0) {
  finishPost(writePost(kObject, {thread, begin, traits, kNoTurn}), end);
}

class AtAnObject : public ::testing::Test {
 protected:
  void TearDown() override { leavePlace(place_); }

  void expect(Rule rule, std::int32_t thread, std::uint64_t ticks, bool certain) {
    const Waker waker = findWaker(place_, rule, kLate);
    EXPECT_EQ(waker.thread, thread);
    EXPECT_EQ(waker.ticks, ticks);
    EXPECT_EQ(waker.certain, certain);
  }

  Place place_ = takePlace(kObject);
};

TEST(WaitTable, IsAwaitedWhileSomebodyHasAPlace) {
  EXPECT_FALSE(isAwaited(kObject));
  const Place first = takePlace(kObject);
  const Place second = takePlace(kObject);
  EXPECT_EQ(first.entry, second.entry);
  leavePlace(first);
  EXPECT_TRUE(isAwaited(kObject));
  leavePlace(second);
  EXPECT_FALSE(isAwaited(kObject));
  leavePlace(second);
  EXPECT_FALSE(isAwaited(kObject)) << "a place that is given back twice";
  EXPECT_EQ(writePost(kObject, {kAnna, 1, 0, kNoTurn}).count, 0U);
}

TEST(WaitTable, TakesAddressesOfPrograms) {
  const Place place = takePlace(std::uint64_t{1} << 48);
  EXPECT_EQ(place.entry, kNoEntry);
  EXPECT_EQ(findWaker(place, Rule::Any, kLate).thread, 0);
}

TEST_F(AtAnObject, NobodyIsKnownWithoutAPost) {
  for (const Rule rule : {Rule::Holder, Rule::Last, Rule::Any})
    expect(rule, 0, 0, false);
}

TEST_F(AtAnObject, OnePosterIsCertain) {
  post(kAnna, 10, 12);
  for (const Rule rule : {Rule::Holder, Rule::Last, Rule::Any})
    expect(rule, kAnna, 10, true);
  post(kAnna, 20, 22);
  for (const Rule rule : {Rule::Holder, Rule::Last, Rule::Any})
    expect(rule, kAnna, 20, true);
}

TEST_F(AtAnObject, OfTwoPostersTheLast) {
  post(kAnna, 10, 12);
  post(kBert, 20, 22);
  expect(Rule::Holder, kBert, 20, true);
  expect(Rule::Last, kBert, 20, true);
  expect(Rule::Any, kBert, 20, false);
}

TEST_F(AtAnObject, TwoReadersThatLeaveAtOnceAreNotCertain) {
  post(kAnna, 10, 25);
  post(kBert, 20, 22);
  expect(Rule::Last, kBert, 20, false);
}

TEST_F(AtAnObject, TheFirstThatWakesAllIsCertain) {
  post(kAnna, 10, 12, kWakesAll);
  post(kBert, 20, 22);
  expect(Rule::Any, kAnna, 10, true);
}

TEST_F(AtAnObject, OneThatWakesAllAfterAnotherIsNot) {
  post(kAnna, 10, 12);
  post(kBert, 20, 22, kWakesAll);
  expect(Rule::Any, kBert, 20, false);
}

// Anna and then Bert post when `turn` waiters had queued.
void postInTurn(std::uint64_t turn, std::uint64_t begin, std::uint64_t end) {
  finishPost(writePost(kObject, {kAnna, begin, kWakesAll, turn}), end);
  finishPost(writePost(kObject, {kBert, 500, 0, 9}), 502);
}

TEST_F(AtAnObject, OneWhoWokeAllBeforeTheWaiterHadQueuedIsNotMeant) {
  place_.turn = 5;
  place_.begin = 100;
  postInTurn(5, 90, 99);
  expect(Rule::Any, kBert, 500, true);
}

TEST_F(AtAnObject, OneWhoMayHaveBeenTooEarlyLeavesItUncertain) {
  place_.turn = 5;
  place_.begin = 100;
  postInTurn(5, 90, 101);
  expect(Rule::Any, kBert, 500, false);
}

TEST_F(AtAnObject, OneWhoWokeAllThatHadQueuedIsMeant) {
  place_.turn = 5;
  place_.begin = 100;
  postInTurn(6, 120, 122);
  expect(Rule::Any, kAnna, 120, true);
}

TEST_F(AtAnObject, AReaderIsLetGoByAWriter) {
  post(kAnna, 10, 12, kByWriter);
  post(kBert, 20, 22);
  expect(Rule::Writer, kAnna, 10, true);
  expect(Rule::Last, kBert, 20, true);
}

TEST_F(AtAnObject, OneWhoMayHaveMovedTheWaiterIsNotCertain) {
  post(kAnna, 10, 12, kMayMove);
  expect(Rule::Any, kAnna, 10, false);
}

TEST_F(AtAnObject, WhatCameAfterTheWaiterWentOnIsNotMeant) {
  post(kAnna, 10, 12);
  post(kBert, kLate + 1, kLate + 2);
  for (const Rule rule : {Rule::Holder, Rule::Last, Rule::Any})
    expect(rule, kAnna, 10, true);
}

TEST_F(AtAnObject, WhatHadNoEffectIsNotMeant) {
  post(kAnna, 10, 12);
  takeBack(writePost(kObject, {kBert, 20, 0, kNoTurn}));
  for (const Rule rule : {Rule::Holder, Rule::Last, Rule::Any})
    expect(rule, kAnna, 10, true);
}

TEST_F(AtAnObject, WhatCameBeforeTheWaiterIsNotMeant) {
  post(kBert, 1, 2);
  leavePlace(place_);
  place_ = takePlace(kObject);
  expect(Rule::Any, 0, 0, false);
}

TEST_F(AtAnObject, MoreThanAreRememberedAreNotCertain) {
  for (std::uint64_t at = 1; at <= kPosts; ++at)
    post(kAnna, at, at);
  expect(Rule::Any, kAnna, kPosts, true);
  post(kAnna, 100, 100);
  expect(Rule::Any, kAnna, 100, false);
  expect(Rule::Holder, kAnna, 100, true);
}

TEST_F(AtAnObject, AnotherObjectsPostsInItsEntryAreNotMeant) {
  const Place old = place_;
  leavePlace(place_);
  std::uint64_t other = kObject + 16;  // an object with the same entry
  while (bucketOf(other) != bucketOf(kObject))
    other += 16;
  place_ = takePlace(other);
  ASSERT_EQ(place_.entry, old.entry);
  arrive(old, {kAnna, 10, 0, kNoTurn});  // by a thread that saw the entry before it changed hands
  expect(Rule::Any, 0, 0, false);
}

TEST_F(AtAnObject, TheLastOfARoundLetsAllGo) {
  const Place second = takePlace(kObject);
  arrive(place_, {kAnna, 10, 0, kNoTurn});
  const std::uint32_t last = arrive(second, {kBert, 90'000, 0, kNoTurn});
  EXPECT_EQ(endRound(second), last + 1);
  arrive(second, {kBert, 99'000, 0, kNoTurn});  // for the next round, before the first has looked
  expect(Rule::Arrival, kBert, 90'000, true);
  leavePlace(second);
}

TEST_F(AtAnObject, TwoThatArriveAtOnceAreNotCertain) {
  arrive(place_, {kAnna, 10, 0, kNoTurn});
  arrive(place_, {kBert, 11, 0, kNoTurn});
  expect(Rule::Arrival, kBert, 11, false);
}

TEST(WaitTable, AFullOneKnowsNobody) {
  std::vector<Place> places;
  for (std::uint64_t object = 64; places.empty() || places.back().entry != kNoEntry; object += 64)
    places.push_back(takePlace(object));
  EXPECT_GT(places.size(), 100U);
  EXPECT_EQ(findWaker(places.back(), Rule::Any, kLate).thread, 0);
  for (const Place& place : places)
    leavePlace(place);
  for (std::uint64_t object = 64; object <= 64 * places.size(); object += 64)
    EXPECT_FALSE(isAwaited(object));
}

TEST(WaitTable, AChildFindsItEmpty) {
  ASSERT_TRUE(emptyTableInChildren());
  const Place place = takePlace(kObject);
  const pid_t child = fork();
  if (child == 0) {
    const bool empty = !isAwaited(kObject);
    const Place own = takePlace(kObject);
    leavePlace(place);  // its parent's
    _exit(empty && isAwaited(kObject) && own.epoch != place.epoch ? 0 : 1);
  }
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  leavePlace(place);
}

constexpr int kRounds = 20'000;

// The wakers that woken threads have found.
struct Findings {
  std::atomic<int> nobody{0};
  std::atomic<int> strange{0};
};

void meetAtFewObjects(std::int32_t self, Findings& found) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t object = kObject + static_cast<std::uint64_t>(round % 5) * 64;
    const Place place = takePlace(object);
    finishPost(writePost(object, {self, object, 0, kNoTurn}), object + 1);
    const Waker waker = findWaker(place, Rule::Any, kLate << 40);
    if (waker.thread == 0)
      ++found.nobody;
    else if (waker.thread < 1 || waker.thread > 4 || waker.ticks != object)
      ++found.strange;
    leavePlace(place);
  }
}

// A poster that is stopped while it writes may later overwrite a post that came 16 later. Then no
// waker is known, which must be rare.
TEST(WaitTable, ManyThreadsAtOnce) {
  Findings found;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (std::int32_t self = 1; self <= 4; ++self)
      threads.emplace_back([&found, self] { meetAtFewObjects(self, found); });
  }
  EXPECT_EQ(found.strange.load(), 0);
  EXPECT_LT(found.nobody.load(), 4 * kRounds / 1000);
  for (std::uint64_t object = kObject; object < kObject + 320; object += 64)
    EXPECT_FALSE(isAwaited(object));
}

}  // namespace
}  // namespace sonde::preload::sync
