#include "gui/trace/query_worker.h"

#include <QCoreApplication>
#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

#include <thread>

namespace sonde::gui {
namespace {

using Slot = QueryWorker::Slot;

bool waitIdle(QueryWorker& worker) {
  return QTest::qWaitFor([&] { return worker.idle(); }, 10'000);
}

TEST(QueryWorker, RunsTheJobElsewhereAndTheReplyHere) {
  QueryWorker worker;
  std::thread::id job;
  std::thread::id reply;
  worker.post(Slot::Window, [&](TraceReader&, const Cancellation&) {
    job = std::this_thread::get_id();
    return [&] { reply = std::this_thread::get_id(); };
  });
  ASSERT_TRUE(waitIdle(worker));
  EXPECT_NE(job, std::this_thread::get_id());
  EXPECT_EQ(reply, std::this_thread::get_id());
}

TEST(QueryWorker, ANewerJobCancelsTheOlderOneOfItsSlot) {
  QueryWorker worker;
  std::atomic<bool> running{false};
  std::vector<int> replies;
  worker.post(Slot::Window, [&](TraceReader&, const Cancellation& cancellation) {
    running = true;
    while (!cancellation.requested())
      std::this_thread::yield();
    return [&] { replies.push_back(1); };
  });
  ASSERT_TRUE(QTest::qWaitFor([&] { return running.load(); }, 10'000));
  for (const int number : {2, 3})
    worker.post(Slot::Window, [&, number](TraceReader&, const Cancellation&) {
      return [&, number] { replies.push_back(number); };
    });
  ASSERT_TRUE(waitIdle(worker));
  EXPECT_EQ(replies, std::vector{3});
}

TEST(QueryWorker, SlotsDoNotDisturbEachOther) {
  QueryWorker worker;
  int replies = 0;
  for (const Slot slot : {Slot::Span, Slot::Window, Slot::Details, Slot::Search})
    worker.post(slot, [&](TraceReader&, const Cancellation&) { return [&] { ++replies; }; });
  ASSERT_TRUE(waitIdle(worker));
  EXPECT_EQ(replies, 4);
}

TEST(QueryWorker, AFinishedJobThatIsCancelledBeforeDeliverySaysNothing) {
  QueryWorker worker;
  std::atomic<bool> done{false};
  bool replied = false;
  worker.post(Slot::Details, [&](TraceReader&, const Cancellation&) {
    done = true;
    return [&] { replied = true; };
  });
  while (!done)
    std::this_thread::yield();
  worker.cancel(Slot::Details);
  ASSERT_TRUE(waitIdle(worker));
  EXPECT_FALSE(replied);
}

TEST(QueryWorker, AnnouncesWhenNothingIsLeft) {
  QueryWorker worker;
  const QSignalSpy spy(&worker, &QueryWorker::becameIdle);
  worker.post(Slot::Window, [](TraceReader&, const Cancellation&) { return QueryWorker::Reply(); });
  EXPECT_FALSE(worker.idle());
  ASSERT_TRUE(waitIdle(worker));
  EXPECT_EQ(spy.count(), 1);
}

TEST(QueryWorker, EndsWhileAJobRuns) {
  std::atomic<bool> running{false};
  {
    QueryWorker worker;
    worker.post(Slot::Search, [&](TraceReader&, const Cancellation& cancellation) {
      running = true;
      while (!cancellation.requested())
        std::this_thread::yield();
      return QueryWorker::Reply();
    });
    while (!running)
      std::this_thread::yield();
  }
  SUCCEED();
}

}  // namespace
}  // namespace sonde::gui
