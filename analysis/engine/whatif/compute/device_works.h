// The kernels and copies of a job by name and by the call that launched them. Uses the database's
// thread while it reads; then plain values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/whatif/thread_spans.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

struct DeviceWork {
  graph::NodeIndex node = 0;
  std::string name = {};  // of a copy: empty
  bool isCollective = false;
  std::optional<graph::LaneIndex> thread = {};  // nullopt: the call is unknown
  Span call = {};                               // in the job's time
};

// By node, hence by stream, then by begin.
Result<std::vector<DeviceWork>> readDeviceWorks(const store::Database& trace,
                                                const graph::TraceGraph& job);

}  // namespace sonde::engine::whatif
