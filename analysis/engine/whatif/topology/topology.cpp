#include "analysis/engine/whatif/topology/topology.h"

#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/topology/level_times.h"
#include "analysis/engine/whatif/topology/node_groups.h"

#include <vector>

namespace sonde::engine::whatif {

Result<void> checkTopology(const Topology& of) {
  if (of.perNode < 1 || of.nics < 1)
    return Error{ErrorCode::InvalidArgument, "a node has at least one rank and one NIC"};
  if (!(of.insideBytesPerNs > 0) || !(of.betweenBytesPerNs > 0))
    return Error{ErrorCode::InvalidArgument, "a bandwidth is above 0"};
  if (of.insideLatencyNs.value_or(0) < 0 || of.betweenLatencyNs.value_or(0) < 0)
    return Error{ErrorCode::InvalidArgument, "a latency is not below 0"};
  return {};
}

Question topology(Topology of) {
  return [of](Asking& asking) -> Result<void> {
    SONDE_TRY(checkTopology(of));
    Scenario& scenario = asking.scenario;
    SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                     readCollectives(asking.trace, scenario.job()));
    SONDE_TRY_ASSIGN(const NodeGroups groups, nodeGroupsOf(all, scenario.graph()));
    SONDE_TRY_ASSIGN(const std::vector<std::int64_t> nodeOf,
                     nodesInOrder(groups.ranks, of.perNode));
    const Networks networks(scenario, all, asking.models.collectives);
    LevelTimes times(of, networks, shapesOf(groups, nodeOf));
    SONDE_TRY(times.apply(scenario, all));
    times.explain(asking);
    return {};
  };
}

}  // namespace sonde::engine::whatif
