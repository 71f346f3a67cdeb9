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
  Overhead = 3,  // what tracing cost the thread; no call of the program's
  Compile = 4,   // just-in-time compilation
};
struct DeviceCall {
  RecordHeader header;
  std::uint64_t beginTicks;
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
  std::uint16_t reserved;
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

// Device memory is allocated or freed. `detail`: the flags; `subject`: the device's ordinal + 1.
struct DeviceMemory {
  static constexpr std::uint8_t kFree = 0x01;
  static constexpr std::uint8_t kHost = 0x02;  // pinned memory of the host
  RecordHeader header;
  std::uint64_t ticks;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t correlation;
  std::uint32_t reserved;
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

static_assert(sizeof(DeviceMetric) == 40);
static_assert(sizeof(DeviceCall) == 40 && sizeof(Kernel) == 104 && sizeof(DeviceCopy) == 56);
static_assert(sizeof(DeviceSync) == 40 && sizeof(DeviceMemory) == 40);

}  // namespace sonde::wire
