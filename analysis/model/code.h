// Rows about executed code: frames, stacks of them, and samples of threads' stacks.
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
  StackId stackId{};        // none: unwinding failed
  std::int64_t weight = 0;  // ns
  bool truncated = false;   // outer frames are missing
  SampleKind kind = SampleKind::Cpu;
  OptionalInt correlationId{};  // if the event is a CUDA call: the call's

  SONDE_ROW("stack_sample", threadId, tsNs, stackId, weight, truncated, kind, correlationId)
};

// The sum over the samples of one stack; not a row.
struct StackTime {
  ProcessId processId{};
  ThreadId threadId{};
  StackId stackId{};
  bool truncated = false;
  bool isOther = false;  // neither on a processor nor in a recorded wait: no stack
  std::int64_t ns = 0;
  std::int64_t samples = 0;
};

}  // namespace sonde::model
