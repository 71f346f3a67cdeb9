// Records of what devices did and of the calls that made them do it. A tracing library (CUPTI)
// reports these some time after they happened, on a thread of its own: the slot's thread says
// nothing, and they come in no order.
//
// Streams are ids of Stream definitions, 0: none. A correlation joins work with the call that it
// was launched by, within the process; 0: none. Ticks of 0: not known.
#pragma once

#include "collector/wire/records.h"

#include <cstdint>

namespace sonde::wire {

// A call of the CUDA runtime or driver. `subject`: name; `detail`: DeviceCallKind.
enum class DeviceCallKind : std::uint8_t {
  Runtime = 1,
  Driver = 2,
  Overhead = 3,    // what tracing cost the thread; no call of the program's
  Compile = 4,     // just-in-time compilation
  ExternalId = 5,  // no call: the program's own id, of a kind that is the name, of that call
};
struct DeviceCall {
  RecordHeader header;
  std::uint64_t beginTicks;  // of ExternalId: the id
  std::uint64_t endTicks;
  std::int32_t tid;  // kernel id of the calling thread; 0: the main thread, or not known
  std::uint32_t correlation;
  std::int32_t result;  // cudaError_t or CUresult, 0: success
  std::uint32_t reserved;
};

// A kernel. `subject`: its mangled name; a graph that is traced as a whole is one, too.
struct Kernel {
  static constexpr std::uint8_t kWholeGraph = 0x01;
  RecordHeader header;  // `detail`: the flag above
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  std::uint64_t queuedTicks;
  std::uint64_t submittedTicks;
  std::uint64_t graphNode;  // 0: none
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t graph;  // 0: none
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t registers;  // per thread
  std::uint32_t staticSharedBytes;
  std::uint32_t dynamicSharedBytes;
  std::uint32_t localBytes;  // per thread
  std::uint32_t reserved;
};

// Between which kinds of memory; the words are those that torch.profiler shows.
enum class MemoryKind : std::uint8_t {
  Unknown = 0,
  Pageable = 1,
  Pinned = 2,
  Device = 3,
  Array = 4,
  Managed = 5,
  DeviceStatic = 6,
  ManagedStatic = 7,
};
enum class DeviceCopyKind : std::uint8_t {
  Other = 0,
  HostToDevice = 1,
  DeviceToHost = 2,
  DeviceToDevice = 3,
  HostToHost = 4,
  PeerToPeer = 5,
  Set = 6,
  UnifiedHostToDevice = 7,  // pages of managed memory that the driver moves on its own
  UnifiedDeviceToHost = 8,
  UnifiedPeerToPeer = 9,
};

// Why the driver moves pages of managed memory.
enum class MigrationCause : std::uint16_t {
  Unknown = 0,
  User = 1,       // the program asked for it
  Coherence = 2,  // the other side touched them
  Prefetch = 3,   // it was expected to touch them
  Eviction = 4,   // to make room
  AccessCounters = 5,
};

// A copy, or a memory set. `detail`: DeviceCopyKind; `subject`: the device it went to, for those
// between two devices, as its ordinal + 1; 0: none.
struct DeviceCopy {
  RecordHeader header;
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  std::uint64_t bytes;
  std::uint64_t graphNode;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t graph;
  MemoryKind from;
  MemoryKind to;
  MigrationCause cause;
};

// A wait of the host for a device, a wait of a stream for an event, or an event's record.
// `detail`: DeviceSyncKind; `subject`: the event, 0: none.
enum class DeviceSyncKind : std::uint8_t {
  Stream = 1,
  Context = 2,
  Event = 3,
  Record = 4,
  Wait = 5
};
struct DeviceSync {
  RecordHeader header;
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  std::uint64_t recordId;  // the same in an event's record and in the waits for it; 0: not known
  std::uint32_t stream;
  std::uint32_t correlation;
};

// What happened to memory that devices reach. `detail`: DeviceMemoryKind; `subject`: the device's
// ordinal + 1; 0: memory of the host.
enum class DeviceMemoryKind : std::uint8_t {
  Allocate = 1,
  Free = 2,
  PoolCreate = 3,
  PoolTrim = 4,
  PoolDestroy = 5,
  CpuPageFault = 6,  // this and the following: of managed memory
  GpuPageFault = 7,
  Thrashing = 8,   // pages move to and fro
  Throttling = 9,  // a device is made to wait, so that they do not
  RemoteMap = 10,  // a device gets to them where they are
};
struct DeviceMemory {
  RecordHeader header;
  std::uint64_t beginTicks;
  std::uint64_t endTicks;       // of what lasts; else beginTicks
  std::uint64_t address;        // of the memory, of the page; 0 for pools
  std::uint64_t value;          // bytes; of a CPU's fault the instruction's address, of a GPU's the
                                // number of faults
  std::uint64_t pool;           // address of the pool that it is from or about; 0: none
  std::uint64_t poolBytes;      // that it has then
  std::uint64_t poolUsedBytes;  // of these
  std::uint32_t correlation;
  std::uint32_t cause;  // of faults: 1 read, 2 write, 3 atomic, 4 prefetch; of mappings: 1
                        // coherence, 2 thrashing, 3 policy, 4 out of memory, 5 eviction; 0: unknown
};

// What a device counted while the writing thread had one innermost scope. `subject`: the metric's
// name, as CUPTI has it.
struct DeviceMetric {
  RecordHeader header;
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  double value;
  std::uint32_t device;  // ordinal
  std::uint32_t reserved;
};

// How many metrics a process may be asked for.
inline constexpr std::uint32_t kMostDeviceMetrics = 64;

static_assert(sizeof(DeviceMetric) == 40);
static_assert(sizeof(DeviceCall) == 40 && sizeof(Kernel) == 104 && sizeof(DeviceCopy) == 56);
static_assert(sizeof(DeviceSync) == 40 && sizeof(DeviceMemory) == 72);

}  // namespace sonde::wire
