// The records of a data slot. Each is 8-byte aligned, begins with a RecordHeader and is visible to
// a reader only below its slot's `committed`. A reader skips kinds it does not know by `size`.
//
//   0      2    3      4        8        16
//   +------+----+------+--------+--------+ - -
//   | size |kind|detail| subject| ticks  | kind-specific
//   +------+----+------+--------+--------+ - -
//
// Ticks are those of the file's clock (FileHeader::clock). Names, keys and texts are ids of String
// definitions. Integers are in the byte order of the machine that wrote the file (little-endian;
// the header's magic shows which).
#pragma once

#include "collector/wire/words.h"

#include <cstdint>

namespace sonde::wire {

enum class RecordKind : std::uint8_t {
  Name = 0,  // not a record: in LossCounters, a text that got no id
  ScopeBegin = 1,
  ScopeEnd = 2,
  Call = 3,
  RangeBegin = 4,
  RangeEnd = 5,
  Mark = 6,
  Scalar = 7,
  IterationInfo = 8,
  Arg = 9,
  Collective = 10,
  Transfer = 11,
  ClockSync = 12,
  ThreadEnd = 13,
  Fork = 14,
  Exec = 15,
  // device_records.h
  DeviceCall = 16,
  Kernel = 17,
  DeviceCopy = 18,
  DeviceSync = 19,
  DeviceMemory = 20,
  // nccl_records.h
  CollectivePart = 21,
  // device_records.h
  DeviceMetric = 22,
  FileAccess = 23,
  Message = 24,
  Handoff = 25,
  // stack_records.h
  StackSample = 26,
  // tensor_records.h
  TensorStatistics = 27,
  CounterValue = 28,
  Note = 29,
  // memory_records.h
  Allocation = 30,
  Release = 31,
  Count = 32,  // one past the last kind this version writes; not a kind
};

struct RecordHeader {
  std::uint16_t size;  // bytes, header included, a multiple of 8
  RecordKind kind;
  std::uint8_t detail;    // by kind: a SliceKind, an ArgType, flags
  std::uint32_t subject;  // by kind: a name, a key, a channel
};

// A scope of the writing thread opens. `detail`: SliceKind; `subject`: name. Scopes of a thread
// nest. All records of the thread belong to its innermost open annotation.
struct ScopeBegin {
  RecordHeader header;
  std::uint64_t ticks;
  std::uint32_t token;  // names this opening within the thread; never 0
  Probe probe;
  std::uint8_t plugin;  // of probe `plugin`: its PluginDefinition::number; else 0
  std::uint8_t reserved[2];
};

// The scope with `token` closes (header.subject = token). If it was not the innermost one, the
// scopes above it stay open and cross it. `detail`: flags.
struct ScopeEnd {
  static constexpr std::uint8_t kOutline = 0x01;  // an iteration that is not recorded in full
  static constexpr std::uint8_t kProbes = 0x02;   // IterationProbes follow, as part of the record
  RecordHeader header;
  std::uint64_t ticks;
};

// The calls of the probes in an iteration of a self-calibrating run. `count` ProbeCalls follow.
struct IterationProbes {
  std::uint32_t mask;  // probes that were on throughout the iteration
  std::uint32_t count;
};

// Counts over all threads of the process while the iteration was open. The iteration is the
// outermost one of the thread that drives the gate. Probes without calls are left out.
struct ProbeCalls {
  std::uint32_t recorded;    // records; a scope is one
  std::uint32_t unrecorded;  // calls that were not recorded because their probe was off
  Probe probe;
  std::uint8_t reserved[7];
};

// A finished call or wait of the writing thread. `detail`: SliceKind; `subject`: name.
struct Call {
  RecordHeader header;
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  Probe probe;
  CodeCategory category;  // of probe `python`; else None
  std::uint8_t plugin;    // as in ScopeBegin
  std::uint8_t reserved[5];
};

// An interval that need not nest and may end on another thread (NVTX start/end). `detail`:
// SliceKind; `subject`: name.
struct RangeBegin {
  RecordHeader header;
  std::uint64_t ticks;
  std::uint64_t rangeId;  // unique in the process image
  Probe probe;
  std::uint8_t reserved[7];
};

struct RangeEnd {
  RecordHeader header;
  std::uint64_t ticks;
  std::uint64_t rangeId;
};

// An instant. `subject`: name.
struct Mark {
  RecordHeader header;
  std::uint64_t ticks;
  Probe probe;
  std::uint8_t plugin;  // as in ScopeBegin
  std::uint8_t reserved[6];
};

// A value (loss, learning rate, …) of the iteration that is open on the thread or ended last on it.
// `subject`: name.
struct Scalar {
  RecordHeader header;
  std::uint64_t ticks;
  double value;
};

// Work done by that iteration; 0 where unknown.
struct IterationInfo {
  RecordHeader header;
  std::uint64_t ticks;
  std::uint64_t samples;
  std::uint64_t tokens;
  double flops;
};

enum class ArgType : std::uint8_t { Text = 0, Int = 1, Double = 2 };

// A key and value. `detail`: ArgType in bits 0–3. If bit 7 is set, the argument belongs to the
// process. Otherwise it belongs to the scope `token` or, if `token` is 0, to the previous record of
// this thread. `subject`: key.
struct Arg {
  static constexpr std::uint8_t kOfProcess = 0x80;
  RecordHeader header;
  std::uint64_t bits;  // a string id, an int64, or a double's bits
  std::uint32_t token;
  std::uint32_t reserved;
};
// Texts of the process that are whole numbers. They give its place in the job if its environment
// does not, or gives a wrong one.
inline constexpr char kRankKey[] = "sonde.rank";
inline constexpr char kWorldSizeKey[] = "sonde.world_size";

// One rank's part in a collective or a point-to-point call. `detail`: CollectiveOp; `subject`:
// Communicator id.
struct Collective {
  static constexpr std::uint64_t kUnknownBytes = ~std::uint64_t{0};
  // The call only handed the work to a device. `endTicks` is when the call returned (0: never). A
  // CollectiveEnd records when the work ended.
  static constexpr std::uint8_t kEnqueued = 0x01;
  static constexpr std::uint8_t kGraphCaptured = 0x02;  // launched by a CUDA graph
  static constexpr std::uint8_t kHasNumber = 0x04;      // `ownNumber` is set
  static constexpr std::uint8_t kGroup = 0xf0;  // launched when this group of its thread's ended:
  static constexpr unsigned kGroupShift = 4;    // 1 to 15, each one more than the last; 0: in none
  RecordHeader header;
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  std::uint64_t seq;    // the same on every rank of the communicator
  std::uint64_t bytes;  // nccl-tests' size: the larger of a rank's input and output, for all-reduce
                        // the buffer
  std::uint64_t sendBytes;
  std::uint64_t recvBytes;
  std::int32_t root;  // -1: none
  std::int32_t peer;  // -1: none
  std::uint32_t name;
  std::uint32_t algorithm;  // string id, 0: unknown
  std::uint32_t protocol;   // string id, 0: unknown
  DataType dtype;
  Probe probe;
  std::uint8_t flags;
  std::uint8_t channels;    // that the library splits the work over; 0: unknown
  std::uint64_t number;     // names it within the process image; 0: no record refers to it
  std::uint64_t ownNumber;  // the library's own count for it
};

// Bytes that one call moved through a channel. `subject`: Channel id.
struct Transfer {
  static constexpr std::uint8_t kReceive = 0x01;  // else send
  static constexpr std::uint8_t kInexact =
      0x02;             // `offset` may be off: a bypass, an inherited or shared endpoint
  RecordHeader header;  // `detail`: the flags above
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  std::uint64_t offset;  // bytes sent in the same direction before, since the channel was opened
  std::uint64_t bytes;
};

// A message that the process sent or received: in one call of its thread, or by a request, from
// the start of the request until its completion was seen. `subject`: Channel id.
struct Message {
  static constexpr std::uint8_t kReceive = 0x01;  // else send
  static constexpr std::uint8_t kInexact = 0x02;  // `ordinal` may be off
  // The receive matched any source or any tag.
  static constexpr std::uint8_t kAnySource = 0x04;
  RecordHeader header;  // `detail`: the flags above
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  std::uint64_t bytes;
  std::uint64_t ordinal;  // messages before it in the same direction with the same tag
  std::int32_t tag;
  std::uint32_t name;  // of the call; 0: the record stands for no call
};

// A finished call on a file. `subject`: the call's name.
struct FileAccess {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  RecordHeader header;
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  std::uint64_t offset;     // in the file; kUnknown
  std::uint64_t bytes;      // read, written or mapped; kUnknown: the call moves none
  std::uint64_t diskBytes;  // read from a disk for the thread during the call; kUnknown
  std::uint32_t path;
  std::uint32_t reserved;
};

// The writing thread has waited for another thread. `subject`: the function it waited in.
struct Handoff {
  static constexpr std::uint8_t kCertain = 0x01;      // no other thread can have been the waker
  static constexpr std::uint8_t kTimedOut = 0x02;     // no thread woke it: a timeout
  static constexpr std::uint8_t kInterrupted = 0x04;  // a signal woke it, or the call failed
  RecordHeader header;                                // `detail`: the flags above
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
  std::uint64_t wakerTicks;  // just before the waker released it; 0: unknown
  std::uint64_t object;      // address
  std::int32_t waker;        // the waker's kernel thread id; 0: unknown
  SyncObject kind;
  std::uint8_t reserved[3];
};

// Three clocks read at one instant. All are in ns except `ticks`.
struct ClockSync {
  RecordHeader header;
  std::uint64_t ticks;
  std::int64_t monotonicNs;
  std::int64_t realtimeNs;
};

struct ThreadEnd {
  RecordHeader header;  // `subject`: the thread's last name
  std::uint64_t ticks;
};

// This thread made a child process. `subject`: the child's pid.
struct Fork {
  RecordHeader header;
  std::uint64_t ticks;
};

// This thread is about to replace the process image. `subject`: path of the new program; `detail`:
// 1 if Sonde will not follow (static, setuid, another ELF class, a sanitizer runtime …);
// `reason` then gives the cause.
struct Exec {
  RecordHeader header;
  std::uint64_t ticks;
  std::uint32_t reason;  // string id, 0: followed
  std::uint32_t reserved;
};

// A plugin's counter has this value from now on. `subject`: CounterDefinition::id.
struct CounterValue {
  RecordHeader header;
  std::uint64_t ticks;
  double value;
};

// A message about the trace for the user. `subject`: the text; `detail`: 1 for
// information, 2 a warning, 3 an error.
struct Note {
  RecordHeader header;
  std::uint64_t ticks;
  Probe probe;
  std::uint8_t plugin;  // as in ScopeBegin; 0: about all plugins
  std::uint8_t reserved[6];
};

static_assert(sizeof(RecordHeader) == 8);
static_assert(sizeof(ScopeBegin) == 24 && sizeof(ScopeEnd) == 16 && sizeof(Call) == 32);
static_assert(sizeof(IterationProbes) == 8 && sizeof(ProbeCalls) == 16);
static_assert(sizeof(RangeBegin) == 32 && sizeof(RangeEnd) == 24 && sizeof(Mark) == 24);
static_assert(sizeof(Scalar) == 24 && sizeof(IterationInfo) == 40 && sizeof(Arg) == 24);
static_assert(sizeof(Collective) == 96 && sizeof(Transfer) == 40 && sizeof(ClockSync) == 32);
static_assert(sizeof(FileAccess) == 56 && sizeof(Message) == 48 && sizeof(Handoff) == 48);
static_assert(sizeof(CounterValue) == 24 && sizeof(Note) == 24);
static_assert(sizeof(ThreadEnd) == 16 && sizeof(Fork) == 16 && sizeof(Exec) == 24);

}  // namespace sonde::wire
