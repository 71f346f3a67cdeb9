// Which iteration each node of a graph belongs to, and how long the iterations take in a replay.
// Plain values; any thread.
#pragma once

#include "analysis/engine/graph/job_iterations.h"
#include "analysis/engine/replay/replay.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sonde::engine::replay {

using graph::JobIteration;
using graph::jobIterations;

inline constexpr std::uint32_t kNoIteration = 0xFFFFFFFF;

// When the iterations of each process were. A process without iterations, such as a loader's
// worker, has those of its rank.
class IterationWindows {
 public:
  IterationWindows(const graph::Graph& graph, const std::vector<JobIteration>& iterations);
  // The index of the iteration in which a time of the lane's process lies; kNoIteration: in none.
  std::uint32_t at(const graph::Lane& lane, std::int64_t ns) const;
  // When that iteration began on the lane's process; nullopt: none.
  std::optional<std::int64_t> beginNsAt(const graph::Lane& lane, std::int64_t ns) const;

 private:
  struct Window {
    std::int64_t beginNs;
    std::int64_t endNs;
    std::uint32_t index;
  };
  using Windows = std::unordered_map<std::int64_t, std::vector<Window>>;
  const Window* find(const graph::Lane& lane, std::int64_t ns) const;

  Windows ofProcesses_;  // by process, then by begin
  Windows ofRanks_;
};

// The index, in `iterations`, of the iteration in which a node begins on its own process; by node.
// kNoIteration: none, as for meetings.
std::vector<std::uint32_t> iterationOfNodes(const graph::Graph& graph,
                                            const std::vector<JobIteration>& iterations);

// The mean length over the ranks, in ns, where nodes begin and last as given. Requires: ranks.
double lengthOf(const JobIteration& iteration,
                const std::vector<std::int64_t>& beginNs,
                const std::vector<std::int64_t>& durNs);

// The mean of that over the iterations that all ranks have; without any, the length of the whole
// trace.
double meanIterationNs(const graph::TraceGraph& job, const Times& times);

}  // namespace sonde::engine::replay
