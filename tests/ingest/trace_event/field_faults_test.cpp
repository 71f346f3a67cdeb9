// Faults of real files in what their events are: a synthetic file for each kind, with the right
// values computed by hand.
#include "tests/ingest/trace_event/field_events.h"

#include <gmock/gmock.h>

namespace sonde::ingest {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- External id

TEST_F(FieldFaults, TheKernelsOfAnOperatorAreThoseOfItsCallsInTheirOrder) {
  // Two launches and a call without a launch, in an operator; the kernels are in the opposite order
  // in the file. Delays: 100 - 12, 200 - 32 µs.
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
  // 0 is not the id of an operator.
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

// --- PyTorch without Kineto

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

// --- kernels that overlap later ones of their stream

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
  EXPECT_THAT(
      summary_.warnings,
      ElementsAre(AllOf(HasSubstr("kernel 'long' of stream 7 of gpu 0"),
                        HasSubstr("lasts 200.0 µs and ends after 5 later kernels"),
                        HasSubstr("take 220.0 µs; "),
                        HasSubstr("cut at the start of the next kernel, they take 80.0 µs"))));
}

TEST_F(FieldFaults, KernelsOfOneGraphAndThoseThatOverlapABitAreNotNamed) {
  // All are of one launch, as a graph's branches; and a chain in which each begins before the
  // previous one has ended.
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

// --- device rows of other tools

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
  // The last event is {}, XLA's end of a list, and does not count.
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
  // The copy and the wait do not count as compute; the second task has no arrow.
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
