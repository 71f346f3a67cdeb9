// Rows about events: slices, communication, iterations and facts about them.
//
// Plain values; any thread. The rules of place.h hold for texts, ids, optionals and times.
#pragma once

#include "analysis/model/ids.h"
#include "analysis/model/place.h"
#include "analysis/model/row.h"
#include "analysis/model/words.h"

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>

namespace sonde::model {

struct Slice {
  SliceId id{};
  ThreadId threadId{};
  SliceKind kind = SliceKind::Operation;
  std::string_view category{};  // who recorded it: annotation, nvtx, torch, …
  StringId nameId{};
  std::int64_t startNs = 0;
  OptionalInt durNs{};  // unset: the process died inside it, or its end was lost
  SliceId parentId{};
  std::int64_t depth = 0;
  std::int64_t lane = 0;
  SliceId scopeId{};
  ScopeHow scopeHow = ScopeHow::None;
  OptionalInt correlationId{};
  StackId stackId{};

  SONDE_ROW("slice",
            id,
            threadId,
            kind,
            category,
            nameId,
            startNs,
            durNs,
            parentId,
            depth,
            lane,
            scopeId,
            scopeHow,
            correlationId,
            stackId)
};

// Key of an argument of a slice whose end was lost: its longest possible duration, in ns. The next
// slice on its lane begins no earlier than that.
inline constexpr std::string_view kAtMostKey = "sonde.at_most_ns";

using ArgValue = std::variant<std::int64_t, double, std::string_view>;

struct Arg {
  Owner owner = Owner::Slice;
  std::int64_t ownerId = 0;
  StringId keyId{};
  ArgValue value{};

  SONDE_ROW("arg", owner, ownerId, keyId, value)
};

struct Link {
  std::string_view kind{};
  Owner fromOwner = Owner::Slice;
  std::int64_t fromId = 0;
  Owner toOwner = Owner::Slice;
  std::int64_t toId = 0;

  SONDE_ROW("link", kind, fromOwner, fromId, toOwner, toId)
};

struct Communicator {
  CommunicatorId id{};
  ProcessId processId{};
  std::string_view jobKey{};  // the same on every member
  std::int64_t size = 0;
  OptionalInt position{};
  OptionalText backend{};

  SONDE_ROW("communicator", id, processId, jobKey, size, position, backend)
};

struct CommunicatorMember {
  CommunicatorId communicatorId{};
  std::int64_t position = 0;
  OptionalInt rank{};
  ProcessId processId{};

  static constexpr bool kReplaces = true;  // a row with the same key
  SONDE_ROW("communicator_member", communicatorId, position, rank, processId)
};

struct Collective {
  CollectiveId id{};
  ProcessId processId{};
  CommunicatorId communicatorId{};
  OptionalInt seq{};
  CollectiveOp op = CollectiveOp::Allreduce;
  OptionalText algorithm{};
  OptionalText protocol{};
  DataType dtype = DataType::Unknown;
  OptionalInt bytes{};  // the size as nccl-tests counts it
  OptionalInt sendBytes{};
  OptionalInt recvBytes{};
  OptionalInt root{};
  OptionalInt peer{};
  SliceId sliceId{};
  KernelId kernelId{};
  std::int64_t startNs = 0;
  OptionalInt durNs{};
  OptionalInt waitNs{};
  OptionalInt transferNs{};

  SONDE_ROW("collective",
            id,
            processId,
            communicatorId,
            seq,
            op,
            algorithm,
            protocol,
            dtype,
            bytes,
            sendBytes,
            recvBytes,
            root,
            peer,
            sliceId,
            kernelId,
            startNs,
            durNs,
            waitNs,
            transferNs)
};

struct Channel {
  ChannelId id{};
  ProcessId processId{};
  ChannelKind kind = ChannelKind::Tcp;
  std::string_view local{};
  std::string_view remote{};
  ChannelId peerChannelId{};
  bool inherited = false;
  OptionalInt openNs{};

  SONDE_ROW("channel", id, processId, kind, local, remote, peerChannelId, inherited, openNs)
};

struct Transfer {
  TransferId id{};
  ChannelId channelId{};
  ThreadId threadId{};
  Direction direction = Direction::Send;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool exact = true;
  std::int64_t startNs = 0;
  OptionalInt durNs{};
  CollectiveId collectiveId{};
  OptionalInt step{};
  OptionalInt tag{};
  SliceId sliceId{};       // the call that moved it; none: a library or a request did
  bool anySource = false;  // the receiver accepted any source, or any tag

  SONDE_ROW("transfer",
            id,
            channelId,
            threadId,
            direction,
            offset,
            bytes,
            exact,
            startNs,
            durNs,
            collectiveId,
            step,
            tag,
            sliceId,
            anySource)
};

struct Iteration {
  IterationId id{};
  ProcessId processId{};
  std::int64_t number = 0;
  std::int64_t startNs = 0;
  OptionalInt durNs{};
  std::int64_t probeMask = 0;
  OptionalInt samples{};
  OptionalInt tokens{};
  OptionalReal flops{};
  SliceId sliceId{};

  SONDE_ROW("iteration",
            id,
            processId,
            number,
            startNs,
            durNs,
            probeMask,
            samples,
            tokens,
            flops,
            sliceId)
};

// The details of a slice of kind io.
struct FileAccess {
  SliceId sliceId{};
  StringId pathId{};
  OptionalInt offset{};
  OptionalInt bytes{};
  OptionalInt diskBytes{};  // 0: all came from the page cache

  SONDE_ROW("io", sliceId, pathId, offset, bytes, diskBytes)
};

// A thread that waited, in a slice of kind wait, and the thread that woke it.
struct Handoff {
  SliceId sliceId{};
  std::int64_t object = 0;  // address
  SyncObject kind = SyncObject::Mutex;
  ThreadId wakerThreadId{};  // none: unknown
  OptionalInt wakerNs{};
  ThreadId wakeeThreadId{};
  std::int64_t blockNs = 0;
  std::int64_t wakeNs = 0;
  bool certain = false;  // no other thread can have been the waker

  SONDE_ROW("handoff",
            sliceId,
            object,
            kind,
            wakerThreadId,
            wakerNs,
            wakeeThreadId,
            blockNs,
            wakeNs,
            certain)
};

// A scope or call of a thread without an end when the trace was last written.
struct OpenCall {
  ProcessId processId{};
  ThreadId threadId{};
  std::int64_t depth = 0;   // 0 for the outermost of the thread
  std::string_view kind{};  // a SliceKind's word, `send` or `receive`
  std::string_view category{};
  StringId nameId{};
  std::int64_t startNs = 0;
  std::int64_t seenNs = 0;  // last time at which it was known to be open
  SliceId sliceId{};
  CollectiveId collectiveId{};  // set once the process has ended
  CommunicatorId communicatorId{};
  OptionalInt seq{};
  OptionalText op{};
  OptionalInt bytes{};
  OptionalInt root{};
  OptionalInt peer{};
  ChannelId channelId{};
  OptionalInt tag{};
  OptionalInt object{};         // address of the awaited object
  ThreadId waitsForThreadId{};  // that holds it, or that must end

  static constexpr bool kReplaces = true;  // a row with the same key
  SONDE_ROW("open_call",
            processId,
            threadId,
            depth,
            kind,
            category,
            nameId,
            startNs,
            seenNs,
            sliceId,
            collectiveId,
            communicatorId,
            seq,
            op,
            bytes,
            root,
            peer,
            channelId,
            tag,
            object,
            waitsForThreadId)
};

struct Scalar {
  ProcessId processId{};
  OptionalInt iteration{};  // its number
  StringId nameId{};
  double value = 0;
  std::int64_t tsNs = 0;

  SONDE_ROW("scalar", processId, iteration, nameId, value, tsNs)
};

// Statistics of a tensor's elements at an instant. The doubles cover the finite elements; without
// any, they are NaN, as for a NULL column.
struct Tensor {
  static constexpr double kQuantiles[] = {0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99};
  ProcessId processId{};
  OptionalInt iteration{};  // its number
  StringId nameId{};
  TensorRole role = TensorRole::Other;
  std::string_view collection{};
  std::int64_t tsNs = 0;
  std::string_view dtype{};
  std::string_view shape{};
  std::int64_t elements = 0;
  std::int64_t zeros = 0;
  std::int64_t nans = 0;
  std::int64_t infs = 0;
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
  double variance = 0;  // of the population
  double l1 = 0;
  double l2 = 0;
  std::array<double, std::size(kQuantiles)> quantiles{};
  std::string histogram{};   // JSON: [lower end, elements from there to the next lower end], …
  OptionalText file{};       // that holds all elements, if any
  OptionalInt fileOffset{};  // of the elements

  static constexpr std::string_view kTable = "tensor";
  static constexpr std::string_view kMembers =
      "processId, iteration, nameId, collection, role, tsNs, dtype, shape, elements, minimum, "
      "maximum, mean, variance, l1, l2, zeros, nans, infs, p01, p05, p25, p50, p75, p95, p99, "
      "histogram, file, fileOffset";
  auto columns() const noexcept {
    const auto& [p01, p05, p25, p50, p75, p95, p99] = quantiles;
    return std::tie(processId,
                    iteration,
                    nameId,
                    collection,
                    role,
                    tsNs,
                    dtype,
                    shape,
                    elements,
                    minimum,
                    maximum,
                    mean,
                    variance,
                    l1,
                    l2,
                    zeros,
                    nans,
                    infs,
                    p01,
                    p05,
                    p25,
                    p50,
                    p75,
                    p95,
                    p99,
                    histogram,
                    file,
                    fileOffset);
  }
};

struct Counter {
  CounterId id{};
  HostId hostId{};
  ProcessId processId{};
  ThreadId threadId{};
  DeviceId deviceId{};
  StringId nameId{};
  std::string_view unit{};
  CounterKind kind = CounterKind::Gauge;

  SONDE_ROW("counter", id, hostId, processId, threadId, deviceId, nameId, unit, kind)
};

struct Sample {
  CounterId counterId{};
  std::int64_t tsNs = 0;
  double value = 0;

  SONDE_ROW("sample", counterId, tsNs, value)
};

}  // namespace sonde::model
