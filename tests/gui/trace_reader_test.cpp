#include "gui/trace/line_query.h"
#include "gui/trace/time_format.h"
#include "tests/gui/reader_rig.h"
#include "tests/gui/sample_trace.h"

#include <QFile>

namespace sonde::gui {
namespace {

using model::SliceKind;
using testing::SampleTrace;
using testing::TraceReaderTest;

TEST_F(TraceReaderTest, ReadsProcessesByRankWithTheirTracks) {
  testing::writeTraining(file("a.sonde"), 3);
  const Skeleton& skeleton = open(file("a.sonde"));
  ASSERT_EQ(skeleton.processes.size(), 6U);
  EXPECT_EQ(skeleton.processes[0].rank, 0);
  EXPECT_EQ(skeleton.processes[3].rank, 1);
  EXPECT_EQ(skeleton.tracks[0].name, "main thread");
  EXPECT_EQ(skeleton.tracks[0].rows, 4);
  EXPECT_EQ(skeleton.iterations.size(), 6U);
  EXPECT_EQ(skeleton.originNs, 1'000'000'000);
  EXPECT_FALSE(skeleton.unfinished);
  EXPECT_FALSE(skeleton.replayed);
}

TEST_F(TraceReaderTest, KnowsThatTimesAreThoseOfAReplay) {
  testing::writeTraining(file("a.sonde"), 1);
  auto trace = store::Database::open(file("a.sonde"), store::Access::ReadWrite);
  ASSERT_TRUE(trace);
  ASSERT_TRUE(trace->exec("INSERT INTO meta VALUES ('replayed', 'odd')"));
  EXPECT_TRUE(open(file("a.sonde")).replayed);
}

TEST_F(TraceReaderTest, WhatLostItsEndIsDrawnNoFurtherThanItCanReach) {
  SampleTrace trace(file("a.sonde"));
  const auto process = trace.addProcess(10, 0, "python3");
  const auto thread = trace.addThread(process, 10, "python3");
  const auto lost = trace.addSlice({thread, SliceKind::Iteration, "iteration", 100});
  trace.addSlice({thread, SliceKind::Operation, "after", 5'000, 1'000});
  auto& writer = trace.writer();
  const auto key = test::must(writer.intern(model::kAtMostKey));
  test::must(writer.add(model::Arg{model::Owner::Slice, lost.value, key, std::int64_t{400}}));
  model::Iteration iteration;
  iteration.processId = process;
  iteration.startNs = 100;
  iteration.sliceId = lost;
  test::must(writer.add(iteration));
  trace.finish();
  const Skeleton& skeleton = open(file("a.sonde"));
  const auto read = blocks(0, 10'000, 1);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].durNs, Block::kOpen);
  EXPECT_EQ(endOf(read[0], skeleton.endNs), 500);
  EXPECT_EQ(lengthOf(read[0]), "at most " + formatDuration(400) + ": its end was lost");
  ASSERT_EQ(skeleton.iterations.size(), 1U);
  EXPECT_EQ(endOf(skeleton.iterations[0], skeleton.endNs), 500);
  const auto details = reader_.details({Table::Slice, read[0].id});
  ASSERT_TRUE(details);
  EXPECT_EQ(endOf(details->event.block, skeleton.endNs), 500);
}

TEST_F(TraceReaderTest, WhatLostItsEndSaysSoFromFar) {
  SampleTrace trace(file("a.sonde"));
  const auto process = trace.addProcess(10, 0, "python3");
  const auto thread = trace.addThread(process, 10, "python3");
  const auto lost = trace.addSlice({thread, SliceKind::Phase, "lost", 100});
  for (int at = 0; at < 20'000; ++at)
    trace.addSlice({thread, SliceKind::Operation, "short", 1'000'000 + 10 * at, 5});
  trace.addSlice({thread, SliceKind::Phase, "ended", 2'000'000, 900'000});
  auto& writer = trace.writer();
  const auto key = test::must(writer.intern(model::kAtMostKey));
  test::must(writer.add(model::Arg{model::Owner::Slice, lost.value, key, std::int64_t{900'000}}));
  trace.finish();
  open(file("a.sonde"));
  const auto read = blocks(0, 3'000'000, 10'000);
  ASSERT_GT(read.size(), 2U);
  ASSERT_LT(read.size(), 100U) << "these are the events, not a level";
  EXPECT_EQ(lengthOf(read.front()), "at most " + formatDuration(900'000) + ": its end was lost");
  EXPECT_EQ(lengthOf(read.back()), formatDuration(900'000));
}

TEST_F(TraceReaderTest, ProcessesComeByWhatTheyDidBeforeWhenTheyBegan) {
  SampleTrace trace(file("a.sonde"));
  testing::writeShims(trace, 20, {});
  const auto busy = [&](std::int64_t pid, std::optional<std::int64_t> rank, int slices) {
    const auto process = trace.addProcess(pid, rank, "python3");
    const auto thread = trace.addThread(process, pid, "python3");
    trace.addSlice({thread, SliceKind::Mark, "fork", 500, 0, 0, {}, 0, {}, "process"});
    for (int at = 0; at < slices; ++at)
      trace.addSlice({thread, SliceKind::Operation, "op", 1'000 + at * 100, 80});
    return process;
  };
  const auto channel = trace.addChannel(trace.addProcess(10, {}, "tee"), "pipe:1:w", "pipe:1:r");
  trace.addTransfer(channel, model::Direction::Send, 100, 50, 1);
  busy(11, {}, 3);
  busy(12, {}, 120);
  busy(13, {}, 121);
  trace.addIteration(busy(14, {}, 2), 0, 1'000, 500);
  testing::writeShims(trace, 2, 1);
  busy(15, 1, 1);
  busy(16, 0, 1);
  trace.finish();
  std::vector<std::int64_t> pids;
  for (const ProcessInfo& process : open(file("a.sonde")).processes)
    pids.push_back(process.pid);
  // Ranks; among the unranked iterations, slices (12 began before 13), bytes; then the rest.
  std::vector<std::int64_t> expected{16, 15, 14, 12, 13, 11, 10};
  expected.resize(expected.size() + 22, 4100);
  EXPECT_EQ(pids, expected);
  EXPECT_EQ(skeleton_.processes[7].rank, 1);
  EXPECT_EQ(skeleton_.processes[7].slices, 0);
}

TEST_F(TraceReaderTest, KnowsTheLivesOfProcesses) {
  SampleTrace trace(file("a.sonde"));
  trace.addProcess(1, {}, "true", {2'000, 5'000, 3});
  trace.finish();
  const Skeleton& skeleton = open(file("a.sonde"));
  ASSERT_EQ(skeleton.processes.size(), 1U);
  EXPECT_EQ(skeleton.processes[0].startNs, 2'000);
  EXPECT_EQ(skeleton.processes[0].endNs, 5'000);
  EXPECT_EQ(skeleton.processes[0].exitStatus, 3);
  EXPECT_EQ(skeleton.beginNs, 2'000);
  EXPECT_EQ(skeleton.endNs, 5'000);
}

TEST_F(TraceReaderTest, WindowHoldsWhatReachesIntoItAndNothingElse) {
  SampleTrace trace(file("a.sonde"));
  const auto process = trace.addProcess(1, {}, "p");
  const auto thread = trace.addThread(process, 1, "main");
  for (int at = 0; at < 10; ++at)
    trace.addSlice({thread, SliceKind::Operation, "op", 1000 + at * 100, 80});
  trace.finish();
  open(file("a.sonde"));
  const auto inside = blocks(1250, 1410, 1);
  ASSERT_EQ(inside.size(), 3U);
  EXPECT_EQ(inside.front().startNs, 1200);
  EXPECT_EQ(inside.back().startNs, 1400);
}

TEST_F(TraceReaderTest, AnAncestorThatBeganLongBeforeTheWindowIsThere) {
  SampleTrace trace(file("a.sonde"));
  const auto thread = trace.addThread(trace.addProcess(1, {}, "p"), 1, "main");
  const auto outer = trace.addSlice({thread, SliceKind::Phase, "all", 0, 1'000'000});
  for (int at = 0; at < 100; ++at)
    trace.addSlice({thread, SliceKind::Operation, "op", at * 10'000, 5'000, 1, outer});
  trace.finish();
  open(file("a.sonde"));
  const auto inside = blocks(900'000, 901'000, 1);
  ASSERT_EQ(inside.size(), 2U);
  EXPECT_EQ(inside[0].id, outer.value);
  EXPECT_EQ(inside[1].row, 1);
}

TEST_F(TraceReaderTest, SlicesThatDidNotEndAreOpen) {
  SampleTrace trace(file("a.sonde"));
  const auto thread = trace.addThread(trace.addProcess(1, {}, "p"), 1, "main");
  trace.addSlice({thread, SliceKind::Forward, "dies", 1'100'000'000, {}});
  trace.finish();
  const Skeleton& skeleton = open(file("a.sonde"));
  const auto read = blocks(skeleton.beginNs, skeleton.endNs + 1, 1);
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].durNs, Block::kOpen);
  EXPECT_EQ(skeleton.endNs, 3'000'000'000);  // the process's end
}

TEST_F(TraceReaderTest, FarAwayReadsLevelsOfDetailThatAccountForEveryEvent) {
  constexpr int kCalls = 50'000;
  SampleTrace trace(file("a.sonde"));
  const auto thread = trace.addThread(trace.addProcess(1, {}, "p"), 1, "main");
  for (int at = 0; at < kCalls; ++at)
    trace.addSlice({thread, SliceKind::Operation, "op", at * 1'000, 600});
  trace.finish();
  open(file("a.sonde"));
  const auto far = blocks(0, kCalls * 1'000, kCalls * 1'000 / 1000.0);
  EXPECT_LT(far.size(), 4'000U);
  std::int64_t events = 0;
  std::int64_t busy = 0;
  for (const Block& block : far) {
    events += block.count;
    busy += block.busyNs;
  }
  EXPECT_EQ(events, kCalls);
  EXPECT_EQ(busy, kCalls * 600);
  const auto near = blocks(100'000, 200'000, 50);
  EXPECT_EQ(near.size(), 100U);
}

TEST_F(TraceReaderTest, LevelsFitThePixels) {
  const auto levelOr = [](const Line& of, double nsPerPixel) {
    return LineQuery::levelFor(of, nsPerPixel).value_or(-1);
  };
  Line line;
  EXPECT_EQ(levelOr(line, 1e9), -1);
  line.minLevel = 10;
  line.maxLevel = 20;
  EXPECT_EQ(levelOr(line, 100), -1);
  EXPECT_EQ(levelOr(line, 511), -1);
  EXPECT_EQ(levelOr(line, 512), 10) << "a width of two pixels";
  EXPECT_EQ(levelOr(line, 1024), 10);
  EXPECT_EQ(levelOr(line, 2047), 10);
  EXPECT_EQ(levelOr(line, 2048), 12);
  EXPECT_EQ(levelOr(line, 4096), 12);
  EXPECT_EQ(levelOr(line, 524'287), 18);
  EXPECT_EQ(levelOr(line, 524'288), 20);
  EXPECT_EQ(levelOr(line, 1e12), 20);
}

TEST_F(TraceReaderTest, TransfersOfBothDirectionsHaveRowsAndBytes) {
  SampleTrace trace(file("a.sonde"));
  const auto channel = trace.addChannel(trace.addProcess(1, {}, "p"), "tcp a", "tcp b");
  trace.addTransfer(channel, model::Direction::Send, 100, 50, 4096);
  trace.addTransfer(channel, model::Direction::Receive, 120, 50, 17);
  trace.addTransfer(channel, model::Direction::Send, 130, 50, 1);  // overlaps the first
  trace.finish();
  open(file("a.sonde"));
  const auto read = blocks(0, 1000, 1);
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].kind, Kind::Send);
  EXPECT_EQ(read[0].bytes, 4096);
  EXPECT_EQ(read[0].row, 0);
  EXPECT_EQ(read[1].row, 1);
  EXPECT_EQ(read[2].kind, Kind::Receive);
  EXPECT_EQ(read[2].row, 2);
}

TEST_F(TraceReaderTest, ClocksOfHostsAreApplied) {
  SampleTrace trace(file("a.sonde"));
  const auto process = trace.addProcess(1, {}, "p");
  const auto thread = trace.addThread(process, 1, "main");
  const auto slice = trace.addSlice({thread, SliceKind::Operation, "op", 2'000'000'000, 80});
  model::ClockMap map;
  map.hostId = model::HostId{1};
  map.offsetNs = 500;
  map.driftPpb = 1'000'000'000 / 1'000'000;  // 1 ppm: 2 µs after 2 s
  ASSERT_TRUE(trace.writer().add(map));
  trace.finish();
  open(file("a.sonde"));
  const auto read = blocks(2'000'002'400, 2'000'002'600, 1);
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].id, slice.value);
  EXPECT_EQ(read[0].startNs, 2'000'002'500);
}

TEST_F(TraceReaderTest, AnUnfinishedRecordingIsShownAndLeftAlone) {
  const std::string path = file("a.sonde.part");
  SampleTrace trace(path);
  const auto thread = trace.addThread(trace.addProcess(1, {}, "p"), 1, "main");
  trace.addSlice({thread, SliceKind::Operation, "op", 100, 80});
  trace.abandon();
  EXPECT_TRUE(open(path).unfinished);
  EXPECT_EQ(blocks(0, 1000, 1).size(), 1U);
  trace.addSlice({thread, SliceKind::Operation, "op", 200, 80});  // the recorder goes on
}

TEST_F(TraceReaderTest, SeveralTracesAreShownAsOneJob) {
  for (const int rank : {1, 0}) {
    SampleTrace trace(file(rank == 0 ? "rank0.sonde" : "rank1.sonde"));
    const auto thread =
        trace.addThread(trace.addProcess(100 + rank, rank, "train"), 100 + rank, "main");
    trace.addSlice({thread, SliceKind::Forward, "forward", 1'000, 80});
    trace.finish();
  }
  const auto read =
      reader_.open({folder_.filePath("rank1.sonde"), folder_.filePath("rank0.sonde")});
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->processes.size(), 2U);
  EXPECT_EQ(read->processes[0].rank, 0);
  EXPECT_EQ(read->processes[1].rank, 1);
  EXPECT_EQ(read->events, 2);
  EXPECT_FALSE(reader_.open({folder_.filePath("rank0.sonde"), folder_.filePath("rank0.sonde")}));
}

TEST_F(TraceReaderTest, CancelledAnswersStop) {
  testing::writeTraining(file("a.sonde"), 3);
  open(file("a.sonde"));
  Cancellation now;
  now.request();
  EXPECT_FALSE(reader_.window({0, 1'000'000'000'000, 1e6, {0, 1, 2}}, now));
  EXPECT_FALSE(reader_.search({"forward", 0, {}, true}, now));
  EXPECT_FALSE(reader_.overview(100, now));
}

TEST_F(TraceReaderTest, WhatIsNoTraceIsAnError) {
  QFile file(folder_.filePath("notes.txt"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("no trace");
  file.close();
  EXPECT_FALSE(reader_.open({file.fileName()}));
  EXPECT_FALSE(reader_.open({folder_.filePath("missing.sonde")}));
}

TEST_F(TraceReaderTest, AnEmptyTraceHasNoTracksAndABoundedWindow) {
  SampleTrace trace(file("a.sonde"));
  trace.finish();
  const Skeleton& skeleton = open(file("a.sonde"));
  EXPECT_TRUE(skeleton.tracks.empty());
  EXPECT_LE(skeleton.beginNs, skeleton.endNs);
}

}  // namespace
}  // namespace sonde::gui
