// The CPU time that samples represent, with clocks that the tests set.
#include "collector/preload/stack/interposer/cpu_account.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace sonde::preload::stack {
namespace {

constexpr std::int64_t kMs = 1'000'000;

std::int64_t gCpu = 0;
std::int64_t gKernel = 0;

constexpr CpuAccount::Clocks kClocks = {[]() noexcept { return gCpu; },
                                        []() noexcept { return gKernel; }};

// A thread with a period of 1 ms, and a tick that finds it each 4 ms.
class Account : public ::testing::Test {
 protected:
  void SetUp() override {
    gCpu = 7 * kMs;  // before its first look
    gKernel = 3 * kMs;
  }
  void begin(bool hasEvent) { account_ = CpuAccount(kClocks, kMs, hasEvent); }
  void run(std::int64_t ns) { gCpu += ns; }
  void runInKernel(std::int64_t ns) {
    gCpu += ns;
    gKernel += ns;
  }
  std::int64_t event() {
    const Worth worth = account_.atEvent();
    lost_ += worth.lost;
    account_.endHandler();
    return worth.ns;
  }
  std::int64_t tick(bool inCall, std::int64_t expirations = 4) {
    const Worth worth = account_.atTick(expirations, inCall);
    lost_ += worth.lost;
    return worth.ns;
  }

  CpuAccount account_;
  std::int64_t lost_ = 0;
};

TEST_F(Account, ATickWithoutAnEventStandsForItsExpirations) {
  begin(false);
  run(4 * kMs);
  EXPECT_EQ(tick(false), 4 * kMs);
  run(100 * kMs);
  EXPECT_EQ(tick(false, 100), 100 * kMs);
  EXPECT_EQ(lost_, 0);
}

TEST_F(Account, ALongCallIsNotLost) {
  begin(false);
  runInKernel(3000 * kMs);
  EXPECT_EQ(tick(true, 3000), 3000 * kMs);
  EXPECT_EQ(lost_, 0);
}

TEST_F(Account, WhatASignalWasBlockedForIsLostPastHalfASecond) {
  begin(false);
  run(400 * kMs);
  EXPECT_EQ(tick(false, 400), 400 * kMs);
  run(2000 * kMs);
  runInKernel(100 * kMs);
  EXPECT_EQ(tick(false, 2100), 101 * kMs);
  EXPECT_EQ(lost_, 1999);
}

TEST_F(Account, AnEventStandsForWhatPassed) {
  begin(true);
  run(kMs);
  EXPECT_EQ(event(), kMs);
  EXPECT_EQ(tick(true), 0);  // nothing is owed
  run(kMs);
  EXPECT_EQ(event(), kMs);
}

TEST_F(Account, TimeInTheKernelIsOwedToATickInACall) {
  begin(true);
  run(kMs / 2);
  runInKernel(10 * kMs);
  run(kMs / 2);
  EXPECT_EQ(event(), kMs);
  EXPECT_EQ(tick(false), 0);
  EXPECT_EQ(tick(true), 10 * kMs);
  EXPECT_EQ(tick(true), 0);
}

TEST_F(Account, ACallWithoutAnyEventIsToldByTicks) {
  begin(true);
  std::int64_t told = 0;
  for (int at = 0; at < 1000; ++at) {
    runInKernel(4 * kMs);
    told += tick(true);
  }
  EXPECT_EQ(told, 3999 * kMs);  // the rest may be for the event
  EXPECT_EQ(lost_, 0);
}

TEST_F(Account, WhatIsOwedForLongIsToldAnywhere) {
  begin(true);
  run(kMs);
  runInKernel(30 * kMs);
  EXPECT_EQ(event(), kMs);
  EXPECT_EQ(tick(false), 30 * kMs);
}

// As if a hypervisor took the processor away.
TEST_F(Account, ALateEventIsNotTheKernelsBeyondItsOwnAccount) {
  begin(true);
  for (int at = 0; at < 10; ++at) {  // reported by ticks: no credit for later
    runInKernel(10 * kMs);
    tick(true);
  }
  std::int64_t told = 0;
  std::int64_t owed = 0;
  for (int at = 0; at < 50; ++at) {
    run(5 * kMs);
    told += event();
    owed += tick(true);
  }
  EXPECT_LE(owed, 21 * kMs);
  EXPECT_EQ(told + owed, 251 * kMs);
}

TEST_F(Account, WhatTheHandlerTakesIsNotTimeInTheKernel) {
  begin(true);
  std::int64_t told = 0;
  for (int at = 0; at < 100; ++at) {
    run(kMs);
    told += account_.atEvent().ns;
    runInKernel(kMs * 3 / 4);
    account_.endHandler();
    EXPECT_EQ(tick(true), 0);
  }
  EXPECT_EQ(told, 100 * kMs + 99 * kMs * 3 / 4);  // yet all of the thread's time is reported
}

TEST_F(Account, SamplesTakeNoMoreThanHalfOfAThreadsTime) {
  begin(true);
  int samples = 0;
  std::int64_t told = 0;
  for (int at = 0; at < 100; ++at) {
    run(kMs);
    const Worth worth = account_.atEvent();
    if (worth.ns > 0) {
      ++samples;
      run(4 * kMs);
    }
    told += worth.ns;
    account_.endHandler();
  }
  EXPECT_EQ(samples, 25);
  EXPECT_EQ(told, 193 * kMs);
}

TEST_F(Account, AThreadWhoseEventHasEndedIsToldByTicks) {
  begin(true);
  std::int64_t told = 0;
  int ticks = 0;
  while (!account_.missesEvent() && ticks < 100) {
    run(4 * kMs);
    ++ticks;
    told += tick(false);
  }
  EXPECT_LT(ticks, 40);
  account_.loseEvent();
  account_.endHandler();
  EXPECT_FALSE(account_.missesEvent());
  run(4 * kMs);
  told += tick(false);
  EXPECT_EQ(told, (ticks + 1) * 4 * kMs);
}

TEST_F(Account, AForeignSignalChangesNothing) {
  begin(true);
  run(kMs);
  EXPECT_EQ(event(), kMs);
  run(kMs);
  account_.endHandler();
  EXPECT_EQ(event(), kMs);
}

}  // namespace
}  // namespace sonde::preload::stack
