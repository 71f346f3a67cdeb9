#include "analysis/engine/whatif/topology/placement.h"

#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/topology/level_times.h"
#include "analysis/engine/whatif/topology/node_groups.h"
#include "analysis/engine/whatif/topology/rank_grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace sonde::engine::whatif {
namespace {

constexpr std::size_t kMostAxes = 6;
constexpr std::int64_t kNamedNodes = 16;

using Order = std::vector<Axis>;
using Shapes = std::map<std::string, GroupShape>;

std::string textOf(const Order& order) {
  std::vector<std::int64_t> strides;
  for (const Axis& each : order)
    strides.push_back(each.stride);
  return fmt::format("{}", fmt::join(strides, "-"));
}

std::string axesText(const Order& axes) {
  std::vector<std::string> texts;
  for (const Axis& each : axes)
    texts.push_back(fmt::format("{} ({} ranks)", each.stride, each.ranks));
  return fmt::format("{}", fmt::join(texts, ", "));
}

Result<Order> orderOf(const std::vector<std::int64_t>& strides, const Order& axes) {
  Order order;
  for (const std::int64_t stride : strides)
    for (const Axis& each : axes)
      if (each.stride == stride)
        order.push_back(each);
  Order sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (strides.size() == axes.size() && sorted == axes)
    return order;
  return Error{ErrorCode::InvalidArgument,
               fmt::format("the order {} does not have each parallel axis once: by how far their "
                           "ranks are apart, these are {}",
                           fmt::join(strides, "-"),
                           axesText(axes))};
}

// The mean iteration; without any, the time until the last node has ended.
double meanNs(const Scenario& scenario) {
  const replay::Times times = scenario.replay();
  double sum = 0;
  double count = 0;
  for (const replay::JobIteration& each : replay::jobIterations(scenario.job()))
    if (each.isWhole) {
      sum += replay::lengthOf(each, times.beginNs, times.durNs);
      ++count;
    }
  if (count > 0)
    return sum / count;
  for (std::size_t node = 0; node < times.beginNs.size(); ++node)
    sum = std::max(sum, static_cast<double>(times.beginNs[node] + times.durNs[node]));
  return sum;
}

// Compares orders of axes by replays of the job.
class OrderSearch {
 public:
  OrderSearch(const Topology& of,
              const Scenario& scenario,
              const std::vector<JobCollective>& all,
              const NodeGroups& groups,
              const Networks& networks)
      : of_(of), scenario_(scenario), all_(all), groups_(groups), networks_(networks) {}

  Shapes shapes(const Order& order) const {
    return shapesOf(groups_, nodesByOrder(order, groups_.ranks, of_.perNode));
  }

  // Orders that put each communicator on as many nodes take the same time.
  Result<double> ns(const Order& order) {
    const Shapes shapes = this->shapes(order);
    if (const auto known = ns_.find(shapes); known != ns_.end())
      return known->second;
    Scenario placed(scenario_);
    LevelTimes times(of_, networks_, shapes);
    SONDE_TRY(times.apply(placed, all_));
    return ns_.emplace(shapes, meanNs(placed)).first->second;
  }

  // The first of the fastest ones; `axes` as recorded come first.
  Result<Order> best(const Order& axes) {
    if (axes.size() > kMostAxes)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{} parallel axes have too many orders to try: give one, as in "
                               "order={}",
                               axes.size(),
                               textOf(axes))};
    Order best = axes;
    SONDE_TRY_ASSIGN(double least, ns(axes));
    Order order = axes;
    while (std::next_permutation(order.begin(), order.end())) {
      SONDE_TRY_ASSIGN(const double found, ns(order));
      if (found < least) {
        least = found;
        best = order;
      }
    }
    return best;
  }
  std::size_t replays() const noexcept { return ns_.size(); }

 private:
  const Topology& of_;
  const Scenario& scenario_;
  const std::vector<JobCollective>& all_;
  const NodeGroups& groups_;
  const Networks& networks_;
  std::map<Shapes, double> ns_;
};

std::string nodesText(const std::vector<std::int64_t>& nodeOf) {
  std::map<std::int64_t, std::vector<std::size_t>> ranks;  // by node
  for (std::size_t rank = 0; rank < nodeOf.size(); ++rank)
    ranks[nodeOf[rank]].push_back(rank);
  std::vector<std::string> texts;
  for (const auto& [node, members] : ranks)
    if (node < kNamedNodes)
      texts.push_back(fmt::format("node {}: {}", node, fmt::join(members, " ")));
  if (static_cast<std::int64_t>(ranks.size()) > kNamedNodes)
    texts.emplace_back("and so on");
  return fmt::format("{}", fmt::join(texts, ", "));
}

Result<void> place(Asking& asking, const Placement& of) {
  Scenario& scenario = asking.scenario;
  SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                   readCollectives(asking.trace, scenario.job()));
  SONDE_TRY_ASSIGN(const NodeGroups groups, nodeGroupsOf(all, scenario.graph()));
  SONDE_TRY(nodesInOrder(groups.ranks, of.topology.perNode));
  SONDE_TRY_ASSIGN(const Order axes, axesOf(groups));
  const Networks networks(scenario, all, asking.models.collectives);
  OrderSearch search(of.topology, scenario, all, groups, networks);
  SONDE_TRY_ASSIGN(const Order order,
                   of.order.empty() ? search.best(axes) : orderOf(of.order, axes));
  SONDE_TRY_ASSIGN(const double recordedNs, search.ns(axes));
  SONDE_TRY_ASSIGN(const double ns, search.ns(order));
  asking.notes.push_back(fmt::format(
      "the parallel axes, by how far their ranks are apart, are {}. In the order {} an iteration "
      "takes {:.3f} ms on these nodes, in the recorded one, {}, {:.3f} ms{}",
      axesText(axes),
      textOf(order),
      ns / 1e6,
      textOf(axes),
      recordedNs / 1e6,
      of.order.empty() ? fmt::format("; {} placements that differ were tried", search.replays())
                       : ""));
  asking.notes.push_back(fmt::format(
      "ranks on nodes: {}", nodesText(nodesByOrder(order, groups.ranks, of.topology.perNode))));
  LevelTimes times(of.topology, networks, search.shapes(order));
  SONDE_TRY(times.apply(scenario, all));
  times.explain(asking);
  return {};
}

}  // namespace

Question placement(const Placement& of) {
  return [of](Asking& asking) -> Result<void> {
    SONDE_TRY(checkTopology(of.topology));
    return place(asking, of);
  };
}

}  // namespace sonde::engine::whatif
