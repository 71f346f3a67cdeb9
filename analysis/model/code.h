// Rows for what code ran: frames, stacks of them, and samples of threads' stacks.
//
// Plain values; any thread. The rules of place.h hold for texts, ids, optionals and times.
#pragma once

#include "analysis/model/ids.h"
#include "analysis/model/place.h"
#include "analysis/model/row.h"
#include "analysis/model/words.h"

#include <cstdint>

namespace sonde::model {

struct Frame {
  FrameId id{};
  FrameKind kind = FrameKind::Native;
  StringId nameId{};
  StringId pathId{};
  OptionalInt line{};
  OptionalText buildId{};
  OptionalInt address{};

  SONDE_ROW("frame", id, kind, nameId, pathId, line, buildId, address)
};

struct Stack {
  StackId id{};
  StackId parentId{};  // the caller's; none: outermost
  FrameId frameId{};

  SONDE_ROW("stack", id, parentId, frameId)
};

struct StackSample {
  ThreadId threadId{};
  std::int64_t tsNs = 0;
  StackId stackId{};        // none: it could not be unwound
  std::int64_t weight = 0;  // ns
  bool truncated = false;   // outer frames are missing
  SampleKind kind = SampleKind::Cpu;
  OptionalInt correlationId{};  // of an event that is a CUDA call: that one's

  SONDE_ROW("stack_sample", threadId, tsNs, stackId, weight, truncated, kind, correlationId)
};

// What the samples of one stack come to; no row.
struct StackTime {
  ProcessId processId{};
  ThreadId threadId{};
  StackId stackId{};
  bool truncated = false;
  bool isOther = false;  // neither on a processor nor waiting in what was recorded: no stack
  std::int64_t ns = 0;
  std::int64_t samples = 0;
};

}  // namespace sonde::model
