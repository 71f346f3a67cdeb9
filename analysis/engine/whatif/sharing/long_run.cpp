#include "analysis/engine/whatif/sharing/long_run.h"

#include "analysis/engine/replay/iteration_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace sonde::engine::whatif {

LongRun::LongRun(const Scenario& scenario, const std::vector<DeviceWork>& works) {
  const graph::Graph& graph = scenario.graph();
  const replay::IterationWindows windows(graph, replay::jobIterations(scenario.job()));
  for (const DeviceWork& each : works) {
    if (each.isCollective || !each.thread)
      continue;
    const std::uint32_t iteration = windows.at(graph.lanes[*each.thread], each.call.beginNs);
    if (iteration != replay::kNoIteration)
      works_.push_back({iteration, graph.lane[each.node], each.node});
  }
  measuredNs_ = std::max(replay::meanIterationNs(scenario.job(), {graph.beginNs, graph.durNs}),
                         streamNs(graph, graph.durNs));
}

double LongRun::streamNs(const Scenario& scenario) const {
  return streamNs(scenario.graph(), scenario.durNs());
}

double LongRun::streamNs(const graph::Graph& graph, const std::vector<std::int64_t>& durNs) const {
  std::map<std::pair<std::uint32_t, graph::LaneIndex>, double> ofStreams;
  for (const StreamWork& each : works_)
    ofStreams[{each.iteration, each.stream}] += static_cast<double>(durNs[each.node]);
  std::map<std::pair<std::uint32_t, std::int64_t>, double> busiest;  // by iteration and process
  for (const auto& [place, ns] : ofStreams) {
    double& most = busiest[{place.first, graph.lanes[place.second].processId}];
    most = std::max(most, ns);
  }
  double sum = 0;
  for (const auto& [place, ns] : busiest)
    sum += ns;
  return busiest.empty() ? 0 : sum / static_cast<double>(busiest.size());
}

double LongRun::iterationNs(Asking& asking, int jobs) const {
  constexpr double kRoom = 1.01;  // the work may end a little behind its iteration
  const double now = replay::meanIterationNs(asking.scenario.job(), asking.scenario.replay());
  const double stream = jobs * streamNs(asking.scenario);
  if (stream <= kRoom * now)
    return now;
  asking.notes.push_back(fmt::format(
      "the prediction is too short: kernels and copies of an iteration then take {:.3g} "
      "ms on one stream, and the trace does not show that a thread waits for them. In a "
      "long run an iteration takes at least that",
      stream / 1e6));
  return stream;
}

void LongRun::noteAfterwards(Asking& asking) const {
  asking.afterwards.emplace_back([run = *this](Asking& then) -> Result<void> {
    run.iterationNs(then);
    return {};
  });
}

}  // namespace sonde::engine::whatif
