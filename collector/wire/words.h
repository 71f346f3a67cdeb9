// The small enumerations that both sides of the spool agree on. The numbers are part of the format:
// append, never renumber. The words that the store writes for them are in analysis/ingest.
#pragma once

#include <cstdint>

namespace sonde::wire {

// The kinds of slices; `slice.kind` in the store.
enum class SliceKind : std::uint8_t {
  Phase = 1,
  Operation = 2,
  Iteration = 3,
  MicroStep = 4,
  Forward = 5,
  Backward = 6,
  Optimizer = 7,
  DataLoad = 8,
  Checkpoint = 9,
  Evaluation = 10,
  Module = 11,
  Operator = 12,
  Api = 13,
  Collective = 14,
  Io = 15,
  Wait = 16,
  Python = 17,
  Range = 18,
  Mark = 19,
};

// The probe that recorded an event; `slice.category`, and the bits of `SONDE_SOURCES`.
enum class Probe : std::uint8_t {
  Annotation = 0,
  Nvtx = 1,
  Torch = 2,
  Gloo = 3,
  Net = 4,
  Process = 5,  // start and end of processes and threads; always on
  Mpi = 6,
  Nccl = 7,
  Cuda = 8,
  Io = 9,
  Sync = 10,
  Python = 11,
  Stack = 12,
  Tensor = 13,
  System = 14,
  Memory = 15,
  Plugin = 16,  // external probes; the records identify which one
  Count = 17,
};

// Whose code a call by Python code runs; `slice.category` of the probe `python`.
enum class CodeCategory : std::uint8_t {
  None = 0,
  Python = 1,  // the interpreter's own: garbage collection
  Framework = 2,
  Simulator = 3,
  Other = 4,
};

enum class ChannelKind : std::uint8_t { Tcp = 1, Unix = 2, Pipe = 3, Mpi = 4, Nccl = 5 };

enum class CollectiveOp : std::uint8_t {
  Allreduce = 1,
  Broadcast = 2,
  Reduce = 3,
  Allgather = 4,
  ReduceScatter = 5,
  Alltoall = 6,
  Gather = 7,
  Scatter = 8,
  Barrier = 9,
  Send = 10,
  Receive = 11,
  Scan = 12,
  Exscan = 13,
  NeighborAllgather = 14,
  NeighborAlltoall = 15,
};

// The objects that threads wait for each other at; `handoff.kind` in the store.
enum class SyncObject : std::uint8_t {
  Mutex = 1,
  Condition = 2,
  Rwlock = 3,
  Barrier = 4,
  Semaphore = 5,
  Thread = 6,  // the end of a thread
  Futex = 7,
};

enum class DataType : std::uint8_t {
  Unknown = 0,
  Int8 = 1,
  Uint8 = 2,
  Int32 = 3,
  Uint32 = 4,
  Int64 = 5,
  Uint64 = 6,
  Float16 = 7,
  Float32 = 8,
  Float64 = 9,
  Bfloat16 = 10,
};

// Why a record is missing; `loss.reason` in the store.
enum class LossReason : std::uint8_t {
  SpoolFull = 0,    // the limit, the file system or its quota had no room for another slot
  Signal = 1,       // a signal handler interrupted a write of its own thread
  Depth = 2,        // more scopes open at once than kMaxOpenScopes
  Definitions = 3,  // the tables hold no more channels, communicators or names of a probe
  Unbalanced = 4,   // an end without its begin
  NoThread = 5,     // the thread could not be registered
  Names = 6,        // the table holds no more distinct strings; counts strings, not records
  Unreachable =
      7,       // the spool could not be opened: another user's now, another root, no descriptor
  Tracer = 8,  // the device's tracing library had no room or no time
  NotSupported = 9,
  Blocks = 10,  // more memory blocks in use than the process can track
  Count = 11,
};

}  // namespace sonde::wire
