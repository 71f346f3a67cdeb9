// Records of work that devices did and of the calls that launched it. A tracing library (CUPTI)
// reports them later, on its own thread. They are in no particular order, and the slot's thread is
// not the thread that made the call.
//
// Streams are ids of Stream definitions; 0: none. A correlation joins work with the call that
// launched it, within the process; 0: none. Ticks 0: unknown.
#pragma once

#include "collector/wire/records.h"

#include <cstdint>

namespace sonde::wire {

// A call of the CUDA runtime or driver. `subject`: name; `detail`: DeviceCallKind.
enum class DeviceCallKind : std::uint8_t {
  Runtime = 1,
  Driver = 2,
  Overhead = 3,    // cost of tracing on the thread; not a call of the program
  Compile = 4,     // just-in-time compilation
  ExternalId = 5,  // not a call: the program's own id for a call; its kind is the name
};
struct DeviceCall {
  RecordHeader header;
  std::uint64_t beginTicks;  // for ExternalId: the id
  std::uint64_t endTicks;
  std::int32_t tid;  // kernel id of the calling thread; 0: the main thread, or unknown
  std::uint32_t correlation;
  std::int32_t result;  // cudaError_t or CUresult, 0: success
  std::uint32_t reserved;
};

// A kernel. `subject`: its mangled name. A graph that is traced as a whole is also one Kernel.
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

// The kinds of memory that a copy reads and writes. torch.profiler uses the same words.
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
  UnifiedHostToDevice = 7,  // pages of managed memory that the driver moves by itself
  UnifiedDeviceToHost = 8,
  UnifiedPeerToPeer = 9,
};

// Why the driver moves pages of managed memory.
enum class MigrationCause : std::uint16_t {
  Unknown = 0,
  User = 1,       // the program asked for it
  Coherence = 2,  // the other side accessed them
  Prefetch = 3,   // the other side was expected to access them
  Eviction = 4,   // to make room
  AccessCounters = 5,
};

// A copy or a memset. `detail`: DeviceCopyKind. `subject`: the ordinal + 1 of the destination
// device of a copy between two devices, else 0.
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
  std::uint64_t recordId;  // the same in an event's record and in the waits for it; 0: unknown
  std::uint32_t stream;
  std::uint32_t correlation;
};

// An event of memory that devices can access. `detail`: DeviceMemoryKind. `subject`: the device's
// ordinal + 1; 0: host memory.
enum class DeviceMemoryKind : std::uint8_t {
  Allocate = 1,
  Free = 2,
  PoolCreate = 3,
  PoolTrim = 4,
  PoolDestroy = 5,
  CpuPageFault = 6,  // this and the following: about managed memory
  GpuPageFault = 7,
  Thrashing = 8,   // pages move back and forth
  Throttling = 9,  // a device is made to wait, to stop the thrashing
  RemoteMap = 10,  // a device accesses the pages where they are
};
struct DeviceMemory {
  RecordHeader header;
  std::uint64_t beginTicks;
  std::uint64_t endTicks;  // equal to beginTicks if the event has no duration
  std::uint64_t address;   // of the memory or the page; 0 for pools
  std::uint64_t value;     // bytes; of a CPU's fault the instruction's address, of a GPU's the
                           // number of faults
  // Address of the pool that the memory is from, or that the event is about; 0: none
  std::uint64_t pool;
  std::uint64_t poolBytes;      // the pool's size at that time
  std::uint64_t poolUsedBytes;  // of poolBytes
  std::uint32_t correlation;
  std::uint32_t cause;  // of faults: 1 read, 2 write, 3 atomic, 4 prefetch; of mappings: 1
                        // coherence, 2 thrashing, 3 policy, 4 out of memory, 5 eviction; 0: unknown
};

// The value of one metric on a device while the writing thread had one innermost scope. `subject`:
// the metric's name in CUPTI.
struct DeviceMetric {
  RecordHeader header;
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  double value;
  std::uint32_t device;  // ordinal
  std::uint32_t reserved;
};

// The most metrics that a process may be asked to count.
inline constexpr std::uint32_t kMostDeviceMetrics = 64;

static_assert(sizeof(DeviceMetric) == 40);
static_assert(sizeof(DeviceCall) == 40 && sizeof(Kernel) == 104 && sizeof(DeviceCopy) == 56);
static_assert(sizeof(DeviceSync) == 40 && sizeof(DeviceMemory) == 72);

}  // namespace sonde::wire
