// A replay in which nodes share things of which only so many can be used at once: the processors of
// a host, the copy engines of a device, a link. Plain values; any thread.
//
// A node asks for its resource when all that it needs has ended and its gap has passed. It gets it
// when one is free, in the order of asking or by priority, and keeps it until its end. Where a
// resource is used in turns, a node whose turn has passed asks again if others wait.
#pragma once

#include "analysis/engine/graph/graph.h"
#include "analysis/engine/replay/replay.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::replay {

enum class Discipline : std::uint8_t {
  Fifo,      // who asked first gets it first
  Priority,  // the one with the highest priority, then who asked first
};

struct Resource {
  std::uint32_t capacity = 1;  // nodes at once
  Discipline discipline = Discipline::Fifo;
  std::int64_t turnNs = 0;  // 0: a node keeps it until its end
};

inline constexpr std::uint32_t kNoResource = 0xFFFFFFFF;

struct Resources {
  std::vector<Resource> all;
  std::vector<std::uint32_t> ofNode;   // by node: index of `all`; kNoResource: it needs none
  std::vector<std::int32_t> priority;  // by node, higher first; empty: all alike
};

// The gaps of a graph that neither its edges nor queues explain, by node: with them, a replay with
// the graph's own durations gives the measured times exactly. `dispatchNs`: how long a node that
// queued takes to begin once the resource is free. A queue explains at most kMostDispatchNs of it.
struct QueuedGaps {
  std::vector<std::int64_t> gapNs;
  std::vector<std::int64_t> dispatchNs;
};
inline constexpr std::int64_t kMostDispatchNs = 20'000;
// Requires: Discipline::Fifo without turns, and capacities as of measuredCapacity() at least.
QueuedGaps queuedGaps(const graph::Graph& graph, const Resources& resources);

// The most nodes of each resource that ran at once, as measured; at least 1.
std::vector<std::uint32_t> measuredCapacity(const graph::Graph& graph, const Resources& resources);

// O((nodes + edges + turns) log nodes). A node lasts from its begin to its end, with the time
// between its turns. Without resources nodes begin as in replay().
Times replayShared(const graph::Graph& graph,
                   const Settings& settings,
                   const Resources& resources,
                   const std::vector<std::int64_t>& dispatchNs);

}  // namespace sonde::engine::replay
