// Rows for what happened: slices, communication, iterations and the facts about them.
//
// Plain values; any thread. The rules of place.h hold for texts, ids, optionals and times.
#pragma once

#include "analysis/model/ids.h"
#include "analysis/model/place.h"
#include "analysis/model/words.h"

#include <cstdint>
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
  OptionalInt durNs{};  // none: the process died with it open, or its end was lost
  SliceId parentId{};
  std::int64_t depth = 0;
  std::int64_t lane = 0;
  SliceId scopeId{};
  ScopeHow scopeHow = ScopeHow::None;
  OptionalInt correlationId{};
  StackId stackId{};
};

// Key of the argument of a slice whose end was lost: how long it lasted at most, in ns. Nothing
// that follows it on its lane begins earlier.
inline constexpr std::string_view kAtMostKey = "sonde.at_most_ns";

using ArgValue = std::variant<std::int64_t, double, std::string_view>;

struct Arg {
  Owner owner = Owner::Slice;
  std::int64_t ownerId = 0;
  StringId keyId{};
  ArgValue value{};
};

struct Link {
  std::string_view kind{};
  Owner fromOwner = Owner::Slice;
  std::int64_t fromId = 0;
  Owner toOwner = Owner::Slice;
  std::int64_t toId = 0;
};

struct Communicator {
  CommunicatorId id{};
  ProcessId processId{};
  std::string_view jobKey{};  // the same on every member
  std::int64_t size = 0;
  OptionalInt position{};
  OptionalText backend{};
};

struct CommunicatorMember {
  CommunicatorId communicatorId{};
  std::int64_t position = 0;
  OptionalInt rank{};
  ProcessId processId{};
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
  OptionalInt bytes{};  // nccl-tests' size
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
  SliceId sliceId{};       // the call that moved it; none: a library did, or a request
  bool anySource = false;  // its receiver had not said from whom, or with which tag
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
};

// What a slice of kind io did.
struct FileAccess {
  SliceId sliceId{};
  StringId pathId{};
  OptionalInt offset{};
  OptionalInt bytes{};
  OptionalInt diskBytes{};  // 0: the page cache had all of it
};

// A thread that waited, in a slice of kind wait, and the one that let it go on.
struct Handoff {
  SliceId sliceId{};
  std::int64_t object = 0;  // address
  SyncObject kind = SyncObject::Mutex;
  ThreadId wakerThreadId{};  // none: not known
  OptionalInt wakerNs{};
  ThreadId wakeeThreadId{};
  std::int64_t blockNs = 0;
  std::int64_t wakeNs = 0;
  bool certain = false;  // nobody else can have been the waker
};

struct Scalar {
  ProcessId processId{};
  OptionalInt iteration{};  // its number
  StringId nameId{};
  double value = 0;
  std::int64_t tsNs = 0;
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
};

struct Sample {
  CounterId counterId{};
  std::int64_t tsNs = 0;
  double value = 0;
};

}  // namespace sonde::model
