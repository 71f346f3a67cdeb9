// Writes a trace whose parts begin and last as in a replay: a copy of the trace with other times.
// Free functions; any thread.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/retime/row_times.h"
#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sonde::engine::retime {

struct RetimeOptions {
  std::filesystem::path output;
  std::vector<std::filesystem::path> inputs;  // that the output may not replace
  bool overwrite = false;
  std::string how;  // the value of `meta.replayed`
  Progress progress = {};
  // Called with the output when all rows have moved, in the same transaction; empty: nothing more.
  std::function<Result<void>(store::Database&)> then = {};
};

// Kernels, copies, iterations and slices that are nodes have exactly the times of their nodes. The
// other times of a thread or stream move with the nodes around them. Findings are left out, since
// they judged the recorded times, and so is the recorder's state. Requires: `graph` and `times` are
// those of `trace`. InvalidArgument: the output exists or is an input. Others as openTrace.
Result<void> retime(const store::Database& trace,
                    const graph::TraceGraph& graph,
                    const NewTimes& times,
                    const RetimeOptions& options);

}  // namespace sonde::engine::retime
