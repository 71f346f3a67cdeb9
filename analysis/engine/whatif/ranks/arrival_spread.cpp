#include "analysis/engine/whatif/ranks/arrival_spread.h"

#include "analysis/engine/replay/iteration_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace sonde::engine::whatif {
namespace {

using graph::EdgeKind;
using graph::Graph;
using graph::NodeIndex;

// When the ranks come to a meeting, in their order; and the edges by which they do.
struct Arrivals {
  NodeIndex meeting = 0;
  std::vector<double> ns;
  std::vector<std::uint32_t> edges;
  std::uint32_t iteration = replay::kNoIteration;
};

class ArrivalReader {
 public:
  ArrivalReader(const Scenario& scenario, const std::vector<std::int64_t>& ranks)
      : scenario_(scenario),
        graph_(scenario.graph()),
        ranks_(ranks.size()),
        times_(scenario.replay()),
        iterationOf_(replay::iterationOfNodes(graph_, replay::jobIterations(scenario.job()))) {
    for (std::size_t i = 0; i < ranks.size(); ++i)
      placeOf_[ranks[i]] = i;
  }

  // The meetings of all ranks in iterations, by iteration and last arrival.
  std::vector<Arrivals> read() const {
    std::vector<Arrivals> found;
    for (NodeIndex node = 0; node < graph_.nodes(); ++node)
      if (graph_.lanes[graph_.lane[node]].rank < 0)
        if (Arrivals of = arrivalsAt(node); of.iteration != replay::kNoIteration)
          found.push_back(std::move(of));
    std::stable_sort(found.begin(), found.end(), [](const Arrivals& a, const Arrivals& b) {
      const auto last = [](const Arrivals& of) {
        return *std::max_element(of.ns.begin(), of.ns.end());
      };
      return std::pair(a.iteration, last(a)) < std::pair(b.iteration, last(b));
    });
    return found;
  }

 private:
  // The rank's own node behind an arrival: an instant without a rank may stand for it.
  NodeIndex behind(NodeIndex from) const {
    const bool isInstant = graph_.lanes[graph_.lane[from]].rank < 0 &&
                           scenario_.durNs()[from] == 0 &&
                           graph_.firstIn[from] < graph_.firstIn[from + 1];
    return isInstant ? graph_.from[graph_.firstIn[from]] : from;
  }

  Arrivals arrivalsAt(NodeIndex meeting) const {
    Arrivals found{meeting, std::vector<double>(ranks_, 0), {}, replay::kNoIteration};
    std::vector<bool> hasCome(ranks_, false);
    for (std::uint32_t edge = graph_.firstIn[meeting]; edge < graph_.firstIn[meeting + 1]; ++edge) {
      const NodeIndex own = behind(graph_.from[edge]);
      const auto place = placeOf_.find(graph_.lanes[graph_.lane[own]].rank);
      if (graph_.edgeKind[edge] != EdgeKind::Arrival || place == placeOf_.end())
        continue;
      const NodeIndex from = graph_.from[edge];
      const auto ns =
          static_cast<double>(times_.beginNs[from] + times_.durNs[from] + scenario_.lagNs()[edge]);
      found.ns[place->second] = hasCome[place->second] ? std::max(found.ns[place->second], ns) : ns;
      hasCome[place->second] = true;
      found.edges.push_back(edge);
      if (place->second == 0)
        found.iteration = iterationOf_[own];
    }
    if (std::find(hasCome.begin(), hasCome.end(), false) != hasCome.end())
      found.iteration = replay::kNoIteration;
    return found;
  }

  const Scenario& scenario_;
  const Graph& graph_;
  std::size_t ranks_;
  replay::Times times_;
  std::vector<std::uint32_t> iterationOf_;
  std::unordered_map<std::int64_t, std::size_t> placeOf_;
};

// How much later the last of `count` ranks comes to these meetings, one of each iteration.
double delayNs(const std::vector<const Arrivals*>& meetings, std::int64_t count) {
  const std::size_t ranks = meetings.front()->ns.size();
  if (meetings.size() < 2 || ranks < 2)
    return 0;
  const auto iterations = static_cast<double>(meetings.size());
  const auto centreOf = [&](const Arrivals& of) {
    double sum = 0;
    for (const double ns : of.ns)
      sum += (ns - of.ns.front()) / static_cast<double>(ranks);
    return of.ns.front() + sum;
  };
  std::vector<double> means(ranks, 0);
  for (const Arrivals* each : meetings)
    for (std::size_t rank = 0; rank < ranks; ++rank)
      means[rank] += (each->ns[rank] - centreOf(*each)) / iterations;
  double squares = 0;
  for (const Arrivals* each : meetings)
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const double rest = each->ns[rank] - centreOf(*each) - means[rank];
      squares += rest * rest;
    }
  const double deviation = std::sqrt(squares / ((iterations - 1) * static_cast<double>(ranks - 1)));
  std::vector<Draws> now;
  std::vector<Draws> then;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto copies =
        (count - 1 - static_cast<std::int64_t>(rank)) / static_cast<std::int64_t>(ranks) + 1;
    now.push_back({means[rank], 1});
    then.push_back({means[rank], copies});
  }
  return expectedMaximum(then, deviation) - expectedMaximum(now, deviation);
}

}  // namespace

double expectedMaximum(const std::vector<Draws>& draws, double deviation) {
  double highest = draws.front().mean;
  for (const Draws& each : draws)
    highest = std::max(highest, each.mean);
  if (deviation <= 0)
    return highest;
  // The expected value is the upper bound less the integral of the distribution function.
  constexpr double kReach = 8;
  constexpr int kSteps = 1000;
  const double step = 2 * kReach * deviation / kSteps;
  double integral = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double at = highest - kReach * deviation + (i + 0.5) * step;
    double logarithm = 0;
    for (const Draws& each : draws)
      logarithm += static_cast<double>(each.count) *
                   std::log(0.5 * std::erfc((each.mean - at) / deviation / std::sqrt(2.0)));
    integral += step * std::exp(logarithm);
  }
  return highest + kReach * deviation - integral;
}

void addArrivalSpread(Scenario& scenario,
                      const std::vector<std::int64_t>& ranks,
                      std::int64_t count,
                      std::vector<std::string>& notes) {
  const std::vector<Arrivals> all = ArrivalReader(scenario, ranks).read();
  std::map<std::size_t, std::vector<const Arrivals*>> byPlace;  // in the iteration
  std::map<std::uint32_t, std::size_t> seen;                    // by iteration
  for (const Arrivals& each : all)
    byPlace[seen[each.iteration]++].push_back(&each);
  double sum = 0;
  for (const auto& [place, meetings] : byPlace) {
    const double later = delayNs(meetings, count);
    sum += later * static_cast<double>(meetings.size());
    for (const Arrivals* each : meetings)
      for (const std::uint32_t edge : each->edges)
        scenario.setLag(edge, scenario.lagNs()[edge] + later, Origin::Modelled);
  }
  if (!all.empty())
    notes.push_back(fmt::format(
        "the last of {} ranks comes {:.1f} µs later to a collective than that of {}, by chance",
        count,
        sum / static_cast<double>(all.size()) / 1e3,
        ranks.size()));
}

}  // namespace sonde::engine::whatif
