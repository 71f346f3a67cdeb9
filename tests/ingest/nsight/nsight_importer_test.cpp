#include "analysis/ingest/nsight/nsight_importer.h"

#include "tests/ingest/import/damaged_files.h"
#include "tests/ingest/nsight/nsight_fixture.h"
#include "tests/support/nsight_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde::ingest {
namespace {

using test::kNsightVersions;
using test::NsightExport;
using test::NsightVersion;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST_F(NsightImporterTest, EveryKnownVersionGivesTheSameTrace) {
  for (const NsightVersion& version : kNsightVersions) {
    SCOPED_TRACE(version.name);
    make(version).fill();
    mustImport();
    EXPECT_EQ(rows(kKernelRow),
              "void gemm<float>(float*)|3|7|1700000000000000007|50|cudaLaunchKernel|forward "
              "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)|3|7|1700000000000000157|200|"
              "cudaLaunchKernel|forward "
              "void gemm<float>(float*)|3|7|1700000000000001007|50|cudaLaunchKernel|forward "
              "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)|3|7|1700000000000001157|200|"
              "cudaLaunchKernel|forward");
    EXPECT_EQ(rows("SELECT kind || '|' || category || '|' || depth || '|' || dur_ns AS concat_row "
                   "FROM slice ORDER BY start_ns LIMIT 8"),
              "iteration|nvtx|0|900 operation|nvtx|1|590 api|cuda_runtime|2|5 api|cuda_driver|2|5 "
              "api|cuda_runtime|2|5 api|cuda_runtime|2|450 io|osrt|1|10 wait|osrt|1|10");
    EXPECT_EQ(
        rows("SELECT number || '|' || start_ns || '|' || dur_ns AS concat_row FROM iteration"),
        "0|1699999999999999907|900 1|1700000000000000907|900");
    EXPECT_EQ(rows("SELECT p.pid || '|' || t.tid || '|' || t.name || '|' || h.name || '|' || "
                   "coalesce(p.command, '-') AS concat_row FROM thread t JOIN process p "
                   "ON p.id = t.process_id JOIN host h ON h.id = p.host_id"),
              std::string("4242|4243|trainer|node7|") + (version.hasProcesses ? "python3" : "-"));
    EXPECT_EQ(rows("SELECT text AS concat_row FROM note WHERE text LIKE '%schema%'"), "");
    EXPECT_EQ(rows("SELECT reason AS concat_row FROM loss"), "");
  }
}

// Table names of newer versions of Nsight.
TEST_F(NsightImporterTest, TablesWithAVersionInTheirNamesGiveTheSameTrace) {
  make().fill();
  mustImport();
  const std::string ranges = "SELECT kind || dur_ns AS concat_row FROM slice ORDER BY id";
  const std::string before = rows(ranges) + rows(kKernelRow);
  make().fill().run(
      "ALTER TABLE NVTX_EVENTS RENAME TO NVTX_EVENTS_V2; ALTER TABLE StringIds RENAME TO "
      "StringIds_V12; ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO "
      "CUPTI_ACTIVITY_KIND_KERNEL_V3; ALTER TABLE META_DATA_EXPORT RENAME TO META_DATA_EXPORT_V2");
  mustImport();
  EXPECT_EQ(rows(ranges) + rows(kKernelRow), before);
  EXPECT_EQ(rows("SELECT text AS concat_row FROM note WHERE text LIKE '%_V%'"), "");
}

TEST_F(NsightImporterTest, OfSeveralVersionsOfATableTheLatestCountsUnlessItIsThereWithoutOne) {
  make().fill().run(
      "CREATE TABLE OSRT_API_V2 AS SELECT * FROM OSRT_API; ALTER TABLE NVTX_EVENTS RENAME TO "
      "NVTX_EVENTS_V10; CREATE TABLE NVTX_EVENTS_V9 AS SELECT * FROM NVTX_EVENTS_V10 LIMIT 1");
  mustImport();
  EXPECT_EQ(rows("SELECT count(*) || '' AS concat_row FROM iteration"), "2");
  EXPECT_EQ(rows("SELECT count(*) || '' AS concat_row FROM slice WHERE category = 'osrt'"), "4");
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("not imported: NVTX_EVENTS_V9, OSRT_API_V2")));
}

TEST_F(NsightImporterTest, KeepsWhatTheDeviceTablesSay) {
  make().fill();
  file_->run(
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET(start, end, deviceId, contextId, streamId, "
      "correlationId, globalPid, value, bytes) VALUES (900, 910, 0, 1, 8, 98, $PID, 0, 64);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, contextId, streamId, "
      "correlationId, globalPid, bytes, copyKind, srcKind, dstKind) VALUES (905, 908, 0, 1, 9, 95, "
      "$PID, 128, 12, 2, 4);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end, deviceId, contextId, "
      "streamId, correlationId, globalPid, graphId, graphExecId) VALUES (920, 930, 0, 2, 7, "
      "99, $PID, 5, 6);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, "
      "streamId, correlationId, globalPid, syncType, eventId) VALUES (940, 950, 0, 1, "
      "4294967295, 97, $PID, 4, 0), (960, 960, 0, 1, 7, 96, $PID, 2, 11)");
  mustImport();
  EXPECT_EQ(rows("SELECT c.kind || '|' || n.text || '|' || bytes || '|' || coalesce(pinned, '-') "
                 "|| '|' || (launch_slice_id IS NOT NULL) AS concat_row FROM copy c "
                 "JOIN string n ON n.id = c.name_id ORDER BY start_ns"),
            "host_to_device|Memcpy HtoD (Pinned -> Device)|4096|1|1 "
            "set|Memset (Device)|64|-|0 "
            "device_to_host|Memcpy Unified DtoH (Device -> Managed)|128|-|0 "
            "host_to_device|Memcpy HtoD (Pinned -> Device)|4096|1|1");
  EXPECT_EQ(rows("SELECT kind || '|' || coalesce(r.number, '-') || '|' || event_id AS concat_row "
                 "FROM sync s LEFT JOIN stream r ON r.id = s.stream_id ORDER BY s.start_ns"),
            "stream|7|0 context|-|0 stream|7|0 wait|7|11");
  EXPECT_EQ(rows("SELECT (grid_x * grid_y * block_x) || '|' || registers || '|' || "
                 "static_shared_bytes || '|' || dynamic_shared_bytes || '|' || local_bytes AS "
                 "concat_row FROM kernel ORDER BY start_ns LIMIT 1"),
            "1024|32|1024|64|8");
  // The graph ran in another context, whose stream 7 is a different stream.
  EXPECT_EQ(rows("SELECT n.text || '|' || graph_id || '|' || (SELECT count(DISTINCT stream_id) "
                 "FROM kernel) AS concat_row FROM kernel JOIN string n ON n.id = name_id WHERE "
                 "graph_id IS NOT NULL"),
            "CUDA graph 5|5|2");
  EXPECT_EQ(rows("SELECT op || '|' || c.seq || '|' || (k.id IS NOT NULL) AS concat_row FROM "
                 "collective c LEFT JOIN kernel k ON k.id = c.kernel_id"),
            "allreduce|0|1 allreduce|1|1");
  EXPECT_EQ(rows("SELECT name || '|' || memory_bytes || '|' || uuid AS concat_row FROM device"),
            "H100|80000000000|GPU-1");
  EXPECT_EQ(rows("SELECT k.text || '=' || value AS concat_row FROM arg JOIN string k ON k.id = "
                 "key_id WHERE k.text = 'return_value'"),
            "return_value=700 return_value=700");
}

// The host's memory is what a copy to the device is from, and what one to the host goes to.
TEST_F(NsightImporterTest, ACopyIsPinnedWhereTheHostsSideIs) {
  make();
  file_->run(
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, contextId, streamId, "
      "correlationId, globalPid, bytes, copyKind, srcKind, dstKind) VALUES "
      "(10, 15, 0, 1, 7, 1, $PID, 8, 1, 0, 2), (20, 25, 0, 1, 7, 2, $PID, 16, 1, 1, 2),"
      "(30, 35, 0, 1, 7, 3, $PID, 32, 2, 2, 0), (40, 45, 0, 1, 7, 4, $PID, 64, 2, 2, 1),"
      "(50, 55, 0, 1, 7, 5, $PID, 128, 8, 2, 2)");
  mustImport();
  EXPECT_EQ(rows("SELECT c.kind || '|' || n.text || '|' || bytes || '|' || coalesce(pinned, '-') "
                 "AS concat_row FROM copy c JOIN string n ON n.id = c.name_id ORDER BY start_ns"),
            "host_to_device|Memcpy HtoD (Pageable -> Device)|8|0 "
            "host_to_device|Memcpy HtoD (Pinned -> Device)|16|1 "
            "device_to_host|Memcpy DtoH (Device -> Pageable)|32|0 "
            "device_to_host|Memcpy DtoH (Device -> Pinned)|64|1 "
            "device_to_device|Memcpy DtoD (Device -> Device)|128|-");
}

TEST_F(NsightImporterTest, KeepsRangesMarksAndTheirFacts) {
  make(kNsightVersions[2]);
  file_->run(
      "INSERT INTO NVTX_EVENTS(start, end, eventType, text, textId, category, domainId, "
      "globalTid, endGlobalTid, int64Value, doubleValue, jsonText) VALUES "
      "(5, 50, 60, 'across', NULL, NULL, 0, $TID, $TID + 1, 12, NULL, '{\"a\": 1}'),"
      "(10, 30, 59, NULL, 77, 3, 2, $TID, NULL, NULL, 0.5, NULL),"
      "(20, NULL, 34, 'here', NULL, NULL, NULL, $TID, NULL, NULL, NULL, NULL),"
      "(25, NULL, 59, 'open', NULL, NULL, NULL, $TID, NULL, NULL, NULL, NULL),"
      "(26, 27, 99, 'strange', NULL, NULL, NULL, $TID, NULL, NULL, NULL, NULL),"
      "(90, NULL, 75, 'mine', NULL, NULL, 2, $TID, NULL, NULL, NULL, NULL),"
      "(91, NULL, 33, 'comm', NULL, 3, 2, $TID, NULL, NULL, NULL, NULL);"
      "INSERT INTO StringIds VALUES (77, 'registered')");
  mustImport();
  EXPECT_EQ(rows("SELECT n.text || '|' || kind || '|' || start_ns || '|' || coalesce(dur_ns, "
                 "'open') AS concat_row FROM slice JOIN string n ON n.id = name_id ORDER BY "
                 "start_ns"),
            "across|range|5|45 registered|operation|10|20 here|mark|20|0 open|operation|25|open");
  EXPECT_EQ(rows("SELECT n.text || ':' || k.text || '=' || value AS concat_row FROM arg JOIN "
                 "string k ON k.id = key_id JOIN slice s ON s.id = owner_id JOIN string n ON n.id "
                 "= s.name_id ORDER BY s.start_ns, k.text"),
            "across:json={\"a\": 1} across:payload=12 registered:category=comm "
            "registered:domain=mine registered:payload=0.5");
  EXPECT_EQ(summary_.dropped.at("not kept"), 1U);
}

TEST_F(NsightImporterTest, MpiGivesRanksAndCollectives) {
  make().fill();
  const std::int64_t bcast = file_->string("MPI_Bcast");
  file_->run(
      "INSERT INTO MPI_RANKS VALUES ($TID, 3);"
      "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (700, 710, $TID, " +
      std::to_string(bcast) + ", 1, 2, 64, NULL)");
  mustImport();
  EXPECT_EQ(rows("SELECT rank AS concat_row FROM process"), "3");
  EXPECT_EQ(rows("SELECT c.op || '|' || c.bytes || '|' || c.root || '|' || s.kind || '|' || "
                 "s.category AS concat_row FROM collective c JOIN slice s ON s.id = c.slice_id"),
            "broadcast|64|2|collective|mpi");
}

TEST_F(NsightImporterTest, KeepsCallsOfMpiAndWhatNsightSaysOfItself) {
  make().fill();
  const auto text = [&](const char* value) { return std::to_string(file_->string(value)); };
  file_->run("INSERT INTO MPI_P2P_EVENTS VALUES (700, 710, $TID, " + text("MPI_Send") +
             ", 1, 5, 3, 128, NULL), (720, 740, $TID, " + text("MPI_Irecv") +
             ", 1, 5, 2, 256, 9);"
             "INSERT INTO MPI_START_WAIT_EVENTS VALUES (750, 760, $TID, " +
             text("MPI_Wait") +
             ", 9);"
             "INSERT INTO MPI_OTHER_EVENTS VALUES (770, 780, $TID, " +
             text("MPI_Comm_split") +
             ");"
             "INSERT INTO PROFILER_OVERHEAD(start, end, eventClass, globalTid, nameId, "
             "returnValue) VALUES (790, 800, 0, $TID, " +
             text("CUDA profiling data flush") +
             ", 0);"
             "INSERT INTO DIAGNOSTIC_EVENT VALUES (5, 0, 1, 2, 'events were lost', $PID)");
  mustImport();
  EXPECT_EQ(
      rows("SELECT n.text || '|' || s.kind || '|' || s.category || '|' || s.dur_ns AS "
           "concat_row FROM slice s JOIN string n ON n.id = s.name_id WHERE s.start_ns BETWEEN "
           "1700000000000000707 AND 1700000000000000797 ORDER BY s.start_ns"),
      "MPI_Send|collective|mpi|10 MPI_Irecv|collective|mpi|20 MPI_Wait|api|mpi|10 "
      "MPI_Comm_split|api|mpi|10 CUDA profiling data flush|api|overhead|10");
  EXPECT_EQ(
      rows("SELECT op || '|' || coalesce(send_bytes, '-') || '|' || coalesce(recv_bytes, '-') "
           "|| '|' || peer AS concat_row FROM collective WHERE op IN ('send', 'receive') ORDER "
           "BY start_ns"),
      "send|128|-|3 receive|-|256|2");
  EXPECT_EQ(
      rows("SELECT source || '|' || ts_ns || '|' || text AS concat_row FROM note WHERE source = "
           "'nsight'"),
      "nsight|1700000000000000012|events were lost");
}

// Each stack from the outermost frame on: kind:name@file+address.
constexpr const char* kStackRow =
    "WITH RECURSIVE walk(top, parent, path) AS ("
    "SELECT s.id, s.parent_id, f.kind || ':' || n.text || '@' || coalesce(m.text, '-') || "
    "coalesce('+' || f.address, '') FROM stack s JOIN frame f ON f.id = s.frame_id "
    "JOIN string n ON n.id = f.name_id LEFT JOIN string m ON m.id = f.path_id "
    "UNION ALL SELECT top, s.parent_id, f.kind || ':' || n.text || '@' || coalesce(m.text, '-') "
    "|| coalesce('+' || f.address, '') || ';' || path FROM walk JOIN stack s ON s.id = parent "
    "JOIN frame f ON f.id = s.frame_id JOIN string n ON n.id = f.name_id "
    "LEFT JOIN string m ON m.id = f.path_id) "
    "SELECT x.ts_ns || '|' || t.tid || '|' || x.weight || '|' || x.truncated || '|' || "
    "coalesce(path, '-') AS concat_row FROM stack_sample x JOIN thread t ON t.id = x.thread_id "
    "LEFT JOIN walk ON top = x.stack_id AND parent IS NULL ORDER BY x.ts_ns";

TEST_F(NsightImporterTest, SamplesHaveTheirStacks) {
  make();
  const auto text = [&](const char* value) { return std::to_string(file_->string(value)); };
  const std::string start = text("_start");
  const std::string run = text("run");
  const std::string hash = text("0x7f00");
  const std::string idle = text("do_idle");
  const std::string broken = text("[Broken backtraces]");
  const std::string python = text("/usr/bin/python3");
  const std::string kernel = text("[kernel.kallsyms]");
  const std::string frames =
      "INSERT INTO SAMPLING_CALLCHAINS(id, stackDepth, symbol, module, originalIP, unresolved, "
      "kernelMode, specialEntry) VALUES ";
  file_->run(
      "INSERT INTO COMPOSITE_EVENTS(id, start, globalTid, cpuCycles) VALUES "
      "(1, 100, $TID, 9), (2, 200, $TID, 9), (3, 300, $TID, 9), (5, 350, $TID + 1, 9);");
  // The innermost first, as Nsight writes them; one frame belongs to a missing sample.
  file_->run(frames + "(2, 0, " + run + ", " + python + ", 7, 0, 0, 0), (2, 1, " + start + ", " +
             python + ", 5, 0, 0, 0), (1, 0, " + run + ", " + python + ", 6, 0, 0, 0), (1, 1, " +
             start + ", " + python + ", 5, 0, 0, 0), (3, 0, " + hash + ", " + python +
             ", 32512, 1, 0, 0), (3, 1, " + broken + ", " + python + ", 0, 0, 0, 1), (4, 0, " +
             run + ", " + python + ", 7, 0, 0, 0), (5, 0, " + idle + ", " + kernel +
             ", 9, 0, 1, 0)");
  mustImport();
  EXPECT_EQ(rows(kStackRow),
            "100|4243|100|0|native:_start@/usr/bin/python3;native:run@/usr/bin/python3 "
            "200|4243|100|0|native:_start@/usr/bin/python3;native:run@/usr/bin/python3 "
            "300|4243|100|1|native:0x7f00@/usr/bin/python3+32512 "
            "350|4244|100|0|kernel:do_idle@[kernel.kallsyms]");
  EXPECT_EQ(rows("SELECT (SELECT count(*) FROM stack) || '|' || (SELECT count(*) FROM frame) AS "
                 "concat_row"),
            "4|4");
}

TEST_F(NsightImporterTest, SamplesWithoutFramesAreKept) {
  make();
  file_->run(
      "DROP TABLE SAMPLING_CALLCHAINS; INSERT INTO COMPOSITE_EVENTS(id, start, globalTid, "
      "cpuCycles) VALUES (1, 100, $TID, 9)");
  mustImport();
  EXPECT_EQ(rows(kStackRow), "100|4243|0|0|-");
}

TEST_F(NsightImporterTest, CallsOfLibrariesAreSlices) {
  make().fill();
  file_->run("INSERT INTO CUBLAS_EVENTS VALUES (900, 950, 0, $TID, " +
             std::to_string(file_->string("cublasSgemm_v2")) + ")");
  mustImport();
  EXPECT_EQ(
      rows("SELECT s.kind || '|' || n.text || '|' || s.dur_ns AS concat_row FROM slice s JOIN "
           "string n ON n.id = s.name_id WHERE s.category = 'cublas'"),
      "api|cublasSgemm_v2|50");
}

TEST_F(NsightImporterTest, TablesThatAreNotThereAreNamedAndTheRestIsImported) {
  for (const char* missing : {"CUPTI_ACTIVITY_KIND_RUNTIME",
                              "CUPTI_ACTIVITY_KIND_KERNEL",
                              "CUPTI_ACTIVITY_KIND_MEMCPY",
                              "NVTX_EVENTS",
                              "OSRT_API",
                              "StringIds",
                              "TARGET_INFO_SESSION_START_TIME"}) {
    SCOPED_TRACE(missing);
    make().fill().run(std::string("DROP TABLE ") + missing);
    mustImport();
    EXPECT_THAT(summary_.warnings, Contains(HasSubstr(std::string("(") + missing + ")")));
  }
  // Only kernels, without names and without the session's time.
  make().fill();
  for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME",
                            "NVTX_EVENTS",
                            "OSRT_API",
                            "StringIds",
                            "META_DATA_EXPORT",
                            "TARGET_INFO_SESSION_START_TIME",
                            "TARGET_INFO_SYSTEM_ENV",
                            "TARGET_INFO_CUDA_DEVICE"})
    file_->run(std::string("DROP TABLE ") + table);
  mustImport();
  EXPECT_EQ(rows("SELECT n.text || '|' || start_ns || '|' || dur_ns AS concat_row FROM kernel JOIN "
                 "string n ON n.id = name_id ORDER BY start_ns LIMIT 1"),
            "[unknown]|0|50");
  EXPECT_EQ(rows("SELECT name AS concat_row FROM host"), "report1");
}

TEST_F(NsightImporterTest, NamesWithoutAKeyAreFound) {
  make().fill();
  file_->run(
      "ALTER TABLE StringIds RENAME TO old; CREATE TABLE StringIds(value TEXT, id INTEGER);"
      "INSERT INTO StringIds SELECT value, id FROM old ORDER BY id DESC; DROP TABLE old");
  mustImport();
  EXPECT_THAT(rows(kKernelRow), HasSubstr("void gemm<float>(float*)|3|7|1700000000000000007|50|"));
}

TEST_F(NsightImporterTest, SeveralFilesAreTheRanksOfOneJob) {
  std::vector<std::filesystem::path> files;
  for (int rank = 0; rank < 2; ++rank) {
    files.emplace_back(folder_ / ("rank" + std::to_string(rank) + ".sqlite"));
    NsightExport(files.back())
        .fill()
        .run("INSERT INTO MPI_RANKS VALUES ($TID, " + std::to_string(rank) + ")");
  }
  ASSERT_TRUE(importFiles(files));
  EXPECT_EQ(rows("SELECT rank || '|' || (SELECT count(*) FROM kernel) AS concat_row FROM process "
                 "ORDER BY rank"),
            "0|8 1|8");
  files.push_back(files.front());
  const auto twice = importFiles(files);
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("are both rank 0"));
}

}  // namespace
}  // namespace sonde::ingest
