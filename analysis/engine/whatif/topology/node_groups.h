// The ranks of a job's communicators, and the nodes that they are on. Plain values; any thread.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/topology/two_levels.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

// Ranks, in ascending order.
using Members = std::vector<std::int64_t>;

struct NodeGroups {
  std::int64_t ranks = 0;                  // of the job: the highest number, and one more
  std::map<std::string, Members> members;  // of communicators that the trace has whole
};

// NotFound: the trace has no collective between ranks, or none whose ranks are all known.
Result<NodeGroups> nodeGroupsOf(const std::vector<JobCollective>& all, const graph::Graph& graph);

// Communicators whose members are as far apart, such as those of one parallel axis, work at the
// same time. `nodeOf`: by rank. By communicator.
std::map<std::string, GroupShape> shapesOf(const NodeGroups& groups,
                                           const std::vector<std::int64_t>& nodeOf);

// How far the members are from the first one.
Members distancesOf(const Members& members);

// The node of each rank if the ranks fill them in order. InvalidArgument: they do not fill all.
Result<std::vector<std::int64_t>> nodesInOrder(std::int64_t ranks, std::int64_t perNode);

}  // namespace sonde::engine::whatif
