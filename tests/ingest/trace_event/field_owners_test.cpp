// Faults of real files in the owners and times of events: a synthetic file for each kind, with the
// right values computed by hand.
#include "analysis/ingest/import/process_label.h"
#include "analysis/ingest/input/rank_in_name.h"
#include "tests/ingest/trace_event/field_events.h"

#include <gmock/gmock.h>

namespace sonde::ingest {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- work of autograd's threads

constexpr const char* kEvaluate = "autograd::engine::evaluate_function: MmBackward0";

TEST_F(FieldFaults, AutogradsThreadWorksForTheThreadWithTheStepAmongOthersThatHaveAnnotations) {
  // A loader annotates at the same time and began later; iterations show which thread trains. The
  // second function begins when "bwd" has ended, in the step alone.
  importEvents({annotation("ProfilerStep#1", {"100", 100, 0, 1000}),
                annotation("bwd", {"100", 100, 100, 300}),
                annotation("prefetch", {"100", 300, 120, 800}),
                event("cpu_op", kEvaluate, {"100", 222, 150, 100}),
                launch(1, {"100", 222, 160, 5}),
                event("cpu_op", kEvaluate, {"100", 222, 500, 100}),
                launch(2, {"100", 222, 510, 5}),
                kernel("a", 1, 200, 50),
                kernel("b", 2, 520, 70)});
  EXPECT_EQ(operations(), "a:bwd b:ProfilerStep#1");
  EXPECT_EQ(rows("SELECT scope_how AS concat_row FROM slice s JOIN string n ON n.id = s.name_id "
                 "WHERE n.text GLOB 'autograd*'"),
            "inherited inherited");
}

TEST_F(FieldFaults, ArrowsFromForwardToBackwardTellWhoseItIs) {
  // Two threads train, each with an autograd thread, without function names and without steps. The
  // arrow of each backward node begins on its forward thread.
  const auto arrow = [](char phase, int id, int tid, double ts) {
    return fmt::format(
        R"({{"ph": "{}", "bp": "e", "cat": "fwdbwd", "name": "fwdbwd", "id": {}, "pid": 100, "tid": {}, "ts": {}}})",
        phase,
        id,
        tid,
        ts);
  };
  importEvents({annotation("one", {"100", 1, 0, 1000}),
                annotation("two", {"100", 2, 0, 1000}),
                event("cpu_op", "aten::mm", {"100", 1, 10, 5}),
                event("cpu_op", "aten::mm", {"100", 2, 20, 5}),
                event("cpu_op", "MmBackward0", {"100", 11, 300, 50}),
                event("cpu_op", "MmBackward0", {"100", 12, 310, 50}),
                launch(1, {"100", 11, 320, 5}),
                launch(2, {"100", 12, 330, 5}),
                kernel("k1", 1, 400, 10),
                kernel("k2", 2, 420, 10),
                arrow('s', 1, 1, 10),
                arrow('f', 1, 11, 300),
                arrow('s', 2, 2, 20),
                arrow('f', 2, 12, 310)});
  EXPECT_EQ(operations(), "k1:one k2:two");
}

TEST_F(FieldFaults, SequenceNumbersTellWhoseABackwardIsWhereThereAreNoArrows) {
  const auto op = [](const std::string& name, const At& at, int sequence, int forward) {
    return event("cpu_op",
                 name,
                 at,
                 fmt::format(R"("Sequence number": {}, "Fwd thread id": {})", sequence, forward));
  };
  importEvents({annotation("one", {"100", 1, 0, 1000}),
                annotation("two", {"100", 2, 0, 1000}),
                op("aten::mm", {"100", 1, 10, 5}, 7, 0),
                op("aten::mm", {"100", 2, 20, 5}, 8, 0),
                op("MmBackward0", {"100", 11, 300, 50}, 8, 2),
                op("MmBackward0", {"100", 11, 400, 50}, 7, 1),
                launch(1, {"100", 11, 310, 5}),
                launch(2, {"100", 11, 410, 5}),
                kernel("k8", 1, 500, 10),
                kernel("k9", 2, 520, 10)});
  EXPECT_EQ(operations(), "k8:two k9:one");
}

TEST_F(FieldFaults, AThreadThatIsNotAutogradsKeepsWhatItDoesToItself) {
  importEvents({annotation("ProfilerStep#1", {"100", 100, 0, 1000}),
                annotation("fwd", {"100", 100, 100, 300}),
                event("cpu_op", "aten::mm", {"100", 222, 150, 100}),
                launch(1, {"100", 222, 160, 5}),
                kernel("other", 1, 200, 50)});
  EXPECT_EQ(operations(), "other:-");
}

// --- ranks that were merged into one file

TEST_F(FieldFaults, EachTextOfAMergedFileIsAProcessWithCorrelationsOfItsOwn) {
  // Without brackets, kernels before their launches, and the profiler's own rows.
  const auto at = [](const char* pid, int tid, double ts, double dur) {
    return At{fmt::format("\"{}\"", pid), tid, ts, dur};
  };
  const std::string args = R"("device": 0, "stream": 7, "correlation": 5)";
  importEvents({event("kernel", "k0", at("rank0: 0", 7, 300, 10), args),
                event("kernel", "k1", at("rank1: 0", 7, 400, 10), args),
                annotation("ProfilerStep#1", at("rank0: 40", 40, 0, 500)),
                annotation("fwd", at("rank0: 40", 40, 10, 100)),
                launch(5, at("rank0: 40", 40, 20, 5)),
                annotation("ProfilerStep#1", at("rank1: 41", 41, 0, 500)),
                annotation("bwd", at("rank1: 41", 41, 10, 100)),
                launch(5, at("rank1: 41", 41, 20, 5)),
                event("Trace", "PyTorch Profiler (0)", at("rank1: Spans", 1, 0, 600))});
  EXPECT_EQ(operations(), "k0:fwd k1:bwd");
  EXPECT_EQ(
      rows("SELECT p.rank || '/' || p.pid || '/' || (SELECT count(*) FROM slice s JOIN thread "
           "t ON t.id = s.thread_id WHERE t.process_id = p.id) AS concat_row FROM process p "
           "ORDER BY p.rank"),
      "0/40/3 1/41/4");
  EXPECT_EQ(rows("SELECT n.text || p.rank AS concat_row FROM kernel k JOIN string n ON n.id = "
                 "k.name_id JOIN stream r ON r.id = k.stream_id JOIN process p ON p.id = "
                 "r.process_id ORDER BY 1"),
            "k00 k11");
  EXPECT_THAT(summary_.warnings, IsEmpty());
}

TEST_F(FieldFaults, CorrelationsThatNothingTellsApartAreSaidAndTiedToNone) {
  // Two processes by number, kernels on device rows. "early" began before the second process
  // launched anything; the owner of "late" is unknown.
  importEvents({annotation("one", {"501", 1, 0, 1000}),
                annotation("two", {"502", 2, 0, 1000}),
                launch(1, {"501", 1, 10, 5}),
                launch(1, {"502", 2, 300, 5}),
                launch(2, {"501", 1, 400, 5}),
                launch(2, {"502", 2, 410, 5}),
                launch(3, {"502", 2, 420, 5}),
                kernel("alone", 3, 700, 10),
                kernel("early", 1, 100, 10),
                kernel("late", 2, 600, 10)});
  EXPECT_EQ(operations(), "alone:two early:one late:-");
  EXPECT_THAT(
      summary_.warnings,
      ElementsAre(HasSubstr("1 kernels and copies have a correlation that several processes use")));
}

TEST(ProcessLabels, GroupWhatIsOfOneRank) {
  const auto group = [](std::string_view text) { return groupOfLabel({text, {}}); };
  EXPECT_EQ(group("[TP00] 4000"), "[TP00]");
  EXPECT_EQ(group("[TP00-DP01] 0"), "[TP00-DP01]");
  EXPECT_EQ(group("[TP01] Spans"), "[TP01]");
  EXPECT_EQ(group("rank 3"), "rank 3");
  EXPECT_EQ(group("trainer"), "trainer");
  EXPECT_EQ(group("Spans"), "");
  EXPECT_EQ(group("CPU functions"), "");
  EXPECT_EQ(groupOfLabel({"4000", 4000}), "");
  EXPECT_THAT(ranksOfGroups({"[TP01]", "[TP00]"}), ElementsAre(1, 0));
  EXPECT_THAT(ranksOfGroups({"rank 3", "rank 1"}), ElementsAre(3, 1));
  EXPECT_THAT(ranksOfGroups({"[TP00]", "[PP00]"}), IsEmpty());
  EXPECT_THAT(ranksOfGroups({"[TP00-DP00]", "[TP00-DP01]"}), IsEmpty());
}

// --- impossible times

constexpr double kEpoch = 1'764'000'000'000'000;  // µs

TEST_F(FieldFaults, WhatBeganBeforeAnyProfilerIsLeftOut) {
  // Times since 1970: a kernel that begins at 0 and lasts until its true end, a slice at 3 µs, a
  // counter at 4 µs, and a kernel whose duration never ends.
  importEvents({annotation("ProfilerStep#1", {"100", 100, kEpoch, 500}),
                launch(1, {"100", 100, kEpoch + 10, 5}),
                kernel("good", 1, kEpoch + 100, 50),
                kernel("from_zero", 1, 0, kEpoch + 200),
                kernel("endless", 1, kEpoch + 300, 9e15),
                event("cpu_op", "stray", {"100", 100, 3, 2}, R"("a": 1)"),
                R"({"ph": "C", "name": "c", "pid": 100, "ts": 4, "args": {"x": 1}})"});
  EXPECT_EQ(operations(), "good:ProfilerStep#1");
  EXPECT_EQ(rows("SELECT (max(end_ns) - min(start_ns)) || '' AS concat_row FROM process"),
            "500000");
  EXPECT_EQ(rows("SELECT count(*) || '' AS concat_row FROM arg WHERE owner = 'slice'"), "1");
  EXPECT_EQ(summary_.dropped.at("no time"), 4U);
  EXPECT_EQ(summary_.kept, 3U);
}

TEST_F(FieldFaults, ADevicesRecordsWithoutTimesAreLeftOutWhereTimesCountFromTheFile) {
  // base + ts is 0 for one; the other two have no duration, or 0 for both. A kernel at 0 with a
  // duration is valid: times count from the file's begin.
  importEvents({annotation("ProfilerStep#1", {"100", 100, 0, 500}),
                kernel("good", 1, 0, 50),
                kernel("zero", 2, 0, 0),
                kernel("base", 3, -kEpoch, 0),
                R"({"ph": "X", "cat": "kernel", "name": "open", "pid": 0, "tid": 7, "ts": 60})"},
               R"(], "baseTimeNanoseconds": 1764000000000000000})");
  EXPECT_EQ(operations(), "good:-");
  EXPECT_EQ(summary_.dropped.at("no time"), 3U);
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("3 events have impossible times")));
}

// --- ranks by the names of files

TEST(RankInName, IsTheNumberBehindTheWord) {
  EXPECT_EQ(rankInName("dp0_pp0_tp1_dcp0_ep0_rank3.1764.pt.trace.json.gz"), 3);
  EXPECT_EQ(rankInName("Rank-12.json"), 12);
  EXPECT_EQ(rankInName("trace_rank_0"), 0);
  EXPECT_EQ(rankInName("local_rank1_global_rank9.json"), 9);
  EXPECT_EQ(rankInName("tp_rank1.json"), model::OptionalInt());
  EXPECT_EQ(rankInName("rank0_of_rank8.json"), model::OptionalInt());
  EXPECT_EQ(rankInName("crank3.json"), model::OptionalInt());
  EXPECT_EQ(rankInName("ranking.json"), model::OptionalInt());
  EXPECT_EQ(rankInName("host_123.pt.trace.json"), model::OptionalInt());
}

TEST_F(FieldFaults, WhatAFileSaysOfItsRankCountsMoreThanItsName) {
  const std::string step = annotation("ProfilerStep#1", {"100", 100, 0, 500});
  const std::string head = kHead;
  const auto imported =  // rank0.json, rank1.json
      import({head + step + R"(], "distributedInfo": {"rank": 5, "world_size": 8}})",
              head + step + "]}"});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(rows("SELECT rank || '' AS concat_row FROM process ORDER BY id"), "5 1");
}

TEST_F(FieldFaults, ARankThatTwoNamesHaveIsNone) {
  std::vector<std::filesystem::path> files;
  for (const char* const name : {"step1_rank0.json", "step2_rank0.json", "step1_rank1.json"}) {
    files.emplace_back(folder_ / name);
    test::writeText(files.back().string(),
                    kHead + annotation("ProfilerStep#1", {"100", 100, 0, 500}) + "]}");
  }
  const auto imported = importFiles(files);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(rows("SELECT coalesce(rank, '-') AS concat_row FROM process ORDER BY id"), "- - 1");
}

}  // namespace
}  // namespace sonde::ingest
