// The critical path of a stretch of a job's time: the chain of nodes, lags and gaps that determines
// when the stretch ends. Free functions; any thread.
#pragma once

#include "analysis/engine/graph/graph.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace sonde::engine::critical {

// Why the path passes a stretch of time.
enum class Cause : std::uint8_t {
  Node,  // the node itself took this long
  Lag,   // the edge took this long: a launch on its way, a thread that wakes up
  Gap,   // no edge explains why the node began no earlier
};

// A stretch of the path.
struct Element {
  graph::NodeIndex node;  // the one that passes the time, or whose begin was delayed
  Cause cause;
  std::uint32_t edge;  // of Lag: index in the graph
  std::int64_t beginNs;
  std::int64_t endNs;

  std::int64_t lengthNs() const noexcept { return endNs - beginNs; }
};

// Node times to walk along, such as the measured or the replayed ones.
struct Times {
  const std::vector<std::int64_t>& beginNs;
  const std::vector<std::int64_t>& durNs;
};

// The edge of the need that is ready last, with its lag; the first of several. kNoEdge: the node
// needs nothing.
inline constexpr std::uint32_t kNoEdge = std::numeric_limits<std::uint32_t>::max();
std::uint32_t latestNeed(const graph::Graph& graph, const Times& times, graph::NodeIndex node);

// The path that leads to the end of `last`, back to `fromNs`, by time. Its elements have a length
// and follow each other without a hole; their lengths sum to `end of last - fromNs`. It ends
// earlier if it comes to a node that needs nothing: then the first element is a gap from `fromNs`.
// If several needs end together, it follows the first.
std::vector<Element> criticalPath(const graph::Graph& graph,
                                  const Times& times,
                                  graph::NodeIndex last,
                                  std::int64_t fromNs);
// The same to a time in the node `last`, or after it: then the last element is a gap.
std::vector<Element> criticalPathTo(const graph::Graph& graph,
                                    const Times& times,
                                    graph::NodeIndex last,
                                    std::int64_t fromNs,
                                    std::int64_t untilNs);

}  // namespace sonde::engine::critical
