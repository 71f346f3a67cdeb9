// Device events of a Trace Event file: kernels, copies, synchronisation and collectives.
#include "tests/ingest/trace_event/trace_event_fixture.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde::ingest {
namespace {

using WorkEventsTest = TraceEventImporterTest;

TEST_F(WorkEventsTest, JoinsKernelsToTheirLaunchesAndItsScope) {
  importEvents(
      {spanOf("cpu_op", "aten::mm", R"("ts": 10, "dur": 10)"),
       spanOf("cuda_runtime", "cudaLaunchKernel", R"("ts": 12, "dur": 2)", R"({"correlation": 5})"),
       spanOf(
           "kernel",
           "gemm",
           R"("ts": 30.5, "dur": 4)",
           R"({"correlation": 5, "device": 1, "stream": 7, "grid": [4, 2, 1], "block": [128, 1, 1],
                  "registers per thread": 30})"),
       // As in ROCm's tracer: numbers as texts.
       spanOf("kernel",
              "other",
              R"("ts": "40", "dur": "1.25")",
              R"({"device": "1", "stream": "0x8"})"),
       spanOf("gpu_memcpy",
              "Memcpy HtoD (Pageable -> Device)",
              R"("ts": 50, "dur": 1)",
              R"({"bytes": 256, "device": 1, "stream": 7})")});
  EXPECT_EQ(
      rows("SELECT n.text || '|' || d.ordinal || '|' || r.number || '|' || k.start_ns || '|' || "
           "k.dur_ns || '|' || coalesce(l.kind, '-') || '|' || coalesce(s.kind, '-') || '|' || "
           "coalesce(grid_x * grid_y, '-') AS concat_row FROM kernel k "
           "JOIN string n ON n.id = k.name_id JOIN stream r ON r.id = k.stream_id "
           "JOIN device d ON d.id = r.device_id LEFT JOIN slice l ON l.id = k.launch_slice_id "
           "LEFT JOIN slice s ON s.id = k.scope_id ORDER BY k.start_ns"),
      "gemm|1|7|30500|4000|api|operator|8 other|1|8|40000|1250|-|-|-");
  EXPECT_EQ(rows("SELECT coalesce(k.launch_delay_ns = k.start_ns - l.start_ns, '-') AS concat_row "
                 "FROM kernel k LEFT JOIN slice l ON l.id = k.launch_slice_id ORDER BY k.start_ns"),
            "1 -");
  EXPECT_EQ(rows("SELECT kind || '|' || bytes AS concat_row FROM copy"), "host_to_device|256");
}

// An event of another process comes first; the kernel belongs to the process that launched it.
TEST_F(WorkEventsTest, TheProcessWithTheMostEventsIsTheFilesOwn) {
  importEvents(
      {R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 9,
                    "tid": 9, "ts": 0, "dur": 100})",
       R"({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler", "pid": "Spans",
                    "tid": "PyTorch Profiler", "ts": 0, "dur": 100})",
       R"({"ph": "C", "name": "memory", "pid": 9, "ts": 1, "args": {"used": 6}})",
       spanOf("cpu_op", "a", R"("ts": 10, "dur": 10)"),
       spanOf("cuda_runtime", "cudaLaunchKernel", R"("ts": 12, "dur": 2)", R"({"correlation": 5})"),
       R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20,
                    "dur": 5, "args": {"correlation": 5, "device": 0, "stream": 7}})"},
      R"(], "distributedInfo": {"rank": 3, "world_size": 4}})");
  EXPECT_EQ(rows("SELECT p.pid || '/' || coalesce(p.rank, '-') || '/' || t.name AS concat_row FROM "
                 "process p JOIN thread t ON t.process_id = p.id WHERE t.name IS NOT NULL"),
            "100/3/PyTorch Profiler");
  EXPECT_EQ(rows("SELECT p.pid || '/' || q.pid AS concat_row FROM kernel k JOIN stream r ON r.id = "
                 "k.stream_id JOIN process p ON p.id = r.process_id JOIN slice s ON s.id = "
                 "k.launch_slice_id JOIN thread t ON t.id = s.thread_id JOIN process q ON q.id = "
                 "t.process_id"),
            "100/100");
  EXPECT_EQ(rows("SELECT p.pid AS concat_row FROM iteration i JOIN process p ON p.id = "
                 "i.process_id"),
            "9");
  EXPECT_EQ(rows("SELECT p.pid AS concat_row FROM counter c JOIN process p ON p.id = c.process_id"),
            "9");
}

// A comparison with another reader needs the base of the file's times. Whole microseconds are the
// same in all readers.
TEST_F(WorkEventsTest, NotesWhatTimesWithFractionsOfAMicrosecondCountFrom) {
  const std::string base =
      "SELECT a.value AS concat_row FROM arg a JOIN string k ON k.id = a.key_id WHERE a.owner = "
      "'process' AND k.text = 'sonde.base_ns'";
  importEvents({spanOf("cpu_op", "a", R"("ts": 10, "dur": 10.5)")},
               R"(], "baseTimeNanoseconds": 1000})");
  EXPECT_EQ(rows(base), "");
  importEvents({spanOf("cpu_op", "a", R"("ts": 10.25, "dur": 10)")},
               R"(], "baseTimeNanoseconds": 1000})");
  EXPECT_EQ(rows(base), "1000");
}

TEST_F(WorkEventsTest, TiesAWaitToTheRecordOfItsEvent) {
  const auto sync =
      [](const std::string& category, const std::string& name, int ts, const std::string& args) {
        return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
               R"(", "pid": 0, "tid": 7, "dur": 1, "ts": )" + std::to_string(ts) + R"(, "args": )" +
               args + "}";
      };
  importEvents(
      {sync("cuda_sync",
            "Stream Wait Event",
            20,
            R"({"cuda_sync_kind": "Stream Wait Event", "stream": 20, "correlation": 9, "device": 0,
                "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 5,
                "wait_on_cuda_event_id": 3})"),
       sync("cuda_event",
            "cudaEvent",
            10,
            R"({"event_id": 3, "stream": 7, "correlation": 5, "device": 0})"),
       sync("cuda_event",
            "cudaEvent",
            11,
            R"({"event_id": 4, "stream": 7, "correlation": 6, "device": 0})"),
       sync("cuda_sync",
            "Event Sync",
            30,
            R"({"cuda_sync_kind": "Event Sync", "stream": 20, "correlation": 10, "device": 0,
                "wait_on_stream": -1, "wait_on_cuda_event_record_corr_id": -1,
                "wait_on_cuda_event_id": 8})"),
       sync("cuda_sync", "Context Sync", 40, R"({"stream": -1, "correlation": 5, "device": 0})")});
  EXPECT_EQ(rows("SELECT w.kind || w.start_ns || '/' || coalesce(w.event_id, '-') || '/' || "
                 "coalesce((SELECT start_ns FROM sync r WHERE r.id = w.waits_for_id), '-') AS "
                 "concat_row FROM sync w ORDER BY w.start_ns"),
            "record10000/3/- record11000/4/- wait20000/3/10000 event30000/8/- context40000/-/-");
}

TEST_F(WorkEventsTest, SaysWithWhomASendOrReceiveWas) {
  const auto call = [](const std::string& name, int ts, const std::string& args) {
    return R"({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", "pid": 0, "tid": 7,
              "dur": 1, "ts": )" +
           std::to_string(ts) + R"(, "args": {"device": 0, "stream": 7, "Collective name": ")" +
           name + R"(", "Process Group Name": "pipe", "Process Group Ranks": "[4, 6]", )" + args +
           "}}";
  };
  importEvents({call("send", 10, R"("Dst Rank": 6)"),
                call("recv", 20, R"("Src Rank": 4)"),
                call("recv", 30, R"("Src Rank": 5)"),
                call("send", 40, R"("Src Rank": 4)")});
  EXPECT_EQ(
      rows("SELECT op || coalesce(peer, '-') AS concat_row FROM collective ORDER BY start_ns"),
      "send1 receive0 receive- send-");
}

// Sequence numbers and ordinals would be confused.
TEST_F(WorkEventsTest, GivesNoOrdinalsWhereSomeHaveNumbers) {
  const auto call = [](int ts, const std::string& args) {
    return R"({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7,
              "dur": 1, "ts": )" +
           std::to_string(ts) + R"(, "args": {"device": 0, "stream": 7, )" + args + "}}";
  };
  importEvents({call(10, R"("Process Group Name": "a", "Seq": 0)"),
                call(20, R"("Process Group Name": "a")"),
                call(30, R"("Process Group Name": "b")"),
                call(40, R"("Process Group Name": "b")")});
  EXPECT_EQ(rows("SELECT coalesce(seq, '-') AS concat_row FROM collective ORDER BY start_ns"),
            "0 - 0 1");
}

TEST_F(WorkEventsTest, MakesCollectivesThatMatchAcrossRanks) {
  const auto rank = [](int number) {
    const std::string args =
        R"({"device": 0, "stream": 7, "Collective name": "allreduce", "dtype": "Float",
            "In msg nelems": 1000, "Out msg nelems": 1000, "Group size": 2,
            "Process Group Name": "0", "Process Group Ranks": "[0, 1]"})";
    return kHead +
           spanOf(
               "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", R"("ts": 9, "dur": 2)", args) +
           "," +
           spanOf(
               "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", R"("ts": 5, "dur": 1)", args) +
           R"(], "distributedInfo": {"rank": )" + std::to_string(number) + R"(, "world_size": 2}})";
  };
  const auto imported = import({rank(0), rank(1)});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(
      rows("SELECT p.rank || '|' || c.op || '|' || c.seq || '|' || c.bytes || '|' || c.dtype || "
           "'|' || "
           "c.start_ns || '|' || g.size || '|' || g.position AS concat_row FROM collective c "
           "JOIN process p ON p.id = c.process_id JOIN communicator g ON g.id = c.communicator_id "
           "ORDER BY p.rank, c.seq"),
      "0|allreduce|0|4000|float32|5000|2|0 0|allreduce|1|4000|float32|9000|2|0 "
      "1|allreduce|0|4000|float32|5000|2|1 1|allreduce|1|4000|float32|9000|2|1");
}

TEST_F(WorkEventsTest, TellsWhetherTheHostsMemoryIsPinned) {
  std::vector<std::string> events;
  for (const char* memory :
       {"Pinned -> Device", "Device -> Pageable", "Pageable -> Pinned", "Device"})
    events.push_back(spanOf("gpu_memcpy",
                            std::string("Memcpy HtoD (") + memory + ")",
                            "\"dur\": 1, \"ts\": " + std::to_string(events.size())));
  importEvents(events);
  EXPECT_EQ(rows("SELECT coalesce(pinned, '-') AS concat_row FROM copy ORDER BY start_ns"),
            "1 0 - -");
}

}  // namespace
}  // namespace sonde::ingest
