#include "tests/support/nsight_export.h"

#include "tests/support/trace_builder.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::test {
namespace {

constexpr std::string_view kWork =
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER "
    "NOT NULL, {}streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, ";
constexpr std::string_view kCall =
    "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, "
    "correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId "
    "INTEGER";
constexpr std::string_view kTables =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime "
    "TEXT);"
    "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT "
    "NOT NULL, nameEnum INTEGER NOT NULL, value TEXT NOT NULL);"
    "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, "
    "totalMemory INTEGER, uuid TEXT);"
    "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, pid "
    "INTEGER NOT NULL, uuid TEXT NOT NULL, numMultiprocessors INTEGER NOT NULL);"
    "CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({0}demangledName INTEGER NOT NULL, shortName INTEGER "
    "NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, registersPerThread "
    "INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, "
    "blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory "
    "INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT "
    "NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, graphNodeId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE ({0}graphId INTEGER NOT NULL, graphExecId "
    "INTEGER "
    "NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY ({0}bytes INTEGER NOT NULL, copyKind INTEGER NOT "
    "NULL, "
    "srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER, graphNodeId "
    "INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET ({0}value INTEGER NOT NULL, bytes INTEGER NOT NULL, "
    "graphNodeId INTEGER, memKind INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION ({0}syncType INTEGER NOT NULL, eventId "
    "INTEGER NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME ({1});"
    "CREATE TABLE OSRT_API ({1}, nestingLevel INTEGER);"
    "CREATE TABLE PROFILER_OVERHEAD ({1});"
    "CREATE TABLE CUBLAS_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER "
    "NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL);"
    "CREATE TABLE COMPOSITE_EVENTS (id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL, cpu "
    "INTEGER, threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER NOT NULL);"
    "CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL, module "
    "INTEGER "
    "NOT NULL, kernelMode INTEGER, thumbCode INTEGER, unresolved INTEGER, specialEntry INTEGER, "
    "originalIP INTEGER, unwindMethod INTEGER, stackDepth INTEGER NOT NULL, PRIMARY KEY (id, "
    "stackDepth));"
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, "
    "rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid "
    "INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, "
    "doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL{2}, jsonText TEXT);"
    "CREATE TABLE MPI_RANKS (globalTid INTEGER NOT NULL, rank INTEGER NOT NULL);"
    "CREATE TABLE MPI_P2P_EVENTS (start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, textId "
    "INTEGER, commHandle INTEGER, tag INTEGER, remoteRank INTEGER, size INTEGER, requestHandle "
    "INTEGER);"
    "CREATE TABLE MPI_START_WAIT_EVENTS (start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, "
    "textId INTEGER, requestHandle INTEGER);"
    "CREATE TABLE MPI_OTHER_EVENTS (start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, textId "
    "INTEGER);"
    "CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid "
    "INTEGER NOT NULL, textId INTEGER NOT NULL, commHandle INTEGER, rootRank INTEGER, size "
    "INTEGER, "
    "recvSize INTEGER);"
    "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL, "
    "source INTEGER NOT NULL, severity INTEGER NOT NULL, text TEXT NOT NULL, globalPid INTEGER);"
    "INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES (33, 'NvtxCategory', 'NVTX category'), (34, "
    "'NvtxMark', 'NVTX mark'), (59, 'NvtxPushPopRange', 'NVTX push/pop range'), (60, "
    "'NvtxStartEndRange', 'NVTX start/end range'), (75, 'NvtxDomainCreate', 'NVTX domain create');";

void replaceAll(std::string& text, std::string_view what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), with);
}

}  // namespace

NsightExport::NsightExport(const std::filesystem::path& path, const NsightVersion& version)
    : database_(*store::Database::open(path, store::Access::Create)),
      hasProcesses_(version.hasProcesses) {
  createTables(version);
}

void NsightExport::createTables(const NsightVersion& version) {
  run("PRAGMA synchronous = OFF; PRAGMA page_size = 1024");
  const std::string work =
      fmt::format(fmt::runtime(kWork), version.hasNewer ? "greenContextId INTEGER, " : "");
  run(fmt::format(
      fmt::runtime(kTables), work, kCall, version.hasNewer ? ", jsonTextId INTEGER" : ""));
  if (version.hasProcesses)
    run("CREATE TABLE PROCESSES (globalPid INTEGER NOT NULL, pid INTEGER NOT NULL, name TEXT)");
  run(fmt::format("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION{}', '{}')",
                  version.hasParts ? "_MAJOR" : "",
                  version.hasParts ? "3" : version.name));
}

NsightExport& NsightExport::run(std::string sql) {
  replaceAll(sql, "$TID", std::to_string(kGlobalTid));
  replaceAll(sql, "$PID", std::to_string(kGlobalPid));
  must(database_.exec(sql));
  return *this;
}

std::int64_t NsightExport::string(std::string_view text) {
  run(fmt::format("INSERT INTO StringIds VALUES ({}, '{}')", ++strings_, text));
  return strings_;
}

NsightExport& NsightExport::fill() {
  const std::int64_t launch = string("cudaLaunchKernel_v7000");
  const std::int64_t copy = string("cuMemcpyHtoDAsync_v2");
  const std::int64_t sync = string("cudaStreamSynchronize_v3020");
  const std::int64_t gemm = string("void gemm<float>(float*)");
  const std::int64_t shortName = string("gemm");
  const std::int64_t reduce = string("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
  const std::int64_t read = string("read");
  const std::int64_t wait = string("pthread_cond_wait");
  const std::int64_t thread = string("trainer");
  run("BEGIN");
  run(fmt::format(
      "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({}, '', '');"
      "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, 'CpuInfo', 'Hostname', 1, 'node7');"
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 3, 'H100', 80000000000, 'GPU-1');"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, {}, 'GPU-1', 132);"
      "INSERT INTO ThreadNames VALUES ({}, 0, $TID);"
      "INSERT INTO NVTX_EVENTS(start, eventType, text, domainId, globalTid) "
      "VALUES (-90, 75, 'mine', 2, $TID)",
      kEpochNs,
      kPid,
      thread));
  if (hasProcesses_)
    run(fmt::format("INSERT INTO PROCESSES VALUES ($PID, {}, 'python3')", kPid));
  for (int step = 0; step < 2; ++step) {
    const int at = -100 + 1000 * step;
    const int id = 10 * (step + 1);
    run(
        fmt::format("INSERT INTO NVTX_EVENTS(start, end, eventType, text, domainId, globalTid) "
                    "VALUES ({}, {}, 59, 'ProfilerStep#{}', 0, $TID), ({}, {}, 59, 'forward', 2, "
                    "$TID)",
                    at,
                    at + 900,
                    step,
                    at + 10,
                    at + 600));
    run(
        fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({0}+20, {0}+25, 0, $TID, {1}, "
                    "{2}, 0, NULL), ({0}+30, {0}+35, 1, $TID, {1}+1, {3}, 0, NULL), ({0}+40, "
                    "{0}+45, 0, $TID, {1}+2, {2}, 700, NULL), ({0}+50, {0}+500, 0, $TID, {1}+3, "
                    "{4}, 0, NULL)",
                    at,
                    id,
                    launch,
                    copy,
                    sync));
    const char* const kKernel =
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, demangledName, shortName, registersPerThread, gridX, gridY, "
        "gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, "
        "localMemoryPerThread, localMemoryTotal, gridId) VALUES ({}, {}, 0, 1, 7, {}, $PID, {}, "
        "{}, 32, 4, 2, 1, 128, 1, 1, 1024, 64, 8, 0, 1)";
    run(fmt::format(fmt::runtime(kKernel), at + 100, at + 150, id, gemm, shortName));
    run(fmt::format(fmt::runtime(kKernel), at + 250, at + 450, id + 2, reduce, reduce));
    run(
        fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, contextId, "
                    "streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind) VALUES "
                    "({0}+60, {0}+80, 0, 1, 7, {1}+1, $PID, 4096, 1, 1, 2)",
                    at,
                    id));
    run(
        fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, "
                    "contextId, streamId, correlationId, globalPid, syncType, eventId) VALUES "
                    "({0}+50, {0}+500, 0, 1, 7, {1}+3, $PID, 3, 0)",
                    at,
                    id));
    run(
        fmt::format("INSERT INTO OSRT_API VALUES ({0}+610, {0}+620, 27, $TID, 0, {1}, 0, NULL, 0), "
                    "({0}+630, {0}+640, 27, $TID, 0, {2}, 0, NULL, 0)",
                    at,
                    read,
                    wait));
  }
  return run("COMMIT");
}

}  // namespace sonde::test
