#include "analysis/engine/whatif/topology/rank_grid.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <set>

namespace sonde::engine::whatif {
namespace {

// 0: they are not evenly apart.
std::int64_t strideOf(const Members& members) {
  if (members.size() < 2)
    return 0;
  const std::int64_t stride = members[1] - members[0];
  for (std::size_t i = 1; i < members.size(); ++i)
    if (members[i] - members[i - 1] != stride)
      return 0;
  return stride;
}

}  // namespace

Result<std::vector<Axis>> axesOf(const NodeGroups& groups) {
  std::map<Members, std::set<std::int64_t>> ranksOf;  // by distances: of all that are alike
  for (const auto& [communicator, members] : groups.members)
    ranksOf[distancesOf(members)].insert(members.begin(), members.end());
  std::set<std::int64_t> bounds = {1, groups.ranks};
  for (const auto& [distances, ranks] : ranksOf)
    if (const std::int64_t stride = strideOf(distances);
        stride > 0 && static_cast<std::int64_t>(ranks.size()) == groups.ranks) {
      bounds.insert(stride);
      bounds.insert(stride * static_cast<std::int64_t>(distances.size()));
    }
  std::vector<Axis> axes;
  for (auto each = bounds.begin(); std::next(each) != bounds.end(); ++each) {
    const std::int64_t next = *std::next(each);
    if (next % *each != 0)
      return notFound(fmt::format(
          "the communicators do not divide the {} ranks into parallel axes: some are {} ranks "
          "apart and others {}, which is no multiple",
          groups.ranks,
          *each,
          next));
    axes.push_back({*each, next / *each});
  }
  return axes;
}

std::vector<std::int64_t> nodesByOrder(const std::vector<Axis>& order,
                                       std::int64_t ranks,
                                       std::int64_t perNode) {
  std::vector<std::int64_t> nodes;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::int64_t place = 0;
    std::int64_t places = 1;
    for (const Axis& each : order) {
      place += rank / each.stride % each.ranks * places;
      places *= each.ranks;
    }
    nodes.push_back(place / perNode);
  }
  return nodes;
}

}  // namespace sonde::engine::whatif
