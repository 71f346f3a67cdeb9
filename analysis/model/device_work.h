// Rows for what a device did: kernels, copies and synchronisation, by stream.
//
// Plain values; any thread. The rules of place.h hold for texts, ids, optionals and times.
#pragma once

#include "analysis/model/ids.h"
#include "analysis/model/place.h"
#include "analysis/model/words.h"

#include <cstdint>

namespace sonde::model {

struct Extent {
  OptionalInt x{};
  OptionalInt y{};
  OptionalInt z{};
};

// What a kernel and a copy have in common.
struct DeviceWork {
  StreamId streamId{};
  StringId nameId{};
  std::int64_t startNs = 0;
  OptionalInt durNs{};
  OptionalInt correlationId{};
  SliceId launchSliceId{};
  OptionalInt launchDelayNs{};  // from the begin of the launch to startNs
  SliceId scopeId{};            // of the launch
  OptionalInt queuedNs{};
  OptionalInt submittedNs{};
  OptionalInt graphId{};
  OptionalInt graphNodeId{};
  OptionalInt bytes{};
};

struct Kernel {
  KernelId id{};
  DeviceWork work{};
  Extent grid{};
  Extent block{};
  OptionalInt registers{};  // per thread
  OptionalInt staticSharedBytes{};
  OptionalInt dynamicSharedBytes{};
  OptionalInt localBytes{};
};

struct Copy {
  CopyId id{};
  DeviceWork work{};
  CopyKind kind = CopyKind::Other;
  DeviceId peerDeviceId{};
  std::optional<bool> pinned{};
};

struct Sync {
  SyncId id{};
  ProcessId processId{};
  StreamId streamId{};
  SyncKind kind = SyncKind::Stream;
  OptionalInt eventId{};
  SyncId waitsForId{};
  std::int64_t startNs = 0;
  OptionalInt durNs{};
  OptionalInt correlationId{};
};

// What a device counted in a stretch of a thread's time in which one slice was its innermost scope.
struct DeviceMetric {
  SliceId sliceId{};  // that scope
  ThreadId threadId{};
  DeviceId deviceId{};
  StringId nameId{};  // CUPTI's
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  double value = 0;
};

// Memory of a device, of the host that devices reach, or of a process.
struct Allocation {
  AllocationId id{};
  ProcessId processId{};
  ThreadId threadId{};  // that asked for it
  DeviceId deviceId{};
  Allocator allocator = Allocator::Cuda;
  std::int64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t allocNs = 0;
  OptionalInt freeNs{};
  SliceId scopeId{};
  StackId stackId{};
  OptionalInt pool{};  // address of the memory pool that it is from
  OptionalInt correlationId{};
  SliceId sliceId{};  // the call that made it
};

}  // namespace sonde::model
