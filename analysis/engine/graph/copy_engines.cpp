#include "analysis/engine/graph/copy_engines.h"

#include "analysis/store/read_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::engine::graph {
namespace {

struct CopyRow {
  std::int64_t id = 0;
  std::int64_t deviceId = 0;
  std::string kind;

  SONDE_COLUMNS(id, deviceId, kind)
};

constexpr const char* kCopies =
    "SELECT c.id, s.device_id, c.kind FROM copy c JOIN stream s ON s.id = c.stream_id WHERE c.kind "
    "IN ('host_to_device', 'device_to_host') AND s.device_id IS NOT NULL AND c.dur_ns > 0";

using Engine = std::pair<std::int64_t, std::string>;  // device and direction

bool isSerial(const Graph& graph, const std::vector<NodeIndex>& copies) {
  return std::adjacent_find(copies.begin(), copies.end(), [&](NodeIndex first, NodeIndex second) {
           return graph.beginNs[second] < graph.endNs(first);
         }) == copies.end();
}

}  // namespace

Result<void> addCopyEngines(const store::Database& trace, GraphBuilder& builder) {
  const Graph& graph = builder.soFar();
  std::unordered_map<std::int64_t, NodeIndex> ofCopy;
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (graph.kind[node] == NodeKind::Copy)
      ofCopy.emplace(graph.row[node], node);
  if (ofCopy.empty())
    return {};
  std::map<Engine, std::vector<NodeIndex>> engines;
  SONDE_TRY(store::forEach<CopyRow>(trace, kCopies, [&](const CopyRow& row) {
    if (const auto node = ofCopy.find(row.id); node != ofCopy.end())
      engines[{row.deviceId, row.kind}].push_back(node->second);
  }));
  for (auto& [engine, copies] : engines) {
    std::sort(copies.begin(), copies.end(), [&](NodeIndex a, NodeIndex b) {
      return std::tie(graph.beginNs[a], a) < std::tie(graph.beginNs[b], b);
    });
    if (!isSerial(graph, copies))
      continue;
    for (std::size_t i = 1; i < copies.size(); ++i)
      if (graph.lane[copies[i - 1]] != graph.lane[copies[i]])
        builder.addEdge(copies[i - 1], copies[i], EdgeKind::Queue);
  }
  return {};
}

}  // namespace sonde::engine::graph
