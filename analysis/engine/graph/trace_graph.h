// The data-flow graph of a recorded or imported trace: threads between the points at which they
// depend on others, kernels, copies, and collectives. Built from who waited for whom
// (engine/waits). Uses the database's thread while it reads; then plain values.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::graph {

// An iteration of a process, by its nodes: from the begin of `first` to the end of `last`.
struct IterationNodes {
  std::int64_t processId = 0;
  std::int64_t rank = -1;  // -1: none
  std::int64_t number = 0;
  std::int64_t occurrence = 0;  // how often the process had this number before
  NodeIndex first = kNoNode;
  NodeIndex last = kNoNode;
  bool isMasked = false;  // disturbed by the recorder, or not all of it was recorded
};

// A property that the graph should have, and how many of its parts do not.
struct Check {
  std::string name;  // a word for JSON
  std::int64_t violations = 0;
  std::int64_t worstNs = 0;  // of times; 0: does not apply
  std::string text;          // one sentence, for people
};

enum class IterationSource : std::uint8_t {
  Recorded,     // by an annotation, or by the framework
  Periodicity,  // the job does the same again and again
  None,
};

struct TraceGraph {
  Graph graph;
  IterationSource iterationSource = IterationSource::Recorded;
  std::vector<IterationNodes> iterations;  // by process, then by begin; without inner ones
  std::vector<Check> checks;
};

// NotFound: the trace has nothing that takes time. Corrupt: a time is not valid. Other errors as
// GraphBuilder::build().
Result<TraceGraph> readGraph(const store::Database& trace);

}  // namespace sonde::engine::graph
