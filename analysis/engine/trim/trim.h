// Cuts a few iterations out of a trace, as a smaller trace that is whole in itself. Free functions;
// any thread.
#pragma once

#include "base/progress.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>

namespace sonde::engine::trim {

struct TrimOptions {
  std::filesystem::path input;  // finished or not
  std::filesystem::path output;
  std::int64_t first = 0;  // iterations by number, both ends included
  std::int64_t last = 0;
  bool overwrite = false;
  Progress progress = {};
};

// Keeps what overlaps those iterations: of a process that has them, its own span of them; of any
// other, the span over all. Slices keep their whole length, and what a kept row refers to (parent,
// scope, launch) is kept, too. Processes, threads, channels, communicators, clocks and what
// recording lost stay as they are; findings, which judged the whole run, go. InvalidArgument: no
// such iterations (the message has those there are), or the output exists. Others as openTrace.
Result<void> trim(const TrimOptions& options);

}  // namespace sonde::engine::trim
