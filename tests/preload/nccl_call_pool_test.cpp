#include "collector/preload/nccl/nccl_call_pool.h"

#include "collector/core/platform/clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sonde::preload::nccl {
namespace {

Call callOf(std::uint64_t number) {
  Call call;
  call.identity.number = call.record.number = call.record.seq = call.record.bytes = number;
  call.bufferBytes = number;
  return call;
}

bool isWhole(const Call& call) {
  return call.record.seq == call.record.number && call.record.bytes == call.record.number &&
         call.bufferBytes == call.record.number;
}

TEST(NcclCallPool, AHandleIsOfItsCallUntilAnotherHasItsPlace) {
  const Handle handle = publishCall(callOf(7), false);
  CallRest rest;
  ASSERT_TRUE(finishCall(handle, rest));
  EXPECT_TRUE(rest.running);
  EXPECT_FALSE(finishCall(handle, rest));
  Call call;
  ASSERT_TRUE(readCall(handle, call));
  EXPECT_EQ(call.record.number, 7u);
  for (std::uint32_t at = 0; at < kMaxCalls; ++at)
    ASSERT_TRUE(finishCall(publishCall(callOf(at), false), rest));
  EXPECT_FALSE(readCall(handle, call));
  EXPECT_FALSE(joinChild(handle));
  EXPECT_FALSE(tellOfCall(handle));
}

TEST(NcclCallPool, ACallThatRunsKeepsItsPlace) {
  const Handle running = publishCall(callOf(1), false);
  const Handle parent = publishCall(callOf(2), false);
  CallRest rest;
  ASSERT_TRUE(joinChild(parent) && finishCall(parent, rest));
  for (std::uint32_t at = 0; at < 2 * kMaxCalls; ++at)
    ASSERT_TRUE(finishCall(publishCall(callOf(at), false), rest));
  Call call;
  EXPECT_TRUE(readCall(running, call) && call.record.number == 1);
  EXPECT_TRUE(readCall(parent, call) && call.record.number == 2);
  std::uint64_t latest = 0;
  const std::uint64_t now = core::readTicks();
  EXPECT_TRUE(leaveChild(parent, now, latest));
  EXPECT_EQ(latest, now);
  ASSERT_TRUE(closeCall(running, rest));
  EXPECT_TRUE(rest.running);
  EXPECT_FALSE(readCall(running, call));
}

TEST(NcclCallPool, TheLastOfItsChildrenEndsACall) {
  const std::uint64_t now = core::readTicks();
  const std::uint64_t ahead = now + 100'000'000'000;
  const Handle parent = publishCall(callOf(1), false);
  CallRest rest;
  ASSERT_TRUE(joinChild(parent) && joinChild(parent) && joinChild(parent));
  std::uint64_t latest = 0;
  EXPECT_FALSE(leaveChild(parent, now - 7, latest));
  ASSERT_TRUE(finishCall(parent, rest));
  EXPECT_TRUE(rest.children);
  EXPECT_EQ(rest.lastTicks, now - 7);
  EXPECT_FALSE(leaveChild(parent, ahead, latest));  // from a clock that is ahead
  EXPECT_TRUE(leaveChild(parent, now, latest));
  EXPECT_EQ(latest, ahead);
}

TEST(NcclCallPool, ACallThatHasGoneLeavesNoTimeToTheNextInItsPlace) {
  const Handle gone = publishCall(callOf(1), false);
  CallRest rest;
  std::uint64_t latest = 0;
  ASSERT_TRUE(joinChild(gone) && !leaveChild(gone, core::readTicks(), latest));
  ASSERT_TRUE(closeCall(gone, rest));
  EXPECT_NE(rest.lastTicks, 0u);
  Handle next;
  while (next.index != gone.index || !next) {
    next = publishCall(callOf(2), false);
    ASSERT_TRUE(finishCall(next, rest));
    EXPECT_EQ(rest.lastTicks, 0u);
  }
  EXPECT_FALSE(leaveChild(gone, core::readTicks(), latest));
  ASSERT_TRUE(joinChild(next) && closeCall(next, rest));
  EXPECT_EQ(rest.lastTicks, 0u);
}

TEST(NcclCallPool, ACallIsToldOfOnce) {
  const Handle untold = publishCall(callOf(1), false);
  EXPECT_TRUE(isUntold(untold));
  EXPECT_TRUE(tellOfCall(untold));
  EXPECT_FALSE(tellOfCall(untold));
  EXPECT_FALSE(isUntold(publishCall(callOf(2), true)));
}

// Number of copies of a call, and of torn copies, made while `done` is false.
struct Copies {
  std::atomic<bool> done{false};
  std::atomic<int> all{0};
  std::atomic<int> torn{0};

  void make() {
    Call call;
    for (std::uint32_t back = 0; !done; back = (back + 1) % 4) {
      const Handle handle = callBefore(kMaxCalls - 1 - back);  // those that are reused next
      if (!handle || !readCall(handle, call))
        continue;
      ++all;
      torn += isWhole(call) ? 0 : 1;
    }
  }
};

TEST(NcclCallPool, ACopyIsOfOneCallThoughItsPlaceIsTakenMeanwhile) {
  constexpr std::uint64_t kCalls = 1'000'000;
  Copies copies;
  std::thread first([&] { copies.make(); });
  std::thread second([&] { copies.make(); });
  CallRest rest;
  for (std::uint64_t number = 1; number <= kCalls || copies.all < 1000; ++number)
    finishCall(publishCall(callOf(number), false), rest);
  copies.done = true;
  first.join();
  second.join();
  EXPECT_EQ(copies.torn, 0);
}

}  // namespace
}  // namespace sonde::preload::nccl
