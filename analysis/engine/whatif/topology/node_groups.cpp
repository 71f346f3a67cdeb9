#include "analysis/engine/whatif/topology/node_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace sonde::engine::whatif {

Result<NodeGroups> nodeGroupsOf(const std::vector<JobCollective>& all, const graph::Graph& graph) {
  NodeGroups found;
  for (const graph::Lane& each : graph.lanes)
    found.ranks = std::max(found.ranks, each.rank + 1);
  for (const JobCollective& each : all) {
    if (!each.isComplete() || found.members.contains(each.communicator))
      continue;
    std::set<std::int64_t> ranks;
    for (const CollectivePart& part : each.parts)
      if (graph.lanes[part.lane].rank >= 0)
        ranks.insert(graph.lanes[part.lane].rank);
    if (static_cast<std::int64_t>(ranks.size()) == each.ranks)
      found.members.emplace(each.communicator, Members(ranks.begin(), ranks.end()));
  }
  if (!found.members.empty())
    return found;
  if (all.empty())
    return notFound(
        "the trace has no collectives of several ranks whose bytes and numbers are known: record a "
        "job of at least two ranks with 'sonde run'");
  return notFound(
      fmt::format("the ranks of communicator {} are unknown, and so are those of all others: give "
                  "the traces of all ranks",
                  all.front().communicator));
}

Members distancesOf(const Members& members) {
  Members found;
  for (const std::int64_t each : members)
    found.push_back(each - members.front());
  return found;
}

std::map<std::string, GroupShape> shapesOf(const NodeGroups& groups,
                                           const std::vector<std::int64_t>& nodeOf) {
  const auto countsOf = [&](const Members& members) {
    std::map<std::int64_t, std::int64_t> counts;  // by node
    for (const std::int64_t rank : members)
      ++counts[nodeOf[static_cast<std::size_t>(rank)]];
    return counts;
  };
  // Those that use NICs, by the distances of their members and the node. Several communicators of
  // the same members count once.
  std::map<std::pair<Members, std::int64_t>, std::set<Members>> users;
  for (const auto& [communicator, members] : groups.members)
    if (const auto counts = countsOf(members); counts.size() > 1)
      for (const auto& [node, count] : counts)
        users[{distancesOf(members), node}].insert(members);
  std::map<std::string, GroupShape> shapes;
  for (const auto& [communicator, members] : groups.members) {
    const auto counts = countsOf(members);
    GroupShape shape{static_cast<std::int64_t>(members.size()),
                     static_cast<std::int64_t>(counts.size())};
    for (const auto& [node, count] : counts) {
      shape.isEven = shape.isEven && count == counts.begin()->second;
      shape.perNode = std::max(shape.perNode, count);
      if (const auto at = users.find({distancesOf(members), node}); at != users.end())
        shape.sharers = std::max(shape.sharers, static_cast<std::int64_t>(at->second.size()));
    }
    if (shape.nodes == 1)
      shape.sharers = 1;
    shapes.emplace(communicator, shape);
  }
  return shapes;
}

Result<std::vector<std::int64_t>> nodesInOrder(std::int64_t ranks, std::int64_t perNode) {
  if (perNode < 1)
    return Error{ErrorCode::InvalidArgument, "a node has at least one rank"};
  if (ranks % perNode != 0)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("the job's {} ranks do not fill nodes of {}: give a number of ranks a "
                             "node that divides them",
                             ranks,
                             perNode)};
  std::vector<std::int64_t> nodes;
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    nodes.push_back(rank / perNode);
  return nodes;
}

}  // namespace sonde::engine::whatif
