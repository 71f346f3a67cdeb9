#include "analysis/engine/whatif/sharing/two_waves.h"

#include "analysis/engine/memory/memory_log.h"
#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/replay/shared_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace sonde::engine::whatif {
namespace {

using graph::Graph;
using graph::LaneIndex;
using graph::NodeIndex;

// The error of who gets the device first.
constexpr double kOrder = 0.05;
constexpr std::size_t kMostWaveNodes = 50'000'000;

Scenario::Structure secondWave(const Graph& graph, std::int64_t shiftNs) {
  Scenario::Structure structure;
  std::int64_t processes = 1;
  for (const graph::Lane& each : graph.lanes)
    processes = std::max(processes, each.processId + 1);
  for (graph::Lane lane : graph.lanes) {
    lane.processId += processes;
    structure.lanes.push_back(std::move(lane));
  }
  const auto lanes = static_cast<LaneIndex>(graph.lanes.size());
  const auto nodes = static_cast<NodeIndex>(graph.nodes());
  for (NodeIndex node = 0; node < nodes; ++node)
    structure.nodes.push_back({.lane = lanes + graph.lane[node], .copyOf = node});
  for (NodeIndex node = 0; node < nodes; ++node) {
    for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge)
      structure.edges.push_back(
          {nodes + graph.from[edge], nodes + node, graph.edgeKind[edge], 0, edge});
    if (graph.firstIn[node] < graph.firstIn[node + 1])
      continue;
    // It begins by itself: now so much later.
    const auto anchor = nodes + static_cast<NodeIndex>(structure.nodes.size());
    structure.nodes.push_back({.lane = lanes + graph.lane[node],
                               .beginNs = graph.beginNs[node],
                               .kind = graph::NodeKind::Anchor,
                               .durNs = shiftNs});
    structure.edges.push_back({anchor, nodes + node, graph::EdgeKind::Order});
  }
  return structure;
}

// The resource of each node of the first job: its stream, or the links of its process.
replay::Resources resourcesOfFirst(const Graph& graph, NodeIndex nodes) {
  replay::Resources resources;
  resources.ofNode.assign(graph.nodes(), replay::kNoResource);
  std::map<std::pair<bool, std::int64_t>, std::uint32_t> numbers;
  for (NodeIndex node = 0; node < nodes; ++node) {
    const graph::Lane& lane = graph.lanes[graph.lane[node]];
    const bool isTransfer = graph.kind[node] == graph::NodeKind::Transfer;
    const bool isKernel = graph.kind[node] == graph::NodeKind::Kernel && graph.durNs[node] > 0;
    if (lane.kind != graph::LaneKind::Stream || (!isTransfer && !isKernel))
      continue;
    const std::int64_t id = isTransfer ? lane.processId : graph.lane[node];
    const auto [at, isNew] =
        numbers.emplace(std::pair(isTransfer, id), static_cast<std::uint32_t>(numbers.size()));
    if (isNew)
      resources.all.emplace_back();
    resources.ofNode[node] = at->second;
  }
  const std::vector<std::uint32_t> most = replay::measuredCapacity(graph, resources);
  for (std::size_t i = 0; i < most.size(); ++i)
    resources.all[i].capacity = most[i];
  return resources;
}

Result<void> addMemoryNote(Asking& asking, std::int64_t shiftNs) {
  SONDE_TRY_ASSIGN(const metrics::MemoryLogs logs, metrics::readMemoryLogs(asking.trace));
  std::int64_t one = 0;
  std::int64_t two = 0;
  std::string where;
  for (const auto& [place, log] : logs) {
    const auto levels = metrics::levelsOf(log.blocks, log.baseBytes);
    if (levels.empty() || place.place == "host")
      continue;
    const std::int64_t peak = peakOfTwo(levels, log.baseBytes, shiftNs);
    if (peak <= two)
      continue;
    one = metrics::peakOf(levels).bytes;
    two = peak;
    where = place.place;
  }
  asking.notes.push_back(
      two > 0
          ? fmt::format("memory of {}: both jobs together hold up to {:.1f} MB, one holds {:.1f} "
                        "MB",
                        where,
                        static_cast<double>(two) / 1e6,
                        static_cast<double>(one) / 1e6)
          : "the trace has no allocations on devices, so the memory of two jobs is not known");
  return {};
}

}  // namespace

std::int64_t peakOfTwo(const std::vector<metrics::MemoryLevel>& levels,
                       std::int64_t baseBytes,
                       std::int64_t shiftNs) {
  const metrics::HighestLevel highest(levels, baseBytes);
  std::int64_t peak = 0;
  // Between two changes of one, the highest level of the other one counts.
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::int64_t begin = levels[i].ns;
    const std::int64_t end = i + 1 < levels.size() ? levels[i + 1].ns : begin + shiftNs;
    peak = std::max(peak, levels[i].bytes + highest.in({begin - shiftNs, end - shiftNs}));
  }
  return peak;
}

Result<void> runTwoWaves(Asking& asking, const LongRun& run) {
  Scenario& scenario = asking.scenario;
  if (scenario.setting().ranks)
    return Error{ErrorCode::InvalidArgument,
                 "second-job,wave=yes cannot be asked together with another number of ranks"};
  const auto nodes = static_cast<NodeIndex>(scenario.graph().nodes());
  if (nodes > kMostWaveNodes)
    return Error{ErrorCode::InvalidArgument,
                 "the trace is too large to run twice: trim it to fewer iterations"};
  const std::int64_t shiftNs =
      std::llround(replay::meanIterationNs(scenario.job(), scenario.replay()) / 2);
  SONDE_TRY(scenario.restructure(secondWave(scenario.graph(), shiftNs)));
  replay::Resources resources = resourcesOfFirst(scenario.graph(), nodes);
  if (resources.all.empty())
    return notFound("the trace has no kernels of a device, which two jobs could share");
  std::copy_n(resources.ofNode.begin(), nodes, resources.ofNode.begin() + nodes);
  scenario.share(std::move(resources));
  asking.orderError = std::max(asking.orderError, kOrder);
  asking.notes.push_back(fmt::format(
      "the same job runs a second time on the same devices, {:.3g} ms later: kernels of both take "
      "turns, and each job has processors, loaders and copy engines of its own",
      static_cast<double>(shiftNs) / 1e6));
  const double then = run.iterationNs(asking, 2);
  if (then > 0)
    asking.notes.push_back(
        fmt::format("both jobs together have {:.2f} times the throughput of this job alone",
                    2 * run.measuredNs() / then));
  return addMemoryNote(asking, shiftNs);
}

}  // namespace sonde::engine::whatif
