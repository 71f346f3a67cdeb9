#include "analysis/finalise/device_calls.h"

#include "analysis/finalise/finaliser.h"
#include "analysis/ingest/rows/row_sink.h"
#include "analysis/ingest/rows/state_codec.h"
#include "analysis/ingest/spool/device_launches.h"
#include "tests/support/ingest_rig.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::ingest {
namespace {

using model::SliceKind;
using testing::ElementsAre;

// A process with two threads and a stream, as the recorder leaves it.
class DeviceCalls : public ::testing::Test {
 protected:
  DeviceCalls() {
    process_.hostId = trace_.add(model::Host{.name = "a"});
    process_.pid = 10;
    process_.id = trace_.add(process_);
    main_ = trace_.add(model::Thread{.processId = process_.id, .tid = 10});
    other_ = trace_.add(model::Thread{.processId = process_.id, .tid = 11});
    stream_ = trace_.add(model::Stream{.processId = process_.id, .number = 7});
  }
  model::SliceId call(model::ThreadId thread,
                      const char* name,
                      std::pair<std::int64_t, std::int64_t> time,
                      std::int64_t correlation) {
    model::Slice row;
    row.threadId = thread;
    row.kind = SliceKind::Api;
    row.category = "cuda_runtime";
    row.nameId = trace_.name(name);
    row.startNs = time.first;
    row.durNs = time.second - time.first;
    row.correlationId = correlation;
    return trace_.add(row);
  }
  void overhead(model::ThreadId thread,
                const char* name,
                std::pair<std::int64_t, std::int64_t> time,
                model::OptionalInt correlation) {
    model::Slice row;
    row.threadId = thread;
    row.kind = SliceKind::Api;
    row.category = "overhead";
    row.nameId = trace_.name(name);
    row.startNs = time.first;
    row.durNs = time.second - time.first;
    row.correlationId = correlation;
    trace_.add(row);
  }
  void kernel(const char* name, std::int64_t correlation, std::int64_t startNs = 1000) {
    model::Kernel row;
    row.work.streamId = stream_;
    row.work.nameId = trace_.name(name);
    row.work.startNs = startNs;
    row.work.durNs = 10;
    row.work.correlationId = correlation;
    trace_.add(row);
  }
  // The result of `sql` after calls were placed and work was joined to launches.
  std::vector<std::string> joined(const std::string& sql) {
    trace_.finish(false);
    store::Database trace = test::must(store::Database::open(path_, store::Access::ReadWrite));
    store::Transaction transaction = test::must(store::Transaction::begin(trace));
    test::must(placeDeviceCalls(trace));
    test::must(joinLaunches(trace));
    test::must(transaction.commit());
    test::must(store::finalise(std::move(trace)));
    return test::readRows(test::must(store::Database::open(path_, store::Access::ReadOnly)), sql);
  }

  test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "calls.sonde";
  test::TraceBuilder trace_{path_};
  model::Process process_;
  model::ThreadId main_;
  model::ThreadId other_;
  model::StreamId stream_;
};

constexpr const char* kCalls =
    "SELECT n.text, coalesce(p.text, '-'), s.depth, s.lane, s.scope, s.scope_how FROM v_slice s "
    "JOIN string n ON n.text = s.name LEFT JOIN (SELECT slice.id, text FROM slice JOIN string ON "
    "string.id = name_id) p ON p.id = s.parent_id ORDER BY s.start_ns, s.depth";

TEST_F(DeviceCalls, AreInTheInnermostSliceThatHoldsThem) {
  const auto step = trace_.slice(main_, SliceKind::Operation, "step", {0, 100});
  trace_.slice(main_, SliceKind::Forward, "forward", {10, 50}, step);
  call(main_, "in forward", {20, 30}, 1);
  call(main_, "in step", {60, 70}, 2);
  call(main_, "outside", {200, 210}, 3);
  call(other_, "on another", {20, 30}, 4);
  EXPECT_THAT(joined(kCalls),
              ElementsAre("step|-|0|0|-|none",
                          "forward|step|1|0|step|own",
                          "on another|-|0|0|-|none",
                          "in forward|forward|2|0|forward|own",
                          "in step|step|1|0|step|own",
                          "outside|-|0|0|-|none"));
}

TEST_F(DeviceCalls, NestInEachOtherAndHoldWhatLiesInThem) {
  const auto step = trace_.slice(main_, SliceKind::Operation, "step", {0, 100});
  trace_.slice(main_, SliceKind::Io, "read", {30, 35}, step);
  call(main_, "runtime", {20, 60}, 1);
  call(main_, "driver", {25, 50}, 1);
  EXPECT_THAT(joined(kCalls),
              ElementsAre("step|-|0|0|-|none",
                          "runtime|step|1|0|step|own",
                          "driver|runtime|2|0|step|own",
                          "read|driver|3|0|step|own"));
}

TEST_F(DeviceCalls, LeadToWhatTheyLaunched) {
  const auto step = trace_.slice(main_, SliceKind::Operation, "step", {0, 100});
  static_cast<void>(step);
  call(main_, "launch", {20, 30}, 1);
  kernel("first", 1);
  kernel("second of a graph", 1);
  kernel("of nobody", 9);
  EXPECT_THAT(joined("SELECT k.name, n.text, k.scope FROM v_kernel k LEFT JOIN slice l ON l.id = "
                     "k.launch_slice_id LEFT JOIN string n ON n.id = l.name_id ORDER BY k.id"),
              ElementsAre("first|launch|step", "second of a graph|launch|step", "of nobody|-|-"));
}

TEST_F(DeviceCalls, AreTheLastOfTheirCorrelationBeforeWhatTheyLaunched) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  call(main_, "first", {20, 30}, 1);
  call(main_, "second", {kHour, kHour + 100}, 1);
  call(main_, "second's driver", {kHour + 10, kHour + 90}, 1);
  kernel("early", 1, 1000);
  kernel("late", 1, kHour + 50);
  kernel("by a clock that is ahead", 1, kHour - 100);
  kernel("had not begun in the first hour", 1, -2000);
  kernel("had not begun in the second", 1, -kHour);
  EXPECT_THAT(joined("SELECT k.name, s.name, k.launch_delay_ns FROM v_kernel k JOIN v_slice s ON "
                     "s.id = k.launch_slice_id ORDER BY k.id"),
              ElementsAre("early|first|980",
                          "late|second|50",
                          "by a clock that is ahead|second|-100",
                          "had not begun in the first hour|first|-",
                          "had not begun in the second|second|-"));
}

// The numbers repeat after 71 minutes at the earliest.
TEST_F(DeviceCalls, OfAnEarlierRoundOfTheNumbersAreNobodys) {
  constexpr std::int64_t kMinute = 60'000'000'000;
  call(main_, "first", {20, 30}, 1);
  kernel("an hour in a queue", 1, 71 * kMinute);
  kernel("whose launch was lost", 1, 72 * kMinute);
  kernel("the same, which had not begun", 1, -72 * kMinute);
  EXPECT_THAT(joined("SELECT k.name, s.name FROM v_kernel k LEFT JOIN v_slice s ON s.id = "
                     "k.launch_slice_id ORDER BY k.id"),
              ElementsAre("an hour in a queue|first",
                          "whose launch was lost|-",
                          "the same, which had not begun|-"));
}

TEST_F(DeviceCalls, AreNoCompilationsAndHoldTheirDriversCalls) {
  static_cast<void>(trace_.slice(other_, SliceKind::Operation, "step", {0, 200}));
  call(other_, "cudaLaunchKernel", {20, 90}, 1);
  overhead(other_, "Module loading", {30, 80}, std::nullopt);
  call(other_, "cuLaunchKernel", {40, 50}, 1);
  overhead(main_, "Just-in-time compilation", {60, 70}, 1);
  kernel("compiled", 1);
  EXPECT_THAT(joined("SELECT k.name, s.name, k.scope, k.launch_delay_ns FROM v_kernel k JOIN "
                     "v_slice s ON s.id = k.launch_slice_id"),
              ElementsAre("compiled|cudaLaunchKernel|step|980"));
}

TEST_F(DeviceCalls, AllocateInTheirScope) {
  trace_.slice(main_, SliceKind::Operation, "step", {0, 100});
  trace_.slice(main_, SliceKind::Backward, "backward", {200, 300});
  call(main_, "cudaMalloc", {20, 30}, 1);
  call(other_, "cudaMallocAsync", {220, 230}, 2);
  for (const std::int64_t correlation : {1, 2, 9})
    trace_.add(model::Allocation{.processId = process_.id,
                                 .address = correlation,
                                 .bytes = 512,
                                 .allocNs = 25 + 200 * (correlation - 1),
                                 .correlationId = correlation});
  EXPECT_THAT(
      joined("SELECT a.address, s.name, o.name FROM allocation a LEFT JOIN v_slice s ON s.id "
             "= a.slice_id LEFT JOIN v_slice o ON o.id = a.scope_id ORDER BY a.id"),
      ElementsAre("1|cudaMalloc|step", "2|cudaMallocAsync|backward", "9|-|-"));
}

TEST_F(DeviceCalls, HaveTheIdsThatTheProgramGaveThem) {
  const auto first = call(main_, "launch", {20, 30}, 1);
  call(main_, "other", {40, 50}, 2);
  StatePacker given;
  given.put(ExternalId{process_.id.value, 1, trace_.name("external id (custom 0)").value, 77, 60});
  auto sink = test::must(RowSink::open(trace_.writer()));
  for (const std::int64_t twice : {0, 1})
    sink.setState("spool", kExternalIds, twice, std::string_view(given.bytes()));
  EXPECT_THAT(joined("SELECT owner, owner_id, key, value FROM v_arg"),
              ElementsAre("slice|" + std::to_string(first.value) + "|external id (custom 0)|77"));
}

TEST_F(DeviceCalls, AndMarksOfManagedMemoryLieInWhatHoldsThem) {
  trace_.slice(main_, SliceKind::Operation, "step", {0, 100});
  call(main_, "copy", {20, 60}, 1);
  for (int fault = 0; fault < 2; ++fault) {
    model::Slice mark;
    mark.threadId = main_;
    mark.kind = SliceKind::Mark;
    mark.category = kManagedMemory;
    mark.nameId = trace_.name("fault");
    mark.startNs = 30;
    mark.durNs = 0;
    trace_.add(mark);
  }
  EXPECT_THAT(joined(kCalls),
              ElementsAre("step|-|0|0|-|none",
                          "copy|step|1|0|step|own",
                          "fault|copy|2|0|-|none",
                          "fault|copy|2|0|-|none"));
}

// They do not inherit from a thread that waits for another one's backward pass either.
TEST_F(DeviceCalls, OfManagedMemoryInheritNoScope) {
  trace_.slice(other_, SliceKind::Backward, "backward", {0, 100});
  model::Slice mark;
  mark.threadId = main_;
  mark.kind = SliceKind::Mark;
  mark.category = kManagedMemory;
  mark.nameId = trace_.name("fault");
  mark.startNs = 30;
  mark.durNs = 0;
  trace_.add(mark);
  call(main_, "copy", {40, 60}, 1);
  EXPECT_THAT(
      joined(kCalls),
      ElementsAre("backward|-|0|0|-|none", "fault|-|0|0|-|none", "copy|-|0|0|backward|inherited"));
}

// As in autograd: the backward pass is open on one thread and launches on another.
TEST_F(DeviceCalls, OfAutogradsThreadsHaveTheScopeOfWhoWaitsForThem) {
  const auto step = trace_.slice(main_, SliceKind::Operation, "step", {0, 100});
  trace_.slice(main_, SliceKind::Backward, "backward", {10, 90}, step);
  call(other_, "launch", {20, 30}, 1);
  kernel("gradient", 1);
  EXPECT_THAT(joined("SELECT k.name, k.scope, s.scope_how FROM v_kernel k JOIN slice s ON s.id = "
                     "k.launch_slice_id"),
              ElementsAre("gradient|backward|inherited"));
}

TEST_F(DeviceCalls, OfTwoProcessesAreNotMixedUp) {
  model::Process second = process_;
  second.id = {};
  second.pid = 20;
  second.id = trace_.add(second);
  const auto thread = trace_.add(model::Thread{.processId = second.id, .tid = 20});
  call(thread, "theirs", {5, 10}, 1);
  call(main_, "ours", {20, 30}, 1);
  kernel("k", 1);
  EXPECT_THAT(joined("SELECT n.text FROM kernel k JOIN slice s ON s.id = k.launch_slice_id JOIN "
                     "string n ON n.id = s.name_id"),
              ElementsAre("ours"));
}

TEST_F(DeviceCalls, GiveEventsTheirTimesAndWaitsTheirRecords) {
  const auto record = [&](std::int64_t correlation) {
    trace_.add(model::Sync{.processId = process_.id,
                           .streamId = stream_,
                           .kind = model::SyncKind::Record,
                           .eventId = 3,
                           .correlationId = correlation});
  };
  call(main_, "cudaEventRecord", {20, 30}, 1);
  call(main_, "cudaEventRecord", {40, 50}, 2);
  record(1);
  record(2);
  for (const std::int64_t start : {35, 60})
    trace_.add(model::Sync{.processId = process_.id,
                           .streamId = stream_,
                           .kind = model::SyncKind::Wait,
                           .eventId = 3,
                           .startNs = start,
                           .durNs = 1});
  EXPECT_THAT(joined("SELECT w.start_ns, r.start_ns FROM sync w JOIN sync r ON r.id = "
                     "w.waits_for_id ORDER BY 1"),
              ElementsAre("35|20", "60|40"));
}

TEST_F(DeviceCalls, GiveWaitsWithoutATimeTheirs) {
  call(main_, "cudaStreamSynchronize", {20, 30}, 1);
  for (const std::int64_t correlation : {1, 9})
    trace_.add(model::Sync{.processId = process_.id,
                           .streamId = stream_,
                           .kind = model::SyncKind::Stream,
                           .startNs = -70,
                           .correlationId = correlation});
  EXPECT_THAT(joined("SELECT start_ns FROM sync ORDER BY id"), ElementsAre("20", "70"));
}

}  // namespace
}  // namespace sonde::ingest
