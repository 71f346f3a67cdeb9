// The events of a trace that a breakdown needs, by process, as recorded. Reads each table once, in
// the order of the file, for any number of breakdowns. Reading uses the database's thread and one
// more with its own connection; the result is plain values.
//
// Memory: 24 bytes per event of a thread or device, and 16 more for a slice that is a scope.
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

// The end of a slice that never ended.
inline constexpr std::int64_t kOpenEnd = std::numeric_limits<std::int64_t>::max();

// A slice that shows what its thread did.
struct HostSlice {
  std::int64_t begin;
  std::int64_t end;
  std::uint32_t scopeId;  // the slice itself, or the scope around it; 0: none
  std::uint16_t depth;
  model::SliceKind kind;
  Category category;  // as hostCategory() returns it for a thread without transitions
};

// From the first begin to the last end. An event that never ended counts with its begin alone.
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

// An event of a device or the network.
struct DeviceSpan {
  std::int64_t begin;
  std::int64_t end;
  std::uint32_t scopeId;  // that launched it; 0: none
  Category category;
};

// A stream, or a thread that moved data over the network.
struct DeviceLane {
  bool isStream = true;
  std::int64_t id = 0;            // of the stream or thread; 0: all unknown ones
  std::vector<DeviceSpan> spans;  // by begin
  Extent extent;                  // of them
};

struct IterationSpan {
  std::int64_t id;  // of its row
  std::int64_t number;
  bool masked;  // not all that the run asked for was recorded
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
  std::optional<std::int64_t> startNs;  // of its recording
  std::optional<std::int64_t> endNs;
  std::optional<Extent> kept;  // of a trimmed trace: the part of this process that was kept
  Scopes scopes;
  std::vector<HostThread> threads;
  std::vector<DeviceLane> device;
  std::vector<IterationSpan> iterations;  // by begin; without inner ones
  // The masked iterations of the process that started this one. They are left out of a process
  // without iterations.
  std::vector<IterationSpan> inherited;
  std::int64_t inheritedFrom = 0;
  std::optional<Extent> within = {};  // only this part counts

  bool empty() const noexcept;
};

struct TraceEvents {
  std::vector<ProcessEvents> processes;  // those that did something, by id
  std::int64_t negative = 0;             // events that end before they begin; they take no time
  std::int64_t endsUnknown = 0;          // device and network events without an end: no time either
};

// Corrupt: an id does not fit into 32 bits.
Result<TraceEvents> readEvents(const store::Database& trace, ScopeDimensions dimensions);

}  // namespace sonde::engine::breakdown
