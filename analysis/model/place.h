// Rows about places: hosts, processes, threads, devices, streams and their clocks.
//
// Plain values; any thread. A text member must live until the call it is passed to returns. An id
// of 0, an unset optional and an unset optional text are NULL. Times are nanoseconds of the host's
// job time. In a row to add, `id` 0 means: the writer assigns the next id.
#pragma once

#include "analysis/model/ids.h"
#include "analysis/model/row.h"
#include "analysis/model/words.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::model {

using OptionalInt = std::optional<std::int64_t>;
using OptionalReal = std::optional<double>;
using OptionalText = std::optional<std::string_view>;

// A text, stored once.
struct String {
  StringId id{};
  std::string_view text{};

  SONDE_ROW("string", id, text)
};

struct Host {
  HostId id{};
  std::string_view name{};
  OptionalText bootId{};
  OptionalText os{};
  OptionalText cpuModel{};
  OptionalInt cpuCount{};
  OptionalInt memoryBytes{};

  SONDE_ROW("host", id, name, bootId, os, cpuModel, cpuCount, memoryBytes)
};

// One process image: an exec makes a new row whose `parentId` is the image that was replaced.
struct Process {
  ProcessId id{};
  HostId hostId{};
  std::int64_t pid = 0;
  ProcessId parentId{};
  OptionalInt rank{};
  OptionalInt localRank{};
  OptionalInt worldSize{};
  OptionalText command{};  // the redacted argument vector in shell syntax
  OptionalInt startNs{};
  OptionalInt endNs{};
  OptionalInt exitStatus{};
  OptionalInt exitSignal{};
  ProcessState state = ProcessState::Unknown;
  OptionalInt pidNamespace{};
  OptionalInt startTime{};  // clock ticks since boot
  OptionalInt execCount{};
  OptionalInt cpuNs{};

  SONDE_ROW("process",
            id,
            hostId,
            pid,
            parentId,
            rank,
            localRank,
            worldSize,
            command,
            startNs,
            endNs,
            exitStatus,
            exitSignal,
            state,
            pidNamespace,
            startTime,
            execCount,
            cpuNs)
};

struct Thread {
  ThreadId id{};
  ProcessId processId{};
  std::int64_t tid = 0;
  OptionalText name{};
  OptionalInt startNs{};
  OptionalInt endNs{};

  SONDE_ROW("thread", id, processId, tid, name, startNs, endNs)
};

struct Device {
  DeviceId id{};
  HostId hostId{};
  std::string_view kind{};
  std::int64_t ordinal = 0;
  OptionalText name{};
  OptionalText uuid{};
  OptionalInt memoryBytes{};

  SONDE_ROW("device", id, hostId, kind, ordinal, name, uuid, memoryBytes)
};

struct Stream {
  StreamId id{};
  ProcessId processId{};
  DeviceId deviceId{};
  std::int64_t number = 0;
  OptionalText name{};
  OptionalInt priority{};

  SONDE_ROW("stream", id, processId, deviceId, number, name, priority)
};

struct ClockSync {
  HostId hostId{};
  ProcessId processId{};
  std::int64_t ticks = 0;
  std::int64_t monotonicNs = 0;
  std::int64_t realtimeNs = 0;

  SONDE_ROW("clock_sync", hostId, processId, ticks, monotonicNs, realtimeNs)
};

// From `fromNs` on, a time t of the host is t + offsetNs + (t − fromNs) × driftPpb / 10⁹ on the
// job's common clock.
struct ClockMap {
  HostId hostId{};
  std::int64_t fromNs = 0;
  std::int64_t offsetNs = 0;
  std::int64_t driftPpb = 0;
  OptionalInt errorNs{};

  static constexpr bool kReplaces = true;  // a row with the same key
  SONDE_ROW("clock_map", hostId, fromNs, offsetNs, driftPpb, errorNs)
};

struct Mapping {
  ProcessId processId{};
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t fileOffset = 0;
  StringId pathId{};
  OptionalText buildId{};
  OptionalInt fromNs{};

  SONDE_ROW("mapping", processId, start, end, fileOffset, pathId, buildId, fromNs)
};

}  // namespace sonde::model
