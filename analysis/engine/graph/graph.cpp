#include "analysis/engine/graph/graph.h"

#include <fmt/format.h>

#include <array>

namespace sonde::engine::graph {

const char* nameOf(NodeKind kind) noexcept {
  static constexpr std::array<const char*, kNodeKinds> kNames = {
      "host", "kernel", "copy", "transfer", "meeting", "anchor"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* nameOf(EdgeKind kind) noexcept {
  static constexpr std::array<const char*, kEdgeKinds> kNames = {"order",
                                                                 "launch",
                                                                 "sync",
                                                                 "stream_wait",
                                                                 "handoff",
                                                                 "message",
                                                                 "arrival",
                                                                 "release",
                                                                 "data",
                                                                 "queue"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string entityOf(const Lane& lane) {
  if (lane.kind == LaneKind::Meetings)
    return "all ranks";
  return fmt::format("{} {}, {}",
                     lane.rank >= 0 ? "rank" : "process",
                     lane.rank >= 0 ? lane.rank : lane.pid,
                     lane.name);
}

Successors successorsOf(const Graph& graph) {
  Successors found;
  found.firstOut.assign(graph.nodes() + 1, 0);
  for (const NodeIndex from : graph.from)
    ++found.firstOut[from + 1];
  for (std::size_t i = 1; i < found.firstOut.size(); ++i)
    found.firstOut[i] += found.firstOut[i - 1];
  found.to.resize(graph.edges());
  found.edge.resize(graph.edges());
  std::vector<std::uint32_t> next(found.firstOut.begin(), found.firstOut.end() - 1);
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge) {
      const std::uint32_t place = next[graph.from[edge]]++;
      found.to[place] = node;
      found.edge[place] = edge;
    }
  return found;
}

}  // namespace sonde::engine::graph
