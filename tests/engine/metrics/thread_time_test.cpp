#include "analysis/engine/metrics/thread_time.h"

#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace sonde::engine::metrics {
namespace {

using test::kMs;
using test::must;
using ::testing::SizeIs;

std::int64_t blocked(const ThreadTime& time, Cause cause) {
  return time.blockedNs[static_cast<std::size_t>(cause)];
}

std::int64_t sumOf(const ThreadTime& time) {
  return time.runningNs + time.runnableNs + time.unknownNs +
         std::accumulate(time.blockedNs.begin(), time.blockedNs.end(), std::int64_t{0});
}

TEST(AccountFor, LeavesWhatNobodySawUnknown) {
  const ThreadTime time = accountFor({.running = {{0, 0}, {100 * kMs, 30 * kMs}},
                                      .runnable = {{0, 0}, {100 * kMs, 10 * kMs}},
                                      .waits = {{{10 * kMs, 50 * kMs}, Cause::Lock}}});
  EXPECT_EQ(time.wallNs, 100 * kMs);
  EXPECT_EQ(time.runningNs, 30 * kMs);
  EXPECT_EQ(time.runnableNs, 10 * kMs);
  EXPECT_EQ(blocked(time, Cause::Lock), 40 * kMs);
  EXPECT_EQ(time.unknownNs, 20 * kMs);
}

TEST(AccountFor, GivesAnInstantToTheInnermostWait) {
  const ThreadTime time = accountFor({.running = {{0, 0}, {100 * kMs, 0}},
                                      .runnable = {{0, 0}, {100 * kMs, 0}},
                                      .waits = {{{20 * kMs, 40 * kMs}, Cause::Lock},
                                                {{0, 60 * kMs}, Cause::Message},
                                                {{30 * kMs, 35 * kMs}, Cause::File}}});
  EXPECT_EQ(blocked(time, Cause::File), 5 * kMs);
  EXPECT_EQ(blocked(time, Cause::Lock), 15 * kMs);
  EXPECT_EQ(blocked(time, Cause::Message), 40 * kMs);
  EXPECT_EQ(time.unknownNs, 40 * kMs);
}

TEST(AccountFor, SharesWhatWasBlockedAmongCallsThatAlsoRan) {
  const ThreadTime time =
      accountFor({.running = {{0, 0}, {100 * kMs, 50 * kMs}},
                  .runnable = {{0, 0}, {100 * kMs, 0}},
                  .waits = {{{0, 60 * kMs}, Cause::File}, {{60 * kMs, 80 * kMs}, Cause::Message}}});
  EXPECT_NEAR(static_cast<double>(blocked(time, Cause::File)), 37.5 * kMs, 1);
  EXPECT_NEAR(static_cast<double>(blocked(time, Cause::Message)), 12.5 * kMs, 1);
  EXPECT_NEAR(static_cast<double>(time.unknownNs), 0, 1);
}

// A call's own work in one stretch does not explain a block in another.
TEST(AccountFor, LooksAtEachStretchByItself) {
  const ThreadTime time =
      accountFor({.running = {{0, 0}, {100 * kMs, 100 * kMs}, {200 * kMs, 100 * kMs}},
                  .runnable = {{0, 0}, {200 * kMs, 0}},
                  .waits = {{{0, 100 * kMs}, Cause::Message}}});
  EXPECT_EQ(blocked(time, Cause::Message), 0);
  EXPECT_EQ(time.unknownNs, 100 * kMs);
}

// The scheduler counts a running thread's time in ticks: here 4 ms come one stretch late.
TEST(AccountFor, LetsTheNextStretchMakeUpForALateTick) {
  const ThreadTime time = accountFor(
      {.running = {{0, 0}, {100 * kMs, 96 * kMs}, {200 * kMs, 150 * kMs}, {300 * kMs, 150 * kMs}},
       .runnable = {{0, 0}, {300 * kMs, 0}},
       .waits = {{{150 * kMs, 300 * kMs}, Cause::Lock}}});
  EXPECT_EQ(blocked(time, Cause::Lock), 150 * kMs);
  EXPECT_EQ(time.unknownNs, 0);
}

TEST(AccountFor, NeverHasLessThanNothingUnknown) {
  const ThreadTime time = accountFor({.running = {{0, 0}, {100 * kMs, 0}, {200 * kMs, 104 * kMs}},
                                      .runnable = {{0, 0}, {200 * kMs, 0}},
                                      .waits = {{{0, 100 * kMs}, Cause::Sleep}}});
  EXPECT_EQ(time.unknownNs, 0);
  EXPECT_EQ(blocked(time, Cause::Sleep), 96 * kMs);
  EXPECT_EQ(sumOf(time), 200 * kMs);
}

// For a thread that never blocked, or less than its readings exceed the wall time.
TEST(AccountFor, NoPartIsLessThanNothing) {
  const ThreadTime running = accountFor(
      {.running = {{0, 0}, {100 * kMs, 101 * kMs}}, .runnable = {{0, 0}, {100 * kMs, 3 * kMs}}});
  EXPECT_EQ(running.blockedNs, decltype(running.blockedNs)());
  EXPECT_EQ(running.runnableNs, 0);
  EXPECT_EQ(running.runningNs, 100 * kMs);
  EXPECT_EQ(running.unknownNs, 0);
  const ThreadTime slept =
      accountFor({.running = {{0, 0}, {100 * kMs, 98 * kMs}, {200 * kMs, 204 * kMs}},
                  .runnable = {{0, 0}, {200 * kMs, 0}},
                  .waits = {{{0, 2 * kMs}, Cause::Sleep}}});
  EXPECT_EQ(slept.blockedNs, decltype(slept.blockedNs)());
  EXPECT_EQ(slept.runningNs, 200 * kMs);
  EXPECT_EQ(sumOf(slept), 200 * kMs);
}

TEST(AccountFor, TakesPagesThatWereReadInForFiles) {
  const ThreadTime time =
      accountFor({.running = {{0, 0}, {100 * kMs, 20 * kMs}, {200 * kMs, 40 * kMs}},
                  .runnable = {{0, 0}, {200 * kMs, 0}},
                  .majorFaults = {{0, 5}, {100 * kMs, 5}, {200 * kMs, 9}},
                  .waits = {{{110 * kMs, 120 * kMs}, Cause::Lock}}});
  EXPECT_EQ(blocked(time, Cause::File), 70 * kMs);
  EXPECT_EQ(blocked(time, Cause::Lock), 10 * kMs);
  EXPECT_EQ(time.unknownNs, 80 * kMs);
}

TEST(AccountFor, TakesAWaitThatNeverEndedToTheLastReading) {
  const ThreadTime time = accountFor({.running = {{0, 0}, {100 * kMs, 0}},
                                      .runnable = {{0, 0}, {100 * kMs, 0}},
                                      .waits = {{{40 * kMs, INT64_MAX}, Cause::Join}}});
  EXPECT_EQ(blocked(time, Cause::Join), 60 * kMs);
}

// Each millisecond a thread runs, is runnable, waits in a call or is blocked unseen; its readings
// come in steps. The time in calls is found exactly if it did nothing else in them.
TEST(AccountFor, FindsWhatARandomThreadDid) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    ThreadRecord record;
    ThreadTime truth;
    std::int64_t running = 0;
    std::int64_t runnable = 0;
    record.running = {{0, 0}};
    record.runnable = {{0, 0}};
    std::int64_t now = 0;
    for (int stretch = 0; stretch < 8; ++stretch) {
      for (int part = 0; part < 4; ++part) {
        const std::int64_t length = std::uniform_int_distribution<int>(1, 9)(random) * kMs;
        const int what = std::uniform_int_distribution<int>(0, 8)(random);
        if (what == 0)
          running += length;
        else if (what == 1)
          runnable += length;
        else if (what == 2)
          truth.unknownNs += length;
        else {
          const auto cause = static_cast<Cause>(what - 3);
          record.waits.push_back({{now, now + length}, cause});
          truth.blockedNs[static_cast<std::size_t>(cause)] += length;
        }
        now += length;
      }
      record.running.push_back({now, running});
      if (std::bernoulli_distribution(0.9)(random) || stretch == 7)
        record.runnable.push_back({now, runnable});
    }
    std::shuffle(record.waits.begin(), record.waits.end(), random);
    const ThreadTime time = accountFor(record);
    EXPECT_EQ(time.wallNs, now);
    EXPECT_EQ(sumOf(time), now);
    EXPECT_EQ(time.runningNs, running);
    EXPECT_EQ(time.runnableNs, runnable);
    if (record.runnable.size() == record.running.size()) {
      EXPECT_EQ(time.blockedNs, truth.blockedNs);
      EXPECT_EQ(time.unknownNs, truth.unknownNs);
    }
  }
}

TEST(ThreadTimes, KnowTheCausesOfATracesCalls) {
  const test::TemporaryFolder folder;
  test::TraceBuilder trace(folder / "t.sonde");
  model::Host host;
  host.name = "host";
  const model::HostId hostId = trace.add(host);
  model::Process process;
  process.hostId = hostId;
  process.pid = 42;
  process.rank = 3;
  process.startNs = 0;
  const model::ProcessId processId = trace.add(process);
  model::Thread thread;
  thread.processId = processId;
  thread.tid = 43;
  thread.name = "worker";
  const model::ThreadId worker = trace.add(thread);
  thread.tid = 44;
  const model::ThreadId unread = trace.add(thread);
  for (const char* name : {"cpu time", "run queue time"}) {
    model::Counter counter;
    counter.hostId = hostId;
    counter.processId = processId;
    counter.threadId = worker;
    counter.nameId = trace.name(name);
    counter.unit = "ns";
    const model::CounterId id = trace.add(counter);
    for (const std::int64_t at : {0, 100})
      trace.add(model::Sample{id, at * kMs, 0});
  }
  const auto slice =
      [&](model::SliceKind kind, const char* name, std::int64_t from, std::int64_t to) {
        trace.slice(worker, kind, name, {from * kMs, to * kMs});
      };
  slice(model::SliceKind::Io, "read", 0, 1);
  slice(model::SliceKind::Wait, "read", 1, 3);
  slice(model::SliceKind::Wait, "epoll_wait", 3, 7);
  slice(model::SliceKind::Wait, "pthread_cond_wait", 10, 18);
  slice(model::SliceKind::Wait, "pthread_join", 20, 36);
  slice(model::SliceKind::Wait, "usleep", 40, 72);
  slice(model::SliceKind::Operation, "read", 72, 100);
  trace.slice(unread, model::SliceKind::Wait, "usleep", {0, 5});
  model::Channel channel;
  channel.processId = processId;
  channel.local = "a";
  channel.remote = "b";
  channel.kind = model::ChannelKind::Tcp;
  model::Transfer transfer;
  transfer.channelId = trace.add(channel);
  transfer.threadId = worker;
  transfer.startNs = 80 * kMs;
  transfer.durNs = 4 * kMs;
  trace.add(transfer);
  channel.kind = model::ChannelKind::Mpi;
  transfer.channelId = trace.add(channel);
  transfer.startNs = 90 * kMs;
  trace.add(transfer);
  trace.finish();
  const auto times = must(threadTimes(must(store::openTrace(folder / "t.sonde"))));
  ASSERT_THAT(times, SizeIs(1));
  const ThreadTime& time = times.front();
  EXPECT_EQ(time.rank, 3);
  EXPECT_EQ(time.pid, 42);
  EXPECT_EQ(time.tid, 43);
  EXPECT_EQ(time.name, "worker");
  EXPECT_EQ(time.wallNs, 100 * kMs);
  EXPECT_EQ(blocked(time, Cause::File), 1 * kMs);
  EXPECT_EQ(blocked(time, Cause::Message), (2 + 4 + 4) * kMs);
  EXPECT_EQ(blocked(time, Cause::Lock), 8 * kMs);
  EXPECT_EQ(blocked(time, Cause::Join), 16 * kMs);
  EXPECT_EQ(blocked(time, Cause::Sleep), 32 * kMs);
  EXPECT_EQ(time.unknownNs, 33 * kMs);
}

}  // namespace
}  // namespace sonde::engine::metrics
