// Rows about device work: kernels, copies and synchronisation, by stream.
//
// Plain values; any thread. The rules of place.h hold for texts, ids, optionals and times.
#pragma once

#include "analysis/model/ids.h"
#include "analysis/model/place.h"
#include "analysis/model/row.h"
#include "analysis/model/words.h"

#include <cstdint>

namespace sonde::model {

struct Extent {
  OptionalInt x{};
  OptionalInt y{};
  OptionalInt z{};
};

// The common part of a kernel and a copy.
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

  SONDE_ROW("kernel",
            id,
            work.streamId,
            work.nameId,
            work.startNs,
            work.durNs,
            work.correlationId,
            work.launchSliceId,
            work.scopeId,
            work.launchDelayNs,
            work.queuedNs,
            work.submittedNs,
            work.graphId,
            work.graphNodeId,
            work.bytes,
            grid.x,
            grid.y,
            grid.z,
            block.x,
            block.y,
            block.z,
            registers,
            staticSharedBytes,
            dynamicSharedBytes,
            localBytes)
};

struct Copy {
  CopyId id{};
  DeviceWork work{};
  CopyKind kind = CopyKind::Other;
  DeviceId peerDeviceId{};
  std::optional<bool> pinned{};

  SONDE_ROW("copy",
            id,
            work.streamId,
            work.nameId,
            work.startNs,
            work.durNs,
            work.correlationId,
            work.launchSliceId,
            work.scopeId,
            work.launchDelayNs,
            work.queuedNs,
            work.submittedNs,
            work.graphId,
            work.graphNodeId,
            work.bytes,
            kind,
            peerDeviceId,
            pinned)
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

  SONDE_ROW(
      "sync", id, processId, streamId, kind, eventId, waitsForId, startNs, durNs, correlationId)
};

// A hardware counter of a device, over a stretch of a thread's time with one innermost scope.
struct DeviceMetric {
  SliceId sliceId{};  // that scope
  ThreadId threadId{};
  DeviceId deviceId{};
  StringId nameId{};  // CUPTI's
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  double value = 0;

  SONDE_ROW("device_metric", sliceId, threadId, deviceId, nameId, startNs, durNs, value)
};

// Memory of a device, of the host if devices can access it, or of a process.
struct Allocation {
  AllocationId id{};
  ProcessId processId{};
  ThreadId threadId{};  // that requested it
  DeviceId deviceId{};
  Allocator allocator = Allocator::Cuda;
  std::int64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t allocNs = 0;
  OptionalInt freeNs{};
  SliceId scopeId{};
  StackId stackId{};
  OptionalInt pool{};  // address of its memory pool
  OptionalInt correlationId{};
  SliceId sliceId{};  // the call that made it

  SONDE_ROW("allocation",
            id,
            processId,
            deviceId,
            address,
            bytes,
            allocNs,
            freeNs,
            scopeId,
            stackId,
            pool,
            correlationId,
            sliceId,
            threadId,
            allocator)
};

}  // namespace sonde::model
