// Rows from the calls that a process is in when its trace is written.
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

constexpr const char* kOpen =
    "SELECT t.tid, o.depth, o.kind, o.category, n.text, o.start_ns, o.seen_ns FROM open_call o"
    " JOIN thread t ON t.id = o.thread_id JOIN string n ON n.id = o.name_id ORDER BY 1, 2";

wire::Collective collective(SpoolBuilder& spool, std::uint64_t seq, std::uint64_t begin) {
  wire::Collective record{};
  record.header.subject = 1;
  record.header.detail = static_cast<std::uint8_t>(wire::CollectiveOp::Allreduce);
  record.beginTicks = begin;
  record.seq = seq;
  record.bytes = record.sendBytes = record.recvBytes = 288;
  record.root = record.peer = -1;
  record.name = spool.string("gloo:all_reduce");
  record.probe = wire::Probe::Gloo;
  return record;
}

TEST(OpenCalls, ACollectiveHasARowWithoutAnEnd) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  ASSERT_EQ(spool.communicator("world", {0, 1}, 0), 1U);
  wire::Collective ended = collective(spool, 16, 100);
  ended.endTicks = 150;
  spool.add(0, RecordKind::Collective, ended);
  spool.enter(0, RecordKind::Collective, collective(spool, 17, 200));
  IngestRig rig;
  rig.ingest(spool, 900);
  EXPECT_THAT(rig.rows(kOpen), ElementsAre("11|0|collective|gloo|gloo:all_reduce|200|900"));
  EXPECT_THAT(rig.rows("SELECT m.job_key, o.seq, o.op, o.bytes, o.root, o.peer FROM open_call o"
                       " JOIN communicator m ON m.id = o.communicator_id"),
              ElementsAre("world|17|allreduce|288|-|-"));
  EXPECT_THAT(rig.rows("SELECT seq, start_ns, dur_ns FROM collective ORDER BY seq"),
              ElementsAre("16|100|50", "17|200|-"));
  EXPECT_THAT(rig.rows("SELECT c.seq, s.kind, s.start_ns, s.dur_ns FROM open_call o JOIN collective"
                       " c ON c.id = o.collective_id JOIN slice s ON s.id = c.slice_id"),
              ElementsAre("17|collective|200|-"));
}

TEST(OpenCalls, ScopesAndCallsAreInTheOrderInWhichTheyBegan) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.begin(0, wire::SliceKind::Iteration, "iteration", 100);
  const std::uint32_t token = spool.begin(0, wire::SliceKind::Forward, "forward", 110);
  spool.end(0, token, 120);
  spool.begin(0, wire::SliceKind::Backward, "backward", 130);
  wire::Handoff wait{};
  wait.header.subject = spool.string("sem_wait");
  wait.beginTicks = 140;
  wait.object = 0x10;
  wait.kind = wire::SyncObject::Semaphore;
  spool.enter(0, RecordKind::Handoff, wait);
  IngestRig rig;
  rig.ingest(spool, 500);
  EXPECT_THAT(rig.rows(kOpen),
              ElementsAre("11|0|iteration|annotation|iteration|100|500",
                          "11|1|backward|annotation|backward|130|500",
                          "11|2|wait|sync|sem_wait|140|500"));
  EXPECT_THAT(
      rig.rows("SELECT kind, start_ns, dur_ns, depth FROM slice ORDER BY start_ns"),
      ElementsAre("iteration|100|-|0", "forward|110|10|1", "backward|130|-|1", "wait|140|-|2"));
  EXPECT_THAT(rig.rows("SELECT count(*) FROM open_call o JOIN slice s ON s.id = o.slice_id WHERE"
                       " s.kind = o.kind AND s.start_ns = o.start_ns"),
              ElementsAre("3"));
  EXPECT_THAT(rig.rows("SELECT * FROM handoff"), IsEmpty());
}

TEST(OpenCalls, AWaitNamesTheThreadThatHoldsWhatItWaitsFor) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.thread(1, 22);
  wire::Handoff wait{};
  wait.header.subject = spool.string("pthread_mutex_lock");
  wait.beginTicks = 100;
  wait.object = 0x10;
  wait.waker = 22;
  wait.kind = wire::SyncObject::Mutex;
  spool.enter(0, RecordKind::Handoff, wait);
  IngestRig rig;
  rig.ingest(spool, 500);
  EXPECT_THAT(rig.rows("SELECT o.object, t.tid FROM open_call o JOIN thread t ON t.id ="
                       " o.waits_for_thread_id"),
              ElementsAre("16|22"));
}

TEST(OpenCalls, AReceiveNamesItsChannelAndTransfersNothing) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  wire::Transfer receive{};
  receive.header.subject = spool.channel(wire::ChannelKind::Tcp, "a:1", "b:2");
  receive.header.detail = wire::Transfer::kReceive;
  receive.beginTicks = 100;
  spool.enter(0, RecordKind::Transfer, receive);
  IngestRig rig;
  rig.ingest(spool, 500);
  EXPECT_THAT(rig.rows("SELECT o.kind, c.remote FROM open_call o JOIN channel c ON c.id ="
                       " o.channel_id"),
              ElementsAre("receive|b:2"));
  EXPECT_THAT(rig.rows("SELECT * FROM transfer"), IsEmpty());
}

TEST(OpenCalls, AMessageHasTheSliceOfItsCallAndNoTransfer) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  wire::Message receive{};
  receive.header.subject = spool.channel(wire::ChannelKind::Mpi, "k/0/1", "k/1/0");
  receive.header.detail = wire::Message::kReceive;
  receive.beginTicks = 100;
  receive.bytes = wire::Collective::kUnknownBytes;
  receive.tag = 42;
  receive.name = spool.string("MPI_Recv");
  spool.enter(0, RecordKind::Message, receive);
  IngestRig rig;
  rig.ingest(spool, 500);
  EXPECT_THAT(rig.rows(kOpen), ElementsAre("11|0|receive|mpi|MPI_Recv|100|500"));
  EXPECT_THAT(rig.rows("SELECT tag, bytes FROM open_call"), ElementsAre("42|-"));
  EXPECT_THAT(rig.rows("SELECT kind, dur_ns FROM slice"), ElementsAre("api|-"));
  EXPECT_THAT(rig.rows("SELECT * FROM transfer"), IsEmpty());
}

// For MPI_Recv from MPI_ANY_SOURCE; the thread made another call before it.
TEST(OpenCalls, AReceiveFromAnybodyHasASliceOfItsOwn) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.call(0, wire::SliceKind::Api, "before", 50, 60);
  wire::Message receive{};
  receive.header.detail = wire::Message::kReceive;
  receive.beginTicks = 100;
  receive.bytes = wire::Collective::kUnknownBytes;
  receive.name = spool.string("MPI_Recv");
  spool.enter(0, RecordKind::Message, receive);
  IngestRig rig;
  rig.ingest(spool, 500);
  EXPECT_THAT(rig.rows("SELECT n.text, s.dur_ns FROM open_call o JOIN slice s ON s.id = o.slice_id"
                       " JOIN string n ON n.id = s.name_id"),
              ElementsAre("MPI_Recv|-"));
  EXPECT_THAT(rig.rows("SELECT * FROM loss"), IsEmpty());
}

TEST(OpenCalls, WhatNoCallCanBeIsLeftOut) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  wire::Call call{};
  call.header.subject = spool.string("odd");
  call.header.detail = 99;  // no kind of slice
  call.beginTicks = 100;
  spool.enter(0, RecordKind::Call, call);
  wire::Mark mark{};
  mark.ticks = 100;
  spool.enter(0, RecordKind::Mark, mark);
  IngestRig rig;
  rig.ingest(spool, 500);
  EXPECT_THAT(rig.rows(kOpen), IsEmpty());
  EXPECT_THAT(rig.rows("SELECT * FROM slice"), IsEmpty());
}

// A slot that its thread has left does not show where the thread is.
TEST(OpenCalls, OfAFullSlotMeanNothing) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  ASSERT_EQ(spool.communicator("world", {0, 1}, 0), 1U);
  spool.enter(0, RecordKind::Collective, collective(spool, 17, 200));
  spool.closeSlot(0);
  IngestRig rig;
  rig.ingest(spool, 900);
  EXPECT_THAT(rig.rows(kOpen), IsEmpty());
}

}  // namespace
}  // namespace sonde::ingest
