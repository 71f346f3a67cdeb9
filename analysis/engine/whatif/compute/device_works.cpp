#include "analysis/engine/whatif/compute/device_works.h"

#include "analysis/engine/whatif/launches.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace sonde::engine::whatif {
namespace {

struct NamedRow {
  std::int64_t id = 0;
  std::string text;
  bool isCollective = false;

  SONDE_COLUMNS(id, text, isCollective)
};

constexpr const char* kKernels =
    "SELECT k.id, n.text, k.id IN (SELECT kernel_id FROM collective WHERE kernel_id IS NOT NULL) "
    "AS is_collective FROM kernel k JOIN string n ON n.id = k.name_id";

}  // namespace

Result<std::vector<DeviceWork>> readDeviceWorks(const store::Database& trace,
                                                const graph::TraceGraph& job) {
  const graph::Graph& graph = job.graph;
  std::vector<DeviceWork> found;
  std::unordered_map<std::int64_t, std::size_t> kernels;
  std::unordered_map<std::int64_t, std::size_t> copies;
  for (graph::NodeIndex node = 0; node < graph.nodes(); ++node) {
    if (graph.lanes[graph.lane[node]].kind != graph::LaneKind::Stream || graph.row[node] == 0)
      continue;
    const bool isCopy = graph.kind[node] == graph::NodeKind::Copy;
    // The begin of a collective stands for all of it.
    const bool isNew = (isCopy ? copies : kernels).emplace(graph.row[node], found.size()).second;
    if (isNew)
      found.push_back({.node = node});
  }
  SONDE_TRY(store::forEach<NamedRow>(trace, kKernels, [&](const NamedRow& row) {
    if (const auto at = kernels.find(row.id); at != kernels.end()) {
      found[at->second].name = row.text;
      found[at->second].isCollective = row.isCollective;
    }
  }));
  SONDE_TRY(forEachLaunch(trace, graph, [&](const Launched& each) {
    const auto& rows = each.isCopy ? copies : kernels;
    if (const auto at = rows.find(each.row); at != rows.end()) {
      found[at->second].thread = each.thread;
      found[at->second].call = each.call;
    }
  }));
  return found;
}

}  // namespace sonde::engine::whatif
