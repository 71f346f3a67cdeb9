#include "analysis/ingest/spool/image_builder.h"

#include "collector/wire/iteration_keys.h"
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
using wire::SliceKind;

constexpr const char* kSlices =
    "SELECT s.text, kind, start_ns, dur_ns, p.text, depth, lane, scope_how FROM slice "
    "JOIN string s ON s.id = slice.name_id LEFT JOIN (SELECT slice.id AS id, text FROM slice JOIN "
    "string ON "
    "string.id = name_id) p ON p.id = slice.parent_id ORDER BY slice.start_ns, slice.id";

TEST(ImageBuilder, MakesSlicesOfScopesCallsAndMarks) {
  SpoolBuilder spool;
  spool.thread(0, 500);
  const auto outer = spool.begin(0, SliceKind::Phase, "train", 100);
  const auto inner = spool.begin(0, SliceKind::Forward, "forward", 110);
  spool.call(0, SliceKind::Io, "read", 120, 130);
  wire::Mark mark{};
  mark.header.subject = spool.string("here");
  mark.ticks = 140;
  mark.probe = wire::Probe::Nvtx;
  spool.add(0, RecordKind::Mark, mark);
  spool.end(0, inner, 150);
  spool.end(0, outer, 160);
  spool.call(0, SliceKind::Wait, "poll", 170, 180);
  IngestRig rig(1'000'000);
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kSlices),
              ElementsAre("train|phase|1000100|60|-|0|0|none",
                          "forward|forward|1000110|40|train|1|0|own",
                          "read|io|1000120|10|forward|2|0|own",
                          "here|mark|1000140|0|forward|2|0|own",
                          "poll|wait|1000170|10|-|0|0|none"));
  EXPECT_THAT(rig.rows("SELECT category FROM slice WHERE kind = 'mark'"), ElementsAre("nvtx"));
  EXPECT_EQ(rig.counts().records, 7U);
}

TEST(ImageBuilder, PutsWhatACallEnclosedUnderIt) {
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "send", 20, 30);
  spool.call(0, SliceKind::Api, "recv", 40, 50);
  spool.call(0, SliceKind::Collective, "allreduce", 10, 60);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kSlices),
              ElementsAre("allreduce|collective|10|50|-|0|0|none",
                          "send|api|20|10|allreduce|1|0|none",
                          "recv|api|40|10|allreduce|1|0|none"));
}

TEST(ImageBuilder, LeavesWhatDiedOpenWithoutADuration) {
  SpoolBuilder spool;
  spool.begin(0, SliceKind::Iteration, "step", 100);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kSlices), ElementsAre("step|iteration|100|-|-|0|0|none"));
  EXPECT_THAT(rig.rows("SELECT number, start_ns, dur_ns, slice_id FROM iteration"),
              ElementsAre("0|100|-|1"));
}

TEST(ImageBuilder, EndsRangesOnAnotherThread) {
  SpoolBuilder spool;
  // The end's slot is claimed first and therefore read first.
  wire::RangeEnd end{};
  end.ticks = 300;
  end.rangeId = 9;
  spool.add(1, RecordKind::RangeEnd, end);
  for (const std::uint64_t id : {8U, 9U}) {
    wire::RangeBegin begin{};
    begin.header.detail = static_cast<std::uint8_t>(SliceKind::Range);
    begin.header.subject = spool.string("copy");
    begin.ticks = 200 + id;
    begin.rangeId = id;
    begin.probe = wire::Probe::Nvtx;
    spool.add(0, RecordKind::RangeBegin, begin);
  }
  spool.argInt(0, 0, "bytes", 4096);
  end.rangeId = 8;
  end.ticks = 310;
  spool.add(1, RecordKind::RangeEnd, end);
  end.rangeId = 7;
  spool.add(1, RecordKind::RangeEnd, end);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT start_ns, dur_ns, lane, thread_id FROM slice ORDER BY start_ns"),
              ElementsAre("208|102|1|2", "209|91|2|2"));
  EXPECT_THAT(rig.rows("SELECT owner, start_ns, value FROM arg JOIN slice ON slice.id = owner_id"),
              ElementsAre("slice|209|4096"));
  EXPECT_THAT(rig.rows("SELECT reason, count FROM loss"), ElementsAre("unbalanced|1"));
}

TEST(ImageBuilder, NumbersIterationsAndGivesThemTheirWorkAndScalars) {
  SpoolBuilder spool;
  const auto scalar = [&](std::uint32_t thread, std::uint64_t ticks, double value) {
    wire::Scalar record{};
    record.header.subject = spool.string("loss");
    record.ticks = ticks;
    record.value = value;
    spool.add(thread, RecordKind::Scalar, record);
  };
  scalar(0, 50, 9);
  const auto first = spool.begin(0, SliceKind::Iteration, "iteration", 100);
  scalar(0, 120, 0.5);
  wire::IterationInfo info{};
  info.ticks = 130;
  info.samples = 32;
  info.flops = 1e9;
  spool.add(0, RecordKind::IterationInfo, info);
  spool.end(0, first, 200);
  const auto second = spool.begin(0, SliceKind::Iteration, "iteration", 200);
  spool.argInt(0, second, SONDE_ITERATION_NUMBER, 41);
  scalar(0, 220, 0.25);
  spool.end(0, second, 300);
  const auto third = spool.begin(0, SliceKind::Iteration, "iteration", 300);
  spool.end(0, third, 400);
  scalar(1, 150, 0.75);  // another thread, read later
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT number, start_ns, dur_ns, samples, tokens, flops FROM iteration"),
              ElementsAre("0|100|100|32|-|1000000000.0", "41|200|100|-|-|-", "42|300|100|-|-|-"));
  EXPECT_THAT(rig.rows("SELECT iteration, value FROM scalar ORDER BY ts_ns"),
              ElementsAre("-|9.0", "0|0.5", "0|0.75", "41|0.25"));
}

TEST(ImageBuilder, AnIterationThatIsNotCompleteIsARange) {
  SpoolBuilder spool;
  const auto first = spool.begin(0, SliceKind::Iteration, "iteration", 100);
  spool.argInt(0, first, SONDE_ITERATION_COMPLETE, 0);
  spool.end(0, first, 200);
  const auto second = spool.begin(0, SliceKind::Iteration, "iteration", 300);
  spool.argInt(0, second, SONDE_ITERATION_COMPLETE, 1);
  spool.end(0, second, 400);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT number, start_ns FROM iteration"), ElementsAre("0|300"));
  EXPECT_THAT(rig.rows("SELECT kind, start_ns FROM slice ORDER BY start_ns"),
              ElementsAre("range|100", "iteration|300"));
}

TEST(ImageBuilder, ArgumentsOfTheProgramChangeNoIteration) {
  SpoolBuilder spool;
  const auto iteration = spool.begin(0, SliceKind::Iteration, "epoch", 100);
  spool.argInt(0, iteration, "number", 41);
  spool.argInt(0, iteration, "complete", 0);
  const auto operation = spool.begin(0, SliceKind::Operation, "solve", 110);
  spool.argInt(0, operation, SONDE_ITERATION_NUMBER, 5);
  spool.argInt(0, operation, SONDE_ITERATION_COMPLETE, 0);
  spool.end(0, operation, 120);
  spool.end(0, iteration, 200);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT number, dur_ns FROM iteration"), ElementsAre("0|100"));
  EXPECT_THAT(rig.rows("SELECT kind FROM slice ORDER BY start_ns"),
              ElementsAre("iteration", "operation"));
  EXPECT_THAT(rig.rows("SELECT s.kind, k.text, a.value FROM arg a JOIN string k ON k.id = a.key_id"
                       " JOIN slice s ON s.id = a.owner_id ORDER BY s.start_ns, k.text"),
              ElementsAre("iteration|complete|0",
                          "iteration|number|41",
                          "operation|sonde.complete|0",
                          "operation|sonde.number|5"));
}

TEST(ImageBuilder, TiesCollectivesToTheirSlicesAndCommunicators) {
  SpoolBuilder spool;
  const auto communicator = spool.communicator("gloo-0", {0, 1, -1}, 1);
  wire::Collective record{};
  record.header.detail = static_cast<std::uint8_t>(wire::CollectiveOp::Allreduce);
  record.header.subject = communicator;
  record.beginTicks = 1000;
  record.endTicks = 1500;
  record.seq = 3;
  record.bytes = record.sendBytes = record.recvBytes = 4096;
  record.root = -1;
  record.peer = -1;
  record.algorithm = spool.string("ring");
  record.dtype = wire::DataType::Float32;
  record.probe = wire::Probe::Gloo;
  spool.add(0, RecordKind::Collective, record);
  spool.argInt(0, 0, "bucket", 2);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(
      rig.rows(
          "SELECT c.communicator_id, seq, op, algorithm, dtype, bytes, root, peer, c.start_ns, "
          "c.dur_ns, "
          "kind, category, text FROM collective c JOIN slice s ON s.id = c.slice_id JOIN string ON "
          "string.id = s.name_id"),
      ElementsAre("1|3|allreduce|ring|float32|4096|-|-|1000|500|collective|gloo|allreduce"));
  EXPECT_THAT(rig.rows("SELECT job_key, size, position, backend FROM communicator"),
              ElementsAre("gloo-0|3|1|gloo"));
  EXPECT_THAT(rig.rows("SELECT position, rank, process_id FROM communicator_member"),
              ElementsAre("0|0|-", "1|1|1", "2|-|-"));
  EXPECT_THAT(rig.rows("SELECT owner, owner_id, value FROM arg"), ElementsAre("collective|1|2"));
}

TEST(ImageBuilder, StoresTransfersOfChannels) {
  SpoolBuilder spool;
  const auto channel = spool.channel(wire::ChannelKind::Tcp, "127.0.0.1:1", "127.0.0.1:2");
  wire::Transfer record{};
  record.header.subject = channel;
  record.header.detail = wire::Transfer::kReceive | wire::Transfer::kInexact;
  record.beginTicks = 100;
  record.endTicks = 110;
  record.offset = 7;
  record.bytes = 9;
  spool.add(0, RecordKind::Transfer, record);
  record.header.subject = channel + 1;  // never defined
  spool.add(0, RecordKind::Transfer, record);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT kind, local, remote, inherited FROM channel"),
              ElementsAre("tcp|127.0.0.1:1|127.0.0.1:2|0"));
  EXPECT_THAT(
      rig.rows(
          "SELECT channel_id, direction, offset, bytes, exact, start_ns, dur_ns FROM transfer"),
      ElementsAre("1|receive|7|9|0|100|10"));
  EXPECT_THAT(rig.rows("SELECT kind, reason, count FROM loss"), ElementsAre("unknown|damaged|1"));
}

TEST(ImageBuilder, TakesUpTheOpenScopesOfASlotWhosePredecessorIsMissing) {
  SpoolBuilder spool;
  wire::OpenScope scope{};
  scope.beginTicks = 50;
  scope.name = spool.string("epoch");
  scope.token = 77;
  scope.kind = SliceKind::Phase;
  spool.openSlot(0, {scope});
  spool.call(0, SliceKind::Api, "x", 60, 70);
  spool.end(0, 77, 90);
  const auto lostEnd = spool.begin(0, SliceKind::Operation, "lost end", 100);
  static_cast<void>(lostEnd);
  spool.slot(spool.openSlot(0)).claimTicks = 150;  // nothing open: the end was lost
  spool.call(0, SliceKind::Api, "y", 160, 170);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kSlices),
              ElementsAre("epoch|phase|50|40|-|0|0|none",
                          "x|api|60|10|epoch|1|0|own",
                          "lost end|operation|100|-|-|0|0|none",
                          "y|api|160|10|-|0|0|none"));
  EXPECT_THAT(rig.rows("SELECT owner, key, value FROM v_arg"),
              ElementsAre("slice|sonde.at_most_ns|50"));
}

TEST(ImageBuilder, AnIterationWhoseBeginIsMissingHasNoNumberUnlessItIsTold) {
  SpoolBuilder spool;
  wire::OpenScope scope{};
  scope.beginTicks = 50;
  scope.name = spool.string("iteration");
  scope.kind = SliceKind::Iteration;
  for (const std::uint32_t token : {77U, 78U}) {
    scope.token = token;
    spool.openSlot(0, {scope});
    wire::Scalar scalar{};
    scalar.header.subject = spool.string("loss");
    scalar.ticks = token;
    spool.add(0, RecordKind::Scalar, scalar);
    if (token == 78)
      spool.argInt(0, token, SONDE_ITERATION_NUMBER, 41);
    spool.end(0, token, token + 10);
    scope.beginTicks = 90;
  }
  const std::uint32_t next = spool.begin(0, SliceKind::Iteration, "iteration", 200);
  spool.end(0, next, 210);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT number, slice_id FROM iteration ORDER BY start_ns"),
              ElementsAre("41|2", "42|3"));
  EXPECT_THAT(rig.rows("SELECT coalesce(iteration, '-') FROM scalar ORDER BY ts_ns LIMIT 1"),
              ElementsAre("-"));
  EXPECT_THAT(rig.rows("SELECT count(*) FROM slice WHERE kind = 'iteration'"), ElementsAre("3"));
}

TEST(ImageBuilder, EndsAScopeByTheRecordThatTheSlotWasClaimedFor) {
  SpoolBuilder spool;
  const auto token = spool.begin(0, SliceKind::Operation, "a", 100);
  spool.slot(spool.openSlot(0)).claimTicks = 500;
  spool.end(0, token, 140);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kSlices), ElementsAre("a|operation|100|40|-|0|0|none"));
  EXPECT_EQ(rig.counts().unbalanced, 0U);
}

TEST(ImageBuilder, ScalarsThatComeLateAreOfTheIterationOfTheirTime) {
  SpoolBuilder spool;
  const auto tell = [&](double value, std::uint64_t ticks) {
    wire::Scalar scalar{};
    scalar.header.subject = spool.string("loss");
    scalar.ticks = ticks;
    scalar.value = value;
    spool.add(0, RecordKind::Scalar, scalar);
  };
  const std::uint32_t first = spool.begin(0, SliceKind::Iteration, "iteration", 10);
  spool.end(0, first, 20);
  const std::uint32_t second = spool.begin(0, SliceKind::Iteration, "iteration", 20);
  tell(0.5, 15);
  tell(0.25, 25);
  spool.end(0, second, 30);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT iteration, ts_ns, value FROM scalar ORDER BY rowid"),
              ElementsAre("0|15|0.5", "1|25|0.25"));
  EXPECT_THAT(rig.rows("SELECT start_ns, dur_ns FROM iteration ORDER BY number"),
              ElementsAre("10|10", "20|10"));
}

TEST(ImageBuilder, StaysInBoundsWhateverTheTimesAre) {
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "far", ~std::uint64_t{0}, 5);
  const auto token = spool.begin(0, SliceKind::Operation, "back", ~std::uint64_t{0} - 1);
  spool.end(0, token, 3);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT name_id FROM slice WHERE dur_ns < 0"), IsEmpty());
  EXPECT_EQ(rig.rows("SELECT 1 FROM slice").size(), 2U);
}

}  // namespace
}  // namespace sonde::ingest
