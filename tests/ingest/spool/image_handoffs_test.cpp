// Rows from wait records.
#include "tests/support/ingest_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::ingest {
namespace {

using test::IngestRig;
using test::SpoolBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::RecordKind;

constexpr const char* kHandoffs =
    "SELECT h.kind, h.object, w.tid, h.waker_ns, t.tid, h.block_ns, h.wake_ns, h.certain FROM "
    "handoff h JOIN thread t ON t.id = h.wakee_thread_id LEFT JOIN thread w ON w.id = "
    "h.waker_thread_id ORDER BY h.slice_id";
constexpr const char* kSlices =
    "SELECT s.kind, s.category, n.text, s.start_ns, s.dur_ns FROM slice s JOIN string n ON n.id = "
    "s.name_id ORDER BY s.id";

// A wait from 100 to 150 on thread 0; the thread with this kernel id wakes it at 140.
wire::Handoff wait(SpoolBuilder& spool, std::int32_t waker) {
  wire::Handoff record{};
  record.header.subject = spool.string("sem_wait");
  record.header.detail = wire::Handoff::kCertain;
  record.beginTicks = 100;
  record.endTicks = 150;
  record.wakerTicks = 140;
  record.object = 0x7f00'0000'0010;
  record.waker = waker;
  record.kind = wire::SyncObject::Semaphore;
  return record;
}

TEST(Handoffs, HaveASliceAndAWaker) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.thread(1, 22);
  spool.add(0, RecordKind::Handoff, wait(spool, 22));
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kHandoffs), ElementsAre("semaphore|139637976727568|22|140|11|100|150|1"));
  EXPECT_THAT(rig.rows(kSlices), ElementsAre("wait|sync|sem_wait|100|50"));
}

TEST(Handoffs, KnowAWakerThatHasRecordedNothing) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  wire::Handoff record = wait(spool, 4711);
  record.wakerTicks = 0;
  record.kind = wire::SyncObject::Thread;
  spool.add(0, RecordKind::Handoff, record);
  spool.add(0, RecordKind::Handoff, record);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT h.kind, w.tid, h.waker_ns, h.certain, count(*), count(DISTINCT "
                       "w.id) FROM handoff h JOIN thread w ON w.id = h.waker_thread_id"),
              ElementsAre("thread|4711|-|1|2|1"));
}

TEST(Handoffs, WithoutAWakerAreNotCertain) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  wire::Handoff record = wait(spool, 0);
  record.wakerTicks = 0;
  spool.add(0, RecordKind::Handoff, record);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT waker_thread_id, waker_ns, certain FROM handoff"),
              ElementsAre("-|-|0"));
}

TEST(Handoffs, ThatWereNoneHaveTheirSliceAlone) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  for (const std::uint8_t flags : {wire::Handoff::kTimedOut, wire::Handoff::kInterrupted}) {
    wire::Handoff record = wait(spool, 0);
    record.header.detail = flags;
    spool.add(0, RecordKind::Handoff, record);
  }
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kHandoffs), IsEmpty());
  EXPECT_EQ(rig.rows(kSlices).size(), 2U);
  EXPECT_THAT(rig.rows("SELECT a.owner_id, k.text, a.value FROM arg a JOIN string k ON k.id = "
                       "a.key_id"),
              ElementsAre("1|timed out|1"));
}

TEST(Handoffs, OfNoKindAreDamage) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  wire::Handoff record = wait(spool, 0);
  record.kind = static_cast<wire::SyncObject>(99);
  spool.add(0, RecordKind::Handoff, record);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kHandoffs), IsEmpty());
  EXPECT_EQ(rig.counts().damaged, 1U);
}

}  // namespace
}  // namespace sonde::ingest
