// What a breakdown needs of a trace, by process, as it was recorded; read in one pass over each
// table in the order of the file, for any number of breakdowns. Uses the database's thread, and
// while it reads one more with a connection of its own; then plain values.
//
// Memory: 24 bytes for what a thread or a device did, and 16 more for a slice that is a scope.
#pragma once

#include "analysis/engine/breakdown/category.h"
#include "analysis/engine/breakdown/scopes.h"
#include "analysis/model/words.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::breakdown {

// Of a slice that never ended.
inline constexpr std::int64_t kOpenEnd = std::numeric_limits<std::int64_t>::max();

// A slice of a thread that says what it did.
struct HostSlice {
  std::int64_t begin;
  std::int64_t end;
  std::uint32_t scopeId;  // that it is, or that it is in; 0: none
  std::uint16_t depth;
  model::SliceKind kind;
  Category category;  // as hostCategory() has it of a thread without transitions
};

// From the first begin to the last end; what never ended says no more than that it was there.
struct Extent {
  std::int64_t begin = kOpenEnd;
  std::int64_t end = std::numeric_limits<std::int64_t>::min();

  bool empty() const noexcept { return begin >= end; }
  void include(std::int64_t from, std::int64_t until) noexcept {
    begin = std::min(begin, from);
    end = std::max(end, until == kOpenEnd ? from : until);
  }
};

struct HostThread {
  std::int64_t id = 0;
  std::int64_t tid = 0;
  std::string name;
  bool transitions = false;       // it recorded when it entered and left native code
  std::vector<HostSlice> slices;  // by begin, the outer one first
  Extent extent;                  // of them
};

// What a device or the network did.
struct DeviceSpan {
  std::int64_t begin;
  std::int64_t end;
  std::uint32_t scopeId;  // that it was launched in; 0: none
  Category category;
};

// A stream, or a thread that moved data over the network.
struct DeviceLane {
  bool isStream = true;
  std::int64_t id = 0;            // of the stream, or of the thread; 0: of those that are not known
  std::vector<DeviceSpan> spans;  // by begin
  Extent extent;                  // of them
};

struct IterationSpan {
  std::int64_t id;  // of its row
  std::int64_t number;
  bool masked;  // not all was recorded that the run was asked for
  std::int64_t begin;
  std::int64_t end;
};

struct ProcessEvents {
  std::int64_t id = 0;
  std::int64_t pid = 0;
  std::optional<std::int64_t> rank;
  std::string host;
  std::string command;
  std::optional<std::int64_t> parentId;
  std::optional<std::int64_t> startNs;  // of the recording of it
  std::optional<std::int64_t> endNs;
  std::optional<Extent> kept;  // of a trimmed trace: what it has of this process
  Scopes scopes;
  std::vector<HostThread> threads;
  std::vector<DeviceLane> device;
  std::vector<IterationSpan> iterations;  // by begin; without inner ones
  // What is left out of a process without iterations: those that are masked of the process that
  // started it.
  std::vector<IterationSpan> inherited;
  std::int64_t inheritedFrom = 0;

  bool empty() const noexcept;
};

struct TraceEvents {
  std::vector<ProcessEvents> processes;  // that did something, by id
  std::int64_t negative = 0;             // events that end before they begin, which take no time
  std::int64_t endsUnknown = 0;          // of what devices and the network did: nor do these
};

// Corrupt: an id does not fit into 32 bits.
Result<TraceEvents> readEvents(const store::Database& trace, ScopeDimensions dimensions);

}  // namespace sonde::engine::breakdown
