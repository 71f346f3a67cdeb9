// Rows from allocation records, in any order of reading their slots.
#include "analysis/ingest/spool/host_memory_rows.h"

#include "tests/support/ingest_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace sonde::ingest {
namespace {

using test::IngestRig;
using test::SpoolBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::RecordKind;

constexpr std::uint64_t kAddress = 0x7f00'0000'1000;
constexpr const char* kAll =
    "SELECT allocator, bytes, alloc_ns, free_ns FROM allocation ORDER BY alloc_ns, bytes";

wire::Allocation allocation(std::uint64_t ticks, std::uint64_t bytes) {
  wire::Allocation record{};
  record.header.detail = static_cast<std::uint8_t>(wire::Allocator::Malloc);
  record.ticks = ticks;
  record.address = kAddress;
  record.bytes = bytes;
  return record;
}

wire::Release release(std::uint64_t since, std::uint64_t ticks) {
  wire::Release record{};
  record.ticks = ticks;
  record.address = kAddress;
  record.sinceTicks = since;
  return record;
}

TEST(Allocations, AreOfTheirThreadAndItsScope) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  const auto outer = spool.begin(0, wire::SliceKind::Operation, "outer", 50);
  const auto inner = spool.begin(0, wire::SliceKind::Operation, "inner", 90);
  wire::Allocation tensor = allocation(100, 7);
  tensor.header.detail = static_cast<std::uint8_t>(wire::Allocator::Torch);
  spool.add(0, RecordKind::Allocation, tensor);
  spool.end(0, inner, 110);
  spool.add(0, RecordKind::Release, release(100, 120));
  spool.end(0, outer, 130);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(
      rig.rows("SELECT a.allocator, a.address, a.bytes, t.tid, n.text, a.alloc_ns, a.free_ns, "
               "a.device_id, a.correlation_id FROM allocation a JOIN thread t ON t.id = "
               "a.thread_id JOIN slice s ON s.id = a.scope_id JOIN string n ON n.id = s.name_id"),
      ElementsAre("torch|139637976731648|7|11|inner|100|120|-|-"));
}

TEST(Allocations, OfOneAddressAreToldApartByTime) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.thread(1, 22);
  // The slot of the freeing thread is read first, and its two releases come in a row.
  spool.add(1, RecordKind::Release, release(100, 150));
  spool.add(1, RecordKind::Release, release(200, 250));
  spool.add(0, RecordKind::Allocation, allocation(100, 1));
  spool.add(0, RecordKind::Allocation, allocation(200, 2));
  spool.add(0, RecordKind::Allocation, allocation(300, 3));
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kAll),
              ElementsAre("malloc|1|100|150", "malloc|2|200|250", "malloc|3|300|-"));
}

TEST(Allocations, GivenBackWithoutHavingBeenMadeAreNone) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.add(0, RecordKind::Release, release(100, 150));
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kAll), IsEmpty());
  EXPECT_EQ(rig.counts().damaged, 0U);
}

TEST(Allocations, ByNobodyAreDamage) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  for (const int who : {0, 3, 200}) {
    wire::Allocation record = allocation(100, 1);
    record.header.detail = static_cast<std::uint8_t>(who);
    spool.add(0, RecordKind::Allocation, record);
  }
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kAll), IsEmpty());
  EXPECT_EQ(rig.counts().damaged, 3U);
}

TEST(Allocations, TakeNoArgumentFromWhatCameBefore) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.call(0, wire::SliceKind::Api, "call", 50, 90);
  spool.add(0, RecordKind::Allocation, allocation(100, 1));
  spool.argInt(0, 0, "key", 5);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT n.text, a.value FROM arg a JOIN slice s ON s.id = a.owner_id JOIN "
                       "string n ON n.id = s.name_id WHERE a.owner = 'slice'"),
              ElementsAre("call|5"));
}

class AcrossRecorders : public ::testing::Test {
 protected:
  AcrossRecorders() {
    process_.row.id = rig_.process();
    rig_.transaction([&](RowSink& sink) {
      model::Thread row;
      row.processId = process_.row.id;
      thread_ = sink.add(row);
    });
  }

  // A recorder that continues from the state of the one before it.
  void record(const std::function<void(HostMemoryRows&)>& work) {
    rig_.transaction([&](RowSink& sink) {
      ImageContext image{sink, {nullptr, 0}, spool_, process_};
      HostMemoryRows rows(image);
      rows.restoreEarly(sink.state(spool_, HostMemoryRows::kEarlyReleases, 0));
      ASSERT_TRUE(rows.restore());
      work(rows);
      rows.save();
    });
  }

  void allocate(HostMemoryRows& rows, std::uint64_t ticks, std::uint64_t bytes) {
    model::Allocation row;
    row.processId = process_.row.id;
    row.threadId = thread_;
    row.allocator = model::Allocator::Malloc;
    row.address = static_cast<std::int64_t>(kAddress);
    row.bytes = static_cast<std::int64_t>(bytes);
    row.allocNs = static_cast<std::int64_t>(ticks);
    rows.allocated(allocation(ticks, bytes), row);
  }

  IngestRig rig_;
  ProcessRow process_;
  model::ThreadId thread_{};
  const std::string spool_ = "spool";
};

TEST_F(AcrossRecorders, AnOpenOneIsEndedByTheNext) {
  record([&](HostMemoryRows& rows) {
    allocate(rows, 100, 1);
    allocate(rows, 200, 2);  // the release of the first is not read yet
  });
  record([&](HostMemoryRows& rows) { rows.released(release(200, 250), 250); });
  EXPECT_THAT(rig_.rows(kAll), ElementsAre("malloc|1|100|-", "malloc|2|200|250"));
  record([&](HostMemoryRows& rows) { rows.released(release(100, 150), 150); });
  EXPECT_THAT(rig_.rows(kAll), ElementsAre("malloc|1|100|150", "malloc|2|200|250"));
  EXPECT_THAT(rig_.rows("SELECT DISTINCT thread_id IS NOT NULL FROM allocation"), ElementsAre("1"));
}

TEST_F(AcrossRecorders, AReleaseThatWaitsIsNotForgotten) {
  record([&](HostMemoryRows& rows) { rows.released(release(100, 150), 150); });
  record([&](HostMemoryRows&) {});
  record([&](HostMemoryRows& rows) { allocate(rows, 100, 1); });
  record([&](HostMemoryRows& rows) { allocate(rows, 100'000'000, 2); });
  EXPECT_THAT(rig_.rows(kAll), ElementsAre("malloc|1|100|150", "malloc|2|100000000|-"));
}

TEST_F(AcrossRecorders, AReleaseOfALaterOneDoesNotEndAnEarlier) {
  record([&](HostMemoryRows& rows) { allocate(rows, 100, 1); });
  record([&](HostMemoryRows& rows) { rows.released(release(50'000'000, 50'000'100), 50'000'100); });
  EXPECT_THAT(rig_.rows(kAll), ElementsAre("malloc|1|100|-"));
}

}  // namespace
}  // namespace sonde::ingest
