// Faults that files of the field have had: made-up files of each kind, with the right values worked
// out by hand beside them.
#include "analysis/ingest/input/rank_in_name.h"
#include "analysis/ingest/process_label.h"
#include "tests/ingest/trace_event_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sonde::ingest {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Where an event is: of which process and thread, and from when to when.
struct At {
  std::string pid = "100";
  int tid = 100;
  double ts = 0;
  double dur = 0;
};

std::string event(const std::string& category,
                  const std::string& name,
                  const At& at,
                  const std::string& args = "") {
  const std::string cat = category.empty() ? "" : R"("cat": ")" + category + R"(", )";
  return fmt::format(
      R"({{"ph": "X", {}"name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
      cat,
      name,
      at.pid,
      at.tid,
      at.ts,
      at.dur,
      args);
}

std::string annotation(const std::string& name, const At& at) {
  return event("user_annotation", name, at);
}
std::string launch(int correlation, const At& at) {
  return event(
      "cuda_runtime", "cudaLaunchKernel", at, fmt::format(R"("correlation": {})", correlation));
}
std::string kernel(const std::string& name, int correlation, double ts, double dur) {
  return event("kernel",
               name,
               {"0", 7, ts, dur},
               fmt::format(R"("device": 0, "stream": 7, "correlation": {})", correlation));
}

class FieldFaults : public TraceEventImporterTest {
 protected:
  // "KERNEL:OPERATION" of each kernel by name; "-": of none.
  std::string operations(const std::string& table = "kernel") {
    return rows(fmt::format(
        "WITH RECURSIVE up(work, id) AS (SELECT id, scope_id FROM {0} UNION ALL SELECT u.work, "
        "s.scope_id FROM up u JOIN slice s ON s.id = u.id WHERE s.kind NOT IN ('operation', "
        "'iteration')) SELECT n.text || ':' || coalesce((SELECT o.text FROM up u JOIN slice s ON "
        "s.id = u.id JOIN string o ON o.id = s.name_id WHERE u.work = k.id AND s.kind IN "
        "('operation', 'iteration')), '-') AS concat_row FROM {0} k JOIN string n ON n.id = "
        "k.name_id ORDER BY n.text",
        table));
  }
};

// --- work of autograd's threads ------------------------------------------------------------------

constexpr const char* kEvaluate = "autograd::engine::evaluate_function: MmBackward0";

TEST_F(FieldFaults, AutogradsThreadWorksForTheThreadWithTheStepAmongOthersThatHaveAnnotations) {
  // A loader annotates at the same time and began later; iterations tell who trains. The second
  // function begins when "bwd" has ended, in the step alone.
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
  // Two threads train, each with a thread of autograd's; without the names of its functions, and
  // with no steps. The arrow of each backward node begins on its forward thread.
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
// ----------------------------------------------------------

TEST_F(FieldFaults, EachTextOfAMergedFileIsAProcessWithCorrelationsOfItsOwn) {
  // Without brackets, kernels before their launches, and rows of the profiler's own.
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
  // Two processes by number, kernels on rows of devices. "early" began before the second process
  // launched anything; of "late" nothing tells whose it is.
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
  EXPECT_THAT(summary_.warnings,
              ElementsAre(HasSubstr("1 kernels and copies have the correlation")));
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

// --- times that cannot be ----------------------------------------------------------------------

constexpr double kEpoch = 1'764'000'000'000'000;  // µs

TEST_F(FieldFaults, WhatBeganBeforeAnyProfilerIsLeftOut) {
  // Times since 1970: a kernel that begins at 0 and lasts until its end's true time, a slice at 3
  // µs, a counter at 4 µs, and a kernel that never ended by its duration.
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
  // base + ts is 0 of the one; the other two have no duration, or 0 for both. A kernel at 0 that
  // lasts is good: times count from the file's begin.
  importEvents({annotation("ProfilerStep#1", {"100", 100, 0, 500}),
                kernel("good", 1, 0, 50),
                kernel("zero", 2, 0, 0),
                kernel("base", 3, -kEpoch, 0),
                R"({"ph": "X", "cat": "kernel", "name": "open", "pid": 0, "tid": 7, "ts": 60})"},
               R"(], "baseTimeNanoseconds": 1764000000000000000})");
  EXPECT_EQ(operations(), "good:-");
  EXPECT_EQ(summary_.dropped.at("no time"), 3U);
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("3 events have times that cannot be")));
}

// --- ranks by the names of files -----------------------------------------------------------------

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

// --- External id
// -----------------------------------------------------------------------------------

TEST_F(FieldFaults, TheKernelsOfAnOperatorAreThoseOfItsCallsInTheirOrder) {
  // Two launches and a call that launches nothing, in an operator; the kernels stand the other way
  // round in the file. Delays: 100 - 12, 200 - 32 µs.
  const std::string id = R"("External id": 9)";
  const auto work = [&](const std::string& name, double ts) {
    return event("kernel", name, {"2", 0, ts, 10}, id);
  };
  importEvents({annotation("fwd", {"100", 100, 0, 500}),
                event("cpu_op", "aten::mm", {"100", 100, 10, 50}, id),
                event("cuda_runtime", "hipGetDevice", {"100", 100, 11, 1}, id),
                event("cuda_runtime", "hipLaunchKernel", {"100", 100, 12, 5}, id),
                event("cuda_runtime", "hipExtModuleLaunchKernel", {"100", 100, 32, 5}, id),
                work("second", 200),
                work("first", 100)});
  EXPECT_EQ(operations(), "first:fwd second:fwd");
  EXPECT_EQ(
      rows("SELECT n.text || launch_delay_ns AS concat_row FROM kernel k JOIN string n ON n.id "
           "= k.name_id ORDER BY k.start_ns"),
      "first88000 second168000");
}

TEST_F(FieldFaults, WithoutCallsTheOperatorOfTheExternalIdIsTheScope) {
  // 0 is the id of no operator.
  importEvents({annotation("fwd", {"100", 100, 0, 500}),
                event("cpu_op", "aten::mm", {"100", 100, 10, 50}, R"("External id": 9)"),
                event("cpu_op", "aten::add", {"100", 100, 70, 50}, R"("External id": 0)"),
                event("kernel", "of_mm", {"2", 0, 100, 10}, R"("External id": 9)"),
                event("gpu_memcpy", "CopyHostToDevice", {"2", 0, 120, 10}, R"("External id": 9)"),
                event("kernel", "of_none", {"2", 0, 200, 10}, R"("External id": 0)")});
  EXPECT_EQ(operations(), "of_mm:fwd of_none:-");
  EXPECT_EQ(operations("copy"), "CopyHostToDevice:fwd");
  EXPECT_EQ(
      rows("SELECT count(*) || '' AS concat_row FROM kernel WHERE launch_slice_id IS NOT NULL"),
      "0");
}

// --- PyTorch without Kineto --------------------------------------------------------------------

TEST_F(FieldFaults, WithoutCategoriesNamesTellOperatorsAndCallsFromAnnotations) {
  importEvents({event("", "my_step", {"\"CPU functions\"", 1, 0, 90}),
                event("", "aten::mm", {"\"CPU functions\"", 1, 10, 10}),
                event("", "AddmmBackward0", {"\"CPU functions\"", 1, 20, 10}),
                event("", "cudaLaunchKernel", {"\"CPU functions\"", 1, 12, 2}),
                event("", "Optimizer.step#SGD.step", {"\"CPU functions\"", 1, 30, 10}),
                event("", "ProfilerStep#4", {"\"CPU functions\"", 1, 0, 95}),
                event("", "kernel_of_mm", {"\"CUDA functions\"", 0, 50, 10})});
  EXPECT_EQ(rows("SELECT kind AS concat_row FROM slice ORDER BY id"),
            "operation operator operator api optimizer iteration");
  EXPECT_EQ(operations(), "kernel_of_mm:-");
}

TEST_F(FieldFaults, ACategoryOfItsOwnKeepsAnEventAnOperation) {
  importEvents({event("toplevel", "base::RunLoop::Run", {"100", 1, 0, 90}),
                event("", "c10::impl", {"100", 1, 10, 10}),
                R"({"ph": "b", "name": "net::Fetch", "id": 1, "pid": 100, "tid": 1, "ts": 5})"});
  EXPECT_EQ(rows("SELECT kind AS concat_row FROM slice ORDER BY id"), "operation operator range");
}

// --- kernels over later ones of their stream
// ---------------------------------------------------------

TEST_F(FieldFaults, AKernelOverLaterOnesIsNamedWithBothBusyTimes) {
  // 0-10, then "long" 20-220 over five of 10 µs each (30, 60, 90, 120, 150), then 300-310. As
  // written 10 + 200 + 10; clipped 10 + (30 - 20) + 5 * 10 + 10. Another stream has only three.
  std::vector<std::string> events = {annotation("ProfilerStep#1", {"100", 100, 0, 500}),
                                     kernel("before", 1, 0, 10),
                                     kernel("long", 2, 20, 200),
                                     kernel("after", 3, 300, 10)};
  for (int at = 30; at <= 150; at += 30)
    events.push_back(kernel("k", at, at, 10));
  const std::string other = R"("device": 0, "stream": 9)";
  events.push_back(event("kernel", "branch", {"0", 9, 0, 100}, other));
  for (int at = 10; at <= 70; at += 30)
    events.push_back(event("kernel", "k", {"0", 9, static_cast<double>(at), 10}, other));
  importEvents(events);
  EXPECT_THAT(summary_.warnings,
              ElementsAre(AllOf(HasSubstr("kernel 'long' of stream 7 of gpu 0"),
                                HasSubstr("lasts 200.0 µs and ends after 5 kernels"),
                                HasSubstr("take 220.0 µs; "),
                                HasSubstr("begins, 80.0 µs"))));
}

TEST_F(FieldFaults, KernelsOfOneGraphAndThoseThatOverlapABitAreNotNamed) {
  // All of one launch, as a graph's branches; and a chain in which each begins before the one
  // before it has ended.
  std::vector<std::string> events = {annotation("ProfilerStep#1", {"100", 100, 0, 500}),
                                     kernel("root", 1, 0, 100)};
  for (int at = 10; at < 90; at += 10)
    events.push_back(kernel("branch", 1, at, 10));
  for (int at = 200; at < 400; at += 10)
    events.push_back(kernel("chain", at, at, 15));
  importEvents(events);
  EXPECT_THAT(summary_.warnings, IsEmpty());
}

// --- escapes that JSON does not know
// ------------------------------------------------------------------

TEST_F(FieldFaults, ATextWithAnEscapeThatIsNoneStandsAsItIs) {
  importEvents({event("cpu_op", R"(D:\data\x.py(3): \"f\")", {"100", 1, 0, 90}),
                event("cpu_op",
                      R"(tab\tand \u0041)",
                      {"100", 1, 100, 90},
                      R"("Call stack": "C:\Users\new \"q\" \\srv", "ok": "a\tb\\c", "k\ey": 1)")});
  EXPECT_EQ(
      rows("SELECT n.text AS concat_row FROM slice s JOIN string n ON n.id = s.name_id ORDER BY "
           "s.id"),
      "D:\\data\\x.py(3): \\\"f\\\" tab\tand A");
  EXPECT_EQ(rows("SELECT json_extract(value, '$.\"Call stack\"') || '|' || json_extract(value, "
                 "'$.ok') AS concat_row FROM arg"),
            "C:\\Users\\new \"q\" \\\\srv|a\tb\\c");
  EXPECT_THAT(summary_.dropped, IsEmpty());
}

TEST_F(FieldFaults, AnEscapeThatIsNoneInALabelOrKeyCostsNothing) {
  importEvents({R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": "C:\p", "tid": "\q", "ts": 0,
                    "dur": 5, "x\y": 3, "args": {}})",
                event("cpu_op", R"(\ud800 alone)", {"\"C:\\p\"", 2, 10, 5})});
  EXPECT_EQ(rows("SELECT command AS concat_row FROM process"), "C:\\p");
  EXPECT_EQ(rows("SELECT name AS concat_row FROM thread WHERE name IS NOT NULL"), "\\q");
  EXPECT_EQ(
      rows("SELECT n.text AS concat_row FROM slice s JOIN string n ON n.id = s.name_id ORDER BY "
           "s.id"),
      "a \\ud800 alone");
}

// --- rows of devices of other tools
// ----------------------------------------------------------------

std::string named(const std::string& what,
                  const std::string& pid,
                  int tid,
                  const std::string& name) {
  return fmt::format(
      R"({{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "args": {{"name": "{}"}}}})",
      what,
      pid,
      tid,
      name);
}

TEST_F(FieldFaults, RowsOfXlasStreamsAreKernelsAndWhatSumsThemUpIsLeftOut) {
  // The last event is {}, as XLA ends its lists, and is none.
  importEvents({named("process_name", "3", 0, "host1 /device:GPU:2"),
                named("thread_name", "3", 20, "Stream #20(Compute,MemcpyH2D)"),
                named("thread_name", "3", 1, "XLA Modules"),
                named("process_name", "9", 0, "/host:CPU"),
                event("", "cuLaunchKernel", {"9", 1, 5, 2}, R"("correlation_id": "6")"),
                event("", "fusion", {"3", 20, 10, 30}, R"("correlation_id": "6")"),
                event("",
                      "MemcpyH2D",
                      {"3", 20, 50, 4},
                      R"("memcpy_details": "kind_src:pinned size:512 async:1")"),
                event("", "jit_step(1)", {"3", 1, 10, 44}),
                "{}"});
  EXPECT_EQ(
      rows("SELECT d.kind || d.ordinal || '/' || r.number || '/' || n.text || '/' || k.start_ns "
           "|| '/' || (k.launch_slice_id IS NOT NULL) AS concat_row FROM kernel k JOIN stream r "
           "ON r.id = k.stream_id JOIN device d ON d.id = r.device_id JOIN string n ON n.id = "
           "k.name_id"),
      "gpu2/20/fusion/10000/1");
  EXPECT_EQ(rows("SELECT kind || bytes AS concat_row FROM copy"), "host_to_device512");
  EXPECT_EQ(rows("SELECT count(*) || '' AS concat_row FROM slice"), "1");
  EXPECT_EQ(summary_.dropped, (std::map<std::string, std::uint64_t>{{"not kept", 1}}));
  EXPECT_THAT(summary_.warnings, ElementsAre(HasSubstr("(XLA Modules)")));
}

TEST_F(FieldFaults, WithoutStreamsTheOperationsOfATpuAreItsKernels) {
  importEvents({named("process_name", "3", 0, "/device:TPU:1"),
                named("thread_name", "3", 3, "XLA Ops"),
                named("thread_name", "3", 1, "Steps"),
                event("", "fusion.1", {"3", 3, 10, 30}),
                event("", "all-reduce.2", {"3", 3, 50, 4}),
                event("", "7", {"3", 1, 10, 44})});
  EXPECT_EQ(
      rows("SELECT d.kind || d.ordinal || count(*) || '/' || sum(k.dur_ns) AS concat_row FROM "
           "kernel k JOIN stream r ON r.id = k.stream_id JOIN device d ON d.id = r.device_id"),
      "tpu12/34000");
}

TEST_F(FieldFaults, ArrowsTieAscendsTasksToWhatStartedThem) {
  // The copy and the wait are none of compute; the second task has no arrow.
  const auto arrow = [](char phase, int pid, int tid, double ts) {
    return fmt::format(
        R"({{"ph": "{}", "bp": "e", "cat": "async_npu", "name": "async_npu", "id": "5", "pid": {}, "tid": {}, "ts": {}}})",
        phase,
        pid,
        tid,
        ts);
  };
  importEvents({named("process_name", "8", 0, "Ascend Hardware"),
                named("thread_name", "8", 4, "Stream 4"),
                annotation("fwd", {"7", 1, 0, 100}),
                event("cpu_op", "aten::mm", {"7", 1, 10, 10}),
                arrow('s', 7, 1, 10),
                arrow('f', 8, 4, 20),
                event("", "MatMul", {"8", 4, 20, 30}, R"("Task Type": "AI_CORE", "Stream Id": 4)"),
                event("", "Add", {"8", 4, 60, 10}, R"("Task Type": "AI_VECTOR_CORE")"),
                event("", "MEMCPY_ASYNC", {"8", 4, 80, 5}, R"("Task Type": "MEMCPY_ASYNC")"),
                event("", "Event", {"8", 4, 90, 5}, R"("Task Type": "EVENT_WAIT")")});
  EXPECT_EQ(operations(), "Add:- MatMul:fwd");
  EXPECT_EQ(rows("SELECT d.kind || r.number AS concat_row FROM stream r JOIN device d ON d.id = "
                 "r.device_id"),
            "npu4");
  EXPECT_EQ(rows("SELECT (SELECT count(*) FROM copy) || (SELECT count(*) FROM sync) AS concat_row"),
            "11");
  EXPECT_THAT(summary_.dropped, IsEmpty());
}

}  // namespace
}  // namespace sonde::ingest
