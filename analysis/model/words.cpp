#include "analysis/model/words.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sonde::model {
namespace {

using Words = std::string_view;

// Indexed by the enumerators' numbers.
constexpr Words kSliceKinds[] = {"",           "phase",    "operation", "iteration", "micro_step",
                                 "forward",    "backward", "optimizer", "data_load", "checkpoint",
                                 "evaluation", "module",   "operator",  "api",       "collective",
                                 "io",         "wait",     "python",    "range",     "mark"};
constexpr Words kScopeHows[] = {"", "own", "inherited", "none"};
constexpr Words kProcessStates[] = {"", "running", "exited", "signalled", "replaced", "unknown"};
constexpr Words kSyncObjects[] = {
    "", "mutex", "condition", "rwlock", "barrier", "semaphore", "thread", "futex"};
constexpr Words kChannelKinds[] = {"", "tcp", "unix", "pipe", "mpi", "nccl"};
constexpr Words kDirections[] = {"", "send", "receive"};
constexpr Words kFrameKinds[] = {"", "native", "python", "kernel"};
constexpr Words kSampleKinds[] = {"", "cpu", "blocked", "event", "other"};
constexpr Words kAllocators[] = {"", "malloc", "torch", "cuda"};
constexpr Words kCollectiveOps[] = {"",
                                    "allreduce",
                                    "broadcast",
                                    "reduce",
                                    "allgather",
                                    "reducescatter",
                                    "alltoall",
                                    "gather",
                                    "scatter",
                                    "barrier",
                                    "send",
                                    "receive",
                                    "scan",
                                    "exscan",
                                    "neighborallgather",
                                    "neighboralltoall"};
constexpr Words kTensorRoles[] = {"", "weight", "gradient", "input", "output", "loss", "other"};
constexpr Words kDataTypes[] = {"",
                                "int8",
                                "uint8",
                                "int32",
                                "uint32",
                                "int64",
                                "uint64",
                                "float16",
                                "float32",
                                "float64",
                                "bfloat16"};
constexpr Words kCopyKinds[] = {"",
                                "host_to_device",
                                "device_to_host",
                                "device_to_device",
                                "host_to_host",
                                "peer_to_peer",
                                "set",
                                "other"};
constexpr Words kSyncKinds[] = {"", "stream", "context", "event", "record", "wait"};
constexpr Words kCounterKinds[] = {"", "gauge", "total"};
constexpr Words kSeverities[] = {"", "info", "warning", "error"};
constexpr Words kOwners[] = {"",
                             "process",
                             "thread",
                             "device",
                             "slice",
                             "kernel",
                             "copy",
                             "sync",
                             "collective",
                             "channel",
                             "transfer",
                             "iteration",
                             "communicator"};

template <std::size_t size, typename Enum>
Words wordAt(const Words (&words)[size], Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < size ? words[index] : Words();
}

template <typename Enum, std::size_t size>
std::optional<Enum> valueOf(const Words (&words)[size], Words wanted) noexcept {
  for (std::size_t i = 1; i < size; ++i) {
    if (words[i] == wanted)
      return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

Words word(SliceKind kind) noexcept {
  return wordAt(kSliceKinds, kind);
}
Words word(ScopeHow how) noexcept {
  return wordAt(kScopeHows, how);
}
Words word(ProcessState state) noexcept {
  return wordAt(kProcessStates, state);
}
Words word(ChannelKind kind) noexcept {
  return wordAt(kChannelKinds, kind);
}

Words word(SyncObject kind) noexcept {
  return wordAt(kSyncObjects, kind);
}
Words word(Direction direction) noexcept {
  return wordAt(kDirections, direction);
}
Words word(FrameKind kind) noexcept {
  return wordAt(kFrameKinds, kind);
}
Words word(SampleKind kind) noexcept {
  return wordAt(kSampleKinds, kind);
}
Words word(Allocator allocator) noexcept {
  return wordAt(kAllocators, allocator);
}
Words word(CollectiveOp op) noexcept {
  return wordAt(kCollectiveOps, op);
}
Words word(DataType type) noexcept {
  return wordAt(kDataTypes, type);
}
Words word(CopyKind kind) noexcept {
  return wordAt(kCopyKinds, kind);
}
Words word(SyncKind kind) noexcept {
  return wordAt(kSyncKinds, kind);
}
Words word(TensorRole role) noexcept {
  return wordAt(kTensorRoles, role);
}
Words word(CounterKind kind) noexcept {
  return wordAt(kCounterKinds, kind);
}
Words word(Severity severity) noexcept {
  return wordAt(kSeverities, severity);
}
Words word(Owner owner) noexcept {
  return wordAt(kOwners, owner);
}

std::optional<SliceKind> sliceKindOf(Words wanted) noexcept {
  return valueOf<SliceKind>(kSliceKinds, wanted);
}

std::optional<ProcessState> processStateOf(Words wanted) noexcept {
  return valueOf<ProcessState>(kProcessStates, wanted);
}

std::optional<SyncKind> syncKindOf(Words wanted) noexcept {
  return valueOf<SyncKind>(kSyncKinds, wanted);
}

std::int64_t probeBit(Words word) noexcept {
  const auto* const found = std::find(kProbeWords.begin(), kProbeWords.end(), word);
  return found == kProbeWords.end() ? 0 : std::int64_t{1} << (found - kProbeWords.begin());
}

bool isCollectiveKernel(Words kernelName) noexcept {
  return kernelName.starts_with("nccl") || kernelName.starts_with("rccl") ||
         kernelName.starts_with("void nccl") || kernelName.starts_with("mscclKernel");
}

CollectiveNeeds needsOf(Words op) noexcept {
  if (op == "broadcast" || op == "scatter")
    return CollectiveNeeds::Root;
  if (op == "reduce" || op == "gather")
    return CollectiveNeeds::RootAll;
  const bool isOfAll = op == "allreduce" || op == "allgather" || op == "reducescatter" ||
                       op == "alltoall" || op == "barrier";
  return isOfAll ? CollectiveNeeds::All : CollectiveNeeds::Nothing;
}

}  // namespace sonde::model
