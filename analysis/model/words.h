// The enumerations of the trace and the words that its columns use for them. Plain values; any
// thread.
//
// SliceKind, ChannelKind, SyncObject, CollectiveOp, TensorRole and DataType have the same numbers
// as the spool's records.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::model {

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

// How a slice got its scope.
enum class ScopeHow : std::uint8_t { Own = 1, Inherited = 2, None = 3 };

enum class ProcessState : std::uint8_t {
  Running = 1,
  Exited = 2,
  Signalled = 3,
  Replaced = 4,
  Unknown = 5
};

enum class ChannelKind : std::uint8_t { Tcp = 1, Unix = 2, Pipe = 3, Mpi = 4, Nccl = 5 };

// The object at which threads wait for each other. Thread: the end of a thread.
enum class SyncObject : std::uint8_t {
  Mutex = 1,
  Condition = 2,
  Rwlock = 3,
  Barrier = 4,
  Semaphore = 5,
  Thread = 6,
  Futex = 7,
};

enum class Direction : std::uint8_t { Send = 1, Receive = 2 };

// The origin of a frame's code. Kernel: the operating system's.
enum class FrameKind : std::uint8_t { Native = 1, Python = 2, Kernel = 3 };

// The meaning of a stack sample. Cpu: time on a processor. Blocked: time in a wait. Event: no time,
// only the stack of an event. Other: time that is neither of the first two.
enum class SampleKind : std::uint8_t { Cpu = 1, Blocked = 2, Event = 3, Other = 4 };

// The allocator of a piece of memory.
enum class Allocator : std::uint8_t { Malloc = 1, Torch = 2, Cuda = 3 };

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

// Unknown has no word; its column is NULL.
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

enum class CopyKind : std::uint8_t {
  HostToDevice = 1,
  DeviceToHost = 2,
  DeviceToDevice = 3,
  HostToHost = 4,
  PeerToPeer = 5,
  Set = 6,
  Other = 7,
};

enum class SyncKind : std::uint8_t { Stream = 1, Context = 2, Event = 3, Record = 4, Wait = 5 };

// The role of a tensor in the model.
enum class TensorRole : std::uint8_t {
  Weight = 1,
  Gradient = 2,
  Input = 3,
  Output = 4,
  Loss = 5,
  Other = 6,
};

// A total never decreases.
enum class CounterKind : std::uint8_t { Gauge = 1, Total = 2 };

enum class Severity : std::uint8_t { Info = 1, Warning = 2, Error = 3 };

// The table that an id of `arg` or `link` belongs to.
enum class Owner : std::uint8_t {
  Process = 1,
  Thread = 2,
  Device = 3,
  Slice = 4,
  Kernel = 5,
  Copy = 6,
  Sync = 7,
  Collective = 8,
  Channel = 9,
  Transfer = 10,
  Iteration = 11,
  Communicator = 12,
};

// The word of a value; empty if it is not an enumerator. Texts are static and zero-terminated.
std::string_view word(SliceKind kind) noexcept;
std::string_view word(ScopeHow how) noexcept;
std::string_view word(ProcessState state) noexcept;
std::string_view word(ChannelKind kind) noexcept;
std::string_view word(SyncObject kind) noexcept;
std::string_view word(Direction direction) noexcept;
std::string_view word(FrameKind kind) noexcept;
std::string_view word(SampleKind kind) noexcept;
std::string_view word(Allocator allocator) noexcept;
std::string_view word(CollectiveOp op) noexcept;
std::string_view word(DataType type) noexcept;
std::string_view word(CopyKind kind) noexcept;
std::string_view word(SyncKind kind) noexcept;
std::string_view word(TensorRole role) noexcept;
std::string_view word(CounterKind kind) noexcept;
std::string_view word(Severity severity) noexcept;
std::string_view word(Owner owner) noexcept;

// The kind that a word of `slice.kind` stands for.
std::optional<SliceKind> sliceKindOf(std::string_view word) noexcept;
std::optional<ProcessState> processStateOf(std::string_view word) noexcept;
std::optional<SyncKind> syncKindOf(std::string_view word) noexcept;

// The probes, by their bit of `iteration.probe_mask`.
inline constexpr std::array<std::string_view, 17> kProbeWords = {"annotation",
                                                                 "nvtx",
                                                                 "torch",
                                                                 "gloo",
                                                                 "net",
                                                                 "process",
                                                                 "mpi",
                                                                 "nccl",
                                                                 "cuda",
                                                                 "io",
                                                                 "sync",
                                                                 "python",
                                                                 "stack",
                                                                 "tensor",
                                                                 "system",
                                                                 "memory",
                                                                 "plugin"};
// The bit of the probe with this name; 0: unknown name.
std::int64_t probeBit(std::string_view word) noexcept;

// Whether a kernel of this name belongs to NCCL, RCCL or MSCCL.
bool isCollectiveKernel(std::string_view kernelName) noexcept;

// The ranks that a rank of a collective needs to finish: all others; the root; all others if it is
// the root; or unknown.
enum class CollectiveNeeds { All, Root, RootAll, Nothing };
CollectiveNeeds needsOf(std::string_view op) noexcept;
inline bool isRendezvous(std::string_view op) noexcept {
  return needsOf(op) == CollectiveNeeds::All;
}

// Whether a slice of this kind can be the scope of others: phase … operator.
constexpr bool isScope(SliceKind kind) noexcept {
  return kind >= SliceKind::Phase && kind <= SliceKind::Operator;
}

// Whether it is between two ranks, not all of a group.
constexpr bool isPointToPoint(CollectiveOp op) noexcept {
  return op == CollectiveOp::Send || op == CollectiveOp::Receive;
}

}  // namespace sonde::model
