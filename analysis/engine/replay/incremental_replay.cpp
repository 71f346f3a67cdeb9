#include "analysis/engine/replay/incremental_replay.h"

#include <queue>

#include <algorithm>
#include <functional>

namespace sonde::engine::replay {

using graph::Graph;
using graph::NodeIndex;

IncrementalReplay::IncrementalReplay(const Graph& graph, const Settings& settings)
    : graph_(graph),
      next_(successorsOf(graph)),
      place_(graph.nodes()),
      begin_(replay(graph, settings)),
      isDue_(graph.nodes(), false) {
  for (std::uint32_t place = 0; place < graph.order.size(); ++place)
    place_[graph.order[place]] = place;
}

std::int64_t IncrementalReplay::beginOf(const Settings& settings, NodeIndex node) const {
  const std::vector<std::uint32_t>& lagNs =
      settings.lagNs == nullptr ? graph_.lagNs : *settings.lagNs;
  std::uint32_t edge = graph_.firstIn[node];
  const std::uint32_t last = graph_.firstIn[node + 1];
  if (edge == last)
    return graph_.beginNs[node];
  const auto ready = [&](std::uint32_t in) {
    return begin_[graph_.from[in]] + settings.durNs[graph_.from[in]] + lagNs[in];
  };
  std::int64_t latest = ready(edge);
  while (++edge < last)
    latest = std::max(latest, ready(edge));
  return latest + settings.gapNs[node];
}

std::vector<NodeIndex> IncrementalReplay::update(const Settings& settings,
                                                 const std::vector<NodeIndex>& changed) {
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> due;
  const auto add = [&](NodeIndex node) {
    if (!isDue_[node]) {
      isDue_[node] = true;
      due.push(place_[node]);
    }
  };
  const auto addNext = [&](NodeIndex node) {
    for (std::uint32_t i = next_.firstOut[node]; i < next_.firstOut[node + 1]; ++i)
      add(next_.to[i]);
  };
  // A duration also moves the nodes that need it.
  for (const NodeIndex node : changed) {
    add(node);
    addNext(node);
  }
  std::vector<NodeIndex> moved;
  while (!due.empty()) {
    const NodeIndex node = graph_.order[due.top()];
    due.pop();
    isDue_[node] = false;
    const std::int64_t begin = beginOf(settings, node);
    if (begin == begin_[node])
      continue;
    begin_[node] = begin;
    moved.push_back(node);
    addNext(node);
  }
  return moved;
}

}  // namespace sonde::engine::replay
