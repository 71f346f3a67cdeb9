#include "collector/wire/nccl_records.h"
#include "tests/support/ingest_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::ingest {
namespace {

using test::IngestRig;
using test::SpoolBuilder;
using testing::ElementsAre;
using wire::RecordKind;

constexpr const char* kTransfers =
    "SELECT k.kind, k.local, t.direction, t.offset, t.bytes, t.exact, t.start_ns, t.dur_ns, "
    "t.step, "
    "c.start_ns FROM transfer t JOIN channel k ON k.id = t.channel_id LEFT JOIN collective c ON "
    "c.id = t.collective_id ORDER BY t.id";

class Script {
 public:
  // Thread 0 is a proxy, whose slot is read first; thread 1 is the host's.
  void step(std::uint64_t collective, std::uint64_t begin, std::uint64_t end, std::uint8_t flags) {
    wire::ProxyStep record{};
    record.header.subject = channel();
    record.header.detail = static_cast<std::uint8_t>(wire::ProxyStep::kDetail | flags);
    record.beginTicks = begin;
    record.endTicks = end;
    record.collective = collective;
    record.offset = 64;
    record.bytes = 32;
    record.step = 3;
    spool.add(0, RecordKind::CollectivePart, record);
  }
  void end(std::uint64_t collective, std::uint64_t ticks, std::uint32_t flags = 0) {
    addEnd(0, collective, ticks, flags);
  }
  void addEndOnTheHost(std::uint64_t collective, std::uint64_t ticks) {
    addEnd(1, collective, ticks, 0);
  }
  wire::Collective call(std::uint64_t number, std::uint64_t begin, std::uint64_t end) {
    wire::Collective record{};
    record.header.subject = communicator();
    record.header.detail = static_cast<std::uint8_t>(wire::CollectiveOp::Allreduce);
    record.beginTicks = begin;
    record.endTicks = end;
    record.seq = 132;
    record.bytes = record.sendBytes = record.recvBytes = 4096;
    record.root = record.peer = -1;
    record.name = spool.string("ncclAllReduce");
    record.algorithm = spool.string("RING");
    record.protocol = spool.string("LL128");
    record.probe = wire::Probe::Nccl;
    record.flags = wire::Collective::kEnqueued | wire::Collective::kHasNumber;
    record.channels = 2;
    record.number = number;
    record.ownNumber = 4;
    return record;
  }
  void plan(std::uint32_t thread, std::uint64_t collective, const std::string& algorithm) {
    wire::CollectivePlan record{};
    record.header.detail = wire::CollectivePlan::kDetail;
    record.header.subject = wire::CollectivePlan::kHasNumber;
    record.collective = collective;
    record.ownNumber = 17;
    record.ticks = 105;
    record.algorithm = spool.string(algorithm);
    record.protocol = spool.string("SIMPLE");
    record.channels = 4;
    spool.add(thread, RecordKind::CollectivePart, record);
  }
  void add(const wire::Collective& record) { spool.add(1, RecordKind::Collective, record); }

  SpoolBuilder spool;

 private:
  void addEnd(std::uint32_t thread,
              std::uint64_t collective,
              std::uint64_t ticks,
              std::uint32_t flags) {
    wire::CollectiveEnd record{};
    record.header.subject = flags;
    record.ticks = ticks;
    record.collective = collective;
    spool.add(thread, RecordKind::CollectivePart, record);
  }
  std::uint32_t channel() {
    if (channel_ == 0)
      channel_ =
          spool.channel(wire::ChannelKind::Nccl, "nccl:1/0/0>1/send", "nccl:1/0/0>1/receive");
    return channel_;
  }
  std::uint32_t communicator() {
    if (communicator_ == 0)
      communicator_ = spool.communicator("nccl:1", {0, -1}, 0);
    return communicator_;
  }
  std::uint32_t channel_ = 0;
  std::uint32_t communicator_ = 0;
};

TEST(EnqueuedCollectives, TheirPartsMayComeBeforeThem) {
  Script script;
  script.step(9, 120, 150, 0);
  script.step(9, 130, 0, wire::ProxyStep::kReceive | wire::ProxyStep::kInexact);
  script.step(9, 115, 118, wire::ProxyStep::kReceive);
  script.end(9, 180);
  script.end(9, 170);
  script.add(script.call(9, 100, 110));
  IngestRig rig;
  rig.ingest(script.spool);
  EXPECT_THAT(
      rig.rows("SELECT op, algorithm, protocol, seq, bytes, start_ns, dur_ns FROM collective"),
      ElementsAre("allreduce|RING|LL128|132|4096|100|80"));
  EXPECT_THAT(
      rig.rows("SELECT text, kind, start_ns, dur_ns FROM slice JOIN string s ON s.id = name_id"),
      ElementsAre("ncclAllReduce|collective|100|10"));
  EXPECT_THAT(rig.rows(kTransfers),
              ElementsAre("nccl|nccl:1/0/0>1/send|send|64|32|1|120|30|3|100",
                          "nccl|nccl:1/0/0>1/send|receive|64|32|0|130|-|3|100",
                          "nccl|nccl:1/0/0>1/send|receive|64|32|1|115|3|3|100"));
  EXPECT_THAT(rig.rows("SELECT s.text, a.value FROM arg a JOIN string s ON s.id = a.key_id "
                       "WHERE a.owner = 'collective' AND a.owner_id = (SELECT id FROM collective) "
                       "ORDER BY 1"),
              ElementsAre("channels|2", "nccl_number|4"));
}

TEST(EnqueuedCollectives, MayEndBeforeTheirCallReturns) {
  Script script;
  script.add(script.call(9, 100, 150));
  script.addEndOnTheHost(9, 140);
  IngestRig rig;
  rig.ingest(script.spool);
  EXPECT_THAT(rig.rows("SELECT dur_ns FROM collective"), ElementsAre("40"));
}

TEST(EnqueuedCollectives, HaveNoDurationWithoutAnEnd) {
  Script script;
  script.end(2, 180);
  script.end(2, 190, wire::CollectiveEnd::kUnfinished);
  script.add(script.call(1, 100, 110));
  script.add(script.call(2, 120, 130));
  script.add(script.call(3, 140, 0));
  wire::Collective unknown = script.call(4, 150, 160);
  unknown.bytes = wire::Collective::kUnknownBytes;
  unknown.seq = ~std::uint64_t{0};
  script.add(unknown);
  IngestRig rig;
  rig.ingest(script.spool);
  EXPECT_THAT(
      rig.rows("SELECT start_ns, dur_ns, slice_id IS NULL, bytes, seq FROM collective ORDER BY "
               "start_ns"),
      ElementsAre("100|-|0|4096|132", "120|-|0|4096|132", "140|-|1|4096|132", "150|-|0|-|-"));
  EXPECT_THAT(rig.rows("SELECT c.start_ns, a.value FROM arg a JOIN string s ON s.id = a.key_id AND "
                       "s.text = 'unfinished' JOIN collective c ON a.owner = 'collective' AND "
                       "c.id = a.owner_id"),
              ElementsAre("120|1"));
}

TEST(EnqueuedCollectives, MayBeToldHowTheyAreCarriedOutBeforeOrAfter) {
  Script script;
  wire::Collective record = script.call(1, 100, 110);
  record.algorithm = record.protocol = 0;
  record.channels = 0;
  record.flags = wire::Collective::kEnqueued | 3 << wire::Collective::kGroupShift;
  script.plan(0, 1, "TREE");
  script.add(record);
  record.number = 2;
  script.add(record);
  script.plan(1, 2, "RING");
  script.plan(1, 3, "RING");  // for a lost collective
  script.spool.add(0, RecordKind::CollectivePart, wire::CollectivePlan{});
  IngestRig rig;
  rig.ingest(script.spool);
  EXPECT_THAT(rig.rows("SELECT algorithm, protocol FROM collective ORDER BY id"),
              ElementsAre("TREE|SIMPLE", "RING|SIMPLE"));
  EXPECT_THAT(rig.rows("SELECT kind, count FROM loss"), ElementsAre("collective part|1"));
  EXPECT_THAT(rig.rows("SELECT s.text, a.value, count(*) FROM arg a JOIN string s ON s.id = "
                       "a.key_id WHERE a.owner = 'collective' GROUP BY 1 ORDER BY 1"),
              ElementsAre("channels|4|2", "grouped|3|2", "launched_ns|105|2", "nccl_number|17|2"));
}

// More parts come than are remembered before they are stored.
TEST(EnqueuedCollectives, ThatAreForgottenKeepWhatWasTold) {
  Script script;
  constexpr std::uint64_t kMany = 20'000;
  for (std::uint64_t number = 1; number <= kMany; ++number) {
    wire::Collective record = script.call(number, 10 * number, 10 * number + 1);
    record.algorithm = 0;
    script.plan(1, number, "TREE");
    script.add(record);
    script.addEndOnTheHost(number, 10 * number + 5);
  }
  IngestRig rig;
  rig.ingest(script.spool);
  EXPECT_THAT(rig.rows("SELECT algorithm, dur_ns, count(*) FROM collective GROUP BY 1, 2"),
              ElementsAre("TREE|5|20000"));
}

TEST(EnqueuedCollectives, TheAbortOfTheirCommunicatorHasATime) {
  Script script;
  wire::CommunicatorAbort record{};
  record.header.detail = wire::CommunicatorAbort::kDetail;
  record.header.subject = script.call(1, 100, 110).header.subject;
  record.ticks = 190;
  script.spool.add(1, RecordKind::CollectivePart, record);
  record.header.subject = 99;  // no communicator
  script.spool.add(1, RecordKind::CollectivePart, record);
  IngestRig rig;
  rig.ingest(script.spool);
  EXPECT_THAT(rig.rows("SELECT m.job_key, s.text, a.value FROM communicator m JOIN arg a ON "
                       "a.owner = 'communicator' AND a.owner_id = m.id JOIN string s ON s.id = "
                       "a.key_id"),
              ElementsAre("nccl:1|aborted_ns|190"));
  EXPECT_EQ(rig.counts().damaged, 1u);
}

TEST(EnqueuedCollectives, WhatALaterRecorderTellsOfThemIsLeftAlone) {
  Script script;
  script.add(script.call(1, 100, 110));
  wire::CollectiveEnd record{};  // its fields look like these, whatever they mean
  record.header.detail = 3;
  record.ticks = 190;
  record.collective = 1;
  script.spool.add(1, RecordKind::CollectivePart, record);
  IngestRig rig;
  rig.ingest(script.spool);
  EXPECT_THAT(rig.rows("SELECT start_ns, dur_ns FROM collective"), ElementsAre("100|-"));
  EXPECT_EQ(rig.counts().damaged, 0u);
}

TEST(EnqueuedCollectives, StepsOfOneThatWasLostAreOfNone) {
  Script script;
  script.step(7, 120, 150, 0);
  script.step(0, 130, 160, 0);
  script.step(7 + 8192, 140, 170, 0);
  IngestRig rig;
  rig.ingest(script.spool);
  EXPECT_THAT(rig.rows("SELECT count(*), count(collective_id) FROM transfer"), ElementsAre("3|0"));
  EXPECT_THAT(rig.rows("SELECT probe, kind, reason, count FROM loss"),
              ElementsAre("nccl|collective part|no collective|2"));
}

}  // namespace
}  // namespace sonde::ingest
