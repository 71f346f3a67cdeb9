#include "analysis/ingest/spool/device_rows.h"

#include "collector/wire/device_records.h"
#include "tests/support/ingest_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::ingest {
namespace {

using test::IngestRig;
using test::SpoolBuilder;
using testing::ElementsAre;
using wire::RecordKind;

constexpr std::uint32_t kTracer = 9;  // the thread that the tracing library reports on

template <typename Detail>
wire::RecordHeader header(Detail detail, std::uint32_t subject = 0) {
  return {0, RecordKind::Count, static_cast<std::uint8_t>(detail), subject};
}

wire::DeviceCall call(SpoolBuilder& spool,
                      std::string_view name,
                      std::int32_t tid,
                      std::uint64_t begin,
                      std::uint64_t end) {
  wire::DeviceCall record{};
  record.header = header(wire::DeviceCallKind::Runtime, spool.string(name));
  record.beginTicks = begin;
  record.endTicks = end;
  record.tid = tid;
  record.correlation = 5;
  return record;
}

wire::Kernel kernel(SpoolBuilder& spool, std::uint32_t stream) {
  wire::Kernel record{};
  record.header = header(0, spool.string("_Z4gemmIfEvPT_i"));
  record.beginTicks = 200;
  record.endTicks = 260;
  record.queuedTicks = 150;
  record.stream = stream;
  record.correlation = 5;
  record.graph = 3;
  record.graphNode = 4'000'000'000'000;
  record.grid[0] = 2;
  record.grid[1] = 3;
  record.grid[2] = 4;
  record.block[0] = 128;
  record.block[1] = 1;
  record.block[2] = 1;
  record.registers = 32;
  record.staticSharedBytes = 1024;
  record.dynamicSharedBytes = 2048;
  record.localBytes = 16;
  return record;
}

TEST(DeviceRows, AKernelHasAllThatTheTracerSaysOfIt) {
  SpoolBuilder spool;
  spool.device(1, "H100", 7);
  const std::uint32_t stream = spool.stream(1, 13);
  spool.add(kTracer, RecordKind::Kernel, kernel(spool, stream));
  IngestRig rig(1'000'000);
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT name, device, stream, start_ns, dur_ns, correlation_id, graph_id, "
                       "graph_node_id, grid_x, grid_y, grid_z, block_x, registers, "
                       "static_shared_bytes, dynamic_shared_bytes, local_bytes FROM v_kernel"),
              ElementsAre("void gemm<float>(float*, int)|1|13|1000200|60|5|3|4000000000000|2|3|4|"
                          "128|32|1024|2048|16"));
  EXPECT_THAT(rig.rows("SELECT queued_ns, submitted_ns FROM kernel"), ElementsAre("1000150|-"));
  EXPECT_THAT(rig.rows("SELECT kind, ordinal, name, uuid, memory_bytes FROM device"),
              ElementsAre("gpu|1|H100|GPU-00000000-0000-0000-0000-000000000007|85899345920"));
}

TEST(DeviceRows, CopiesSayBetweenWhichMemories) {
  SpoolBuilder spool;
  wire::DeviceCopy copy{};
  copy.stream = spool.stream(0, 7);
  copy.bytes = 4096;
  copy.endTicks = 50;
  copy.header = header(wire::DeviceCopyKind::HostToDevice);
  copy.from = wire::MemoryKind::Pinned;
  copy.to = wire::MemoryKind::Device;
  spool.add(kTracer, RecordKind::DeviceCopy, copy);
  copy.header = header(wire::DeviceCopyKind::Set);
  copy.from = wire::MemoryKind::Unknown;
  spool.add(kTracer, RecordKind::DeviceCopy, copy);
  copy.header = header(wire::DeviceCopyKind::PeerToPeer, 2);  // to device 1
  copy.from = wire::MemoryKind::Device;
  spool.add(kTracer, RecordKind::DeviceCopy, copy);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT n.text, c.kind, bytes, pinned, d.ordinal FROM copy c JOIN string n "
                       "ON n.id = name_id LEFT JOIN device d ON d.id = peer_device_id ORDER BY "
                       "c.id"),
              ElementsAre("Memcpy HtoD (Pinned -> Device)|host_to_device|4096|1|-",
                          "Memset (Device)|set|4096|-|-",
                          "Memcpy PtoP (Device -> Device)|peer_to_peer|4096|-|1"));
}

TEST(DeviceRows, AWaitLeadsToTheRecordItWaitsFor) {
  SpoolBuilder spool;
  wire::DeviceSync sync{};
  sync.stream = spool.stream(0, 7);
  sync.header = header(wire::DeviceSyncKind::Record, 12);
  sync.recordId = 77;
  sync.correlation = 1;
  spool.add(kTracer, RecordKind::DeviceSync, sync);
  sync.header = header(wire::DeviceSyncKind::Event, 12);
  sync.beginTicks = 10;
  sync.endTicks = 30;
  spool.add(kTracer, RecordKind::DeviceSync, sync);
  sync.header = header(wire::DeviceSyncKind::Context);
  sync.stream = 0;
  sync.recordId = 0;
  spool.add(kTracer, RecordKind::DeviceSync, sync);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT kind, stream_id, event_id, waits_for_id, dur_ns, process_id FROM "
                       "sync ORDER BY id"),
              ElementsAre("record|1|12|-|0|1", "event|1|12|1|20|1", "context|-|-|-|20|1"));
}

TEST(DeviceRows, CallsAreThoseOfTheThreadThatMadeThem) {
  SpoolBuilder spool;
  spool.thread(0, 500, 1);
  spool.thread(kTracer, 900, 1);
  spool.begin(0, wire::SliceKind::Operation, "step", 10);
  spool.add(kTracer, RecordKind::DeviceCall, call(spool, "cudaLaunchKernel", 500, 20, 30));
  spool.add(kTracer, RecordKind::DeviceCall, call(spool, "cudaMalloc", 501, 40, 50));
  wire::DeviceCall failed = call(spool, "cudaFree", 0, 60, 70);
  failed.result = 2;
  spool.add(kTracer, RecordKind::DeviceCall, failed);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT t.tid, n.text, kind, category, s.start_ns, dur_ns, correlation_id "
                       "FROM slice s JOIN string n ON n.id = name_id JOIN thread t ON t.id = "
                       "thread_id WHERE kind = 'api' ORDER BY s.start_ns"),
              ElementsAre("500|cudaLaunchKernel|api|cuda_runtime|20|10|5",
                          "501|cudaMalloc|api|cuda_runtime|40|10|5",
                          "4194304|cudaFree|api|cuda_runtime|60|10|5"));
  EXPECT_THAT(rig.rows("SELECT value FROM v_arg WHERE key = 'result'"), ElementsAre("2"));
}

// Its first record may come after its first call.
TEST(DeviceRows, AThreadThatIsHeardOfLaterIsTheOneThatCalled) {
  SpoolBuilder spool;
  spool.thread(kTracer, 900, 1);
  spool.add(kTracer, RecordKind::DeviceCall, call(spool, "cudaMalloc", 500, 20, 30));
  IngestRig rig;
  spool.thread(0, 500, 40);
  spool.begin(0, wire::SliceKind::Operation, "step", 50);
  spool.add(kTracer, RecordKind::DeviceCall, call(spool, "cudaFree", 500, 60, 70));
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT count(DISTINCT thread_id) FROM slice"), ElementsAre("1"));
}

wire::DeviceMemory memory(wire::DeviceMemoryKind kind, std::uint64_t ticks) {
  wire::DeviceMemory record{};
  record.header = header(kind, 1);  // of device 0
  record.beginTicks = ticks;
  record.endTicks = ticks;
  record.address = 0x7f00;
  record.value = 512;
  return record;
}

TEST(DeviceRows, AnAllocationLastsUntilItsMemoryIsFreed) {
  SpoolBuilder spool;
  spool.add(kTracer, RecordKind::DeviceMemory, memory(wire::DeviceMemoryKind::Allocate, 10));
  spool.add(kTracer, RecordKind::DeviceMemory, memory(wire::DeviceMemoryKind::Free, 90));
  wire::DeviceMemory onHost = memory(wire::DeviceMemoryKind::Allocate, 100);
  onHost.header.subject = 0;
  spool.add(kTracer, RecordKind::DeviceMemory, onHost);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT d.ordinal, address, bytes, alloc_ns, free_ns, pool FROM allocation "
                       "LEFT JOIN device d ON d.id = device_id ORDER BY alloc_ns"),
              ElementsAre("0|32512|512|10|90|-", "-|32512|512|100|-|-"));
}

TEST(DeviceRows, PoolsAreCounters) {
  SpoolBuilder spool;
  const auto add = [&](wire::DeviceMemoryKind kind, std::uint64_t ticks, std::uint64_t pool) {
    wire::DeviceMemory record = memory(kind, ticks);
    record.pool = pool;
    record.poolBytes = 2048;
    record.poolUsedBytes = ticks;
    spool.add(kTracer, RecordKind::DeviceMemory, record);
  };
  add(wire::DeviceMemoryKind::PoolCreate, 1, 0x100);
  add(wire::DeviceMemoryKind::Allocate, 512, 0x100);
  add(wire::DeviceMemoryKind::PoolCreate, 600, 0x200);
  add(wire::DeviceMemoryKind::PoolDestroy, 700, 0x200);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(
      rig.rows("SELECT device, name, unit, ts_ns, value FROM v_sample ORDER BY ts_ns, name"),
      ElementsAre("0|CUDA memory pool size|bytes|1|2048.0",
                  "0|CUDA memory pool used|bytes|1|1.0",
                  "0|CUDA memory pool size|bytes|512|2048.0",
                  "0|CUDA memory pool used|bytes|512|512.0",
                  "0|CUDA memory pool 2 size|bytes|600|2048.0",
                  "0|CUDA memory pool 2 used|bytes|600|600.0",
                  "0|CUDA memory pool 2 size|bytes|700|0.0",
                  "0|CUDA memory pool 2 used|bytes|700|0.0"));
  EXPECT_THAT(rig.rows("SELECT pool FROM allocation"), ElementsAre("256"));
}

// Another device's pool may have the same address, and so may a later pool. Records are unordered.
TEST(DeviceRows, APoolIsOneOfItsDeviceUntilItIsDestroyed) {
  SpoolBuilder spool;
  const auto add = [&](wire::DeviceMemoryKind kind, std::uint64_t ticks, std::uint32_t device) {
    wire::DeviceMemory record = memory(kind, ticks);
    record.header.subject = device + 1;
    record.pool = 0x7fff'0000'0100;
    record.poolBytes = 2048;
    spool.add(kTracer, RecordKind::DeviceMemory, record);
  };
  add(wire::DeviceMemoryKind::PoolCreate, 1, 0);
  add(wire::DeviceMemoryKind::PoolCreate, 2, 1);
  add(wire::DeviceMemoryKind::PoolDestroy, 5, 0);
  add(wire::DeviceMemoryKind::PoolTrim, 4, 0);
  add(wire::DeviceMemoryKind::PoolCreate, 6, 0);
  add(wire::DeviceMemoryKind::PoolTrim, 7, 1);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT device, name, ts_ns, value FROM v_sample WHERE name GLOB '*size' "
                       "ORDER BY ts_ns"),
              ElementsAre("0|CUDA memory pool size|1|2048.0",
                          "1|CUDA memory pool size|2|2048.0",
                          "0|CUDA memory pool size|4|2048.0",
                          "0|CUDA memory pool size|5|0.0",
                          "0|CUDA memory pool 2 size|6|2048.0",
                          "1|CUDA memory pool size|7|2048.0"));
}

TEST(DeviceRows, PagesOfManagedMemoryMoveForACause) {
  SpoolBuilder spool;
  wire::DeviceCopy copy{};
  copy.header = header(wire::DeviceCopyKind::UnifiedDeviceToHost);
  copy.stream = spool.stream(0, 0xffff'fffe);
  copy.bytes = 65'536;
  copy.beginTicks = 10;
  copy.endTicks = 50;
  copy.from = wire::MemoryKind::Managed;
  copy.to = wire::MemoryKind::Managed;
  copy.cause = wire::MigrationCause::Eviction;
  spool.add(kTracer, RecordKind::DeviceCopy, copy);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(
      rig.rows("SELECT c.name, c.kind, bytes, dur_ns, a.value FROM v_copy c JOIN v_arg a ON "
               "a.owner = 'copy' AND a.owner_id = c.id AND a.key = 'cause'"),
      ElementsAre("Memcpy Unified DtoH (Managed -> Managed)|device_to_host|65536|40|"
                  "eviction"));
}

TEST(DeviceRows, PageFaultsAreMarksOfTheFirstThread) {
  SpoolBuilder spool;
  wire::DeviceMemory fault = memory(wire::DeviceMemoryKind::GpuPageFault, 10);
  fault.endTicks = 25;
  fault.value = 3;
  fault.cause = 2;
  spool.add(kTracer, RecordKind::DeviceMemory, fault);
  fault = memory(wire::DeviceMemoryKind::CpuPageFault, 30);
  fault.header.subject = 0;
  spool.add(kTracer, RecordKind::DeviceMemory, fault);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(
      rig.rows("SELECT s.name, s.kind, s.category, s.tid, s.start_ns, group_concat(a.key || "
               "'=' || a.value, ' ') FROM v_slice s JOIN v_arg a ON a.owner = 'slice' AND "
               "a.owner_id = s.id GROUP BY s.id ORDER BY s.start_ns"),
      ElementsAre("GPU page fault|mark|unified_memory|4194304|10|address=32512 device=0 "
                  "duration_ns=15 faults=3 access=write",
                  "CPU page fault|mark|unified_memory|4194304|30|address=32512 "
                  "instruction=512"));
}

TEST(DeviceRows, WorkOnAStreamThatWasNeverDefinedIsDamage) {
  SpoolBuilder spool;
  spool.add(kTracer, RecordKind::Kernel, kernel(spool, 99));
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_EQ(rig.counts().damaged, 1U);
  EXPECT_THAT(rig.rows("SELECT count(*) FROM kernel"), ElementsAre("0"));
}

}  // namespace
}  // namespace sonde::ingest
