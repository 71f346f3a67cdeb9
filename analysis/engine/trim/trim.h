// Cuts a few iterations, or a span of time, out of a trace, as a complete smaller trace. Free
// functions; any thread.
#pragma once

#include "base/progress.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace sonde::engine::trim {

// In ns of the job's clock, since the first instant of the trace (`meta.origin_ns`).
struct KeptTime {
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
};

struct TrimOptions {
  std::filesystem::path input;  // finished or not
  std::filesystem::path output;
  std::int64_t first = 0;  // iterations by number, both ends included
  std::int64_t last = 0;
  bool overwrite = false;
  std::optional<KeptTime> time = {};  // in place of iterations
  Progress progress = {};
};

// Keeps what overlaps those iterations: in a process that has them, its own span of them; in any
// other, the span over all. With `time` each process keeps that span. Slices keep their whole
// length. Rows that a kept row refers to (parent, scope, launch) are kept, too. Processes, threads,
// channels, communicators, clocks and losses of the recording stay as they are. Findings are
// deleted, since they judged the whole run. InvalidArgument: no such iterations (the message lists
// the existing ones), the time ends before it begins, or the output exists. Others as openTrace.
Result<void> trim(const TrimOptions& options);

}  // namespace sonde::engine::trim
