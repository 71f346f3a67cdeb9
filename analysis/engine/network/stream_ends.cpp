#include "analysis/engine/network/stream_ends.h"

#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace sonde::engine::network {
namespace {

using store::Statement;

// Named by the first channel of the end. TCP addresses may be reused, so TCP rows stay separate.
constexpr std::string_view kEndsSql =
    "WITH used AS (SELECT DISTINCT channel_id FROM transfer), ends AS (SELECT c.id, c.process_id, "
    "c.kind, c.remote, c.peer_channel_id, CASE WHEN c.kind IN ('pipe', 'unix') THEN MIN(c.id) OVER "
    "(PARTITION BY p.host_id, c.kind, c.local, c.remote) ELSE c.id END AS end_id FROM channel c "
    "JOIN process p ON p.id = c.process_id) SELECT e.id, e.process_id, e.kind, e.remote, e.end_id, "
    "q.end_id, q.process_id, e.id IN used FROM ends e LEFT JOIN ends q ON q.id = e.peer_channel_id";

struct Row {
  ChannelEnd end;
  std::int64_t processId = 0;
  std::int64_t peerProcessId = 0;
  bool isUsed = false;
};

}  // namespace

Result<std::map<std::int64_t, LinkEnd>> readProcessNames(
    const store::Database& trace, const std::vector<metrics::RankProcess>& ranks) {
  std::map<std::int64_t, LinkEnd> names;
  SONDE_TRY(store::forEachRow(
      trace, "SELECT id, pid, rank FROM process", [&](const Statement& row) -> Result<void> {
        names[row.integer(0)].name =
            row.isNull(2) ? fmt::format("process {}", row.integer(1))
                          : fmt::format("process {} (rank {})", row.integer(1), row.integer(2));
        return {};
      }));
  for (const metrics::RankProcess& rank : ranks)
    names[rank.processId] = {rank.name, rank.rank};
  return names;
}

Result<std::unordered_map<std::int64_t, ChannelEnd>> readChannelEnds(
    const store::Database& trace, const std::vector<metrics::RankProcess>& ranks) {
  SONDE_TRY_ASSIGN(const auto names, readProcessNames(trace, ranks));
  std::vector<std::pair<std::int64_t, Row>> rows;
  std::map<std::int64_t, std::set<std::int64_t>> users;  // processes that moved bytes, by end
  SONDE_TRY(store::forEachRow(trace, kEndsSql, [&](const Statement& row) -> Result<void> {
    Row& read = rows.emplace_back(row.integer(0), Row{}).second;
    read.processId = row.integer(1);
    read.end.kind = row.text(2);
    read.end.remote = row.text(3);
    read.end.end = row.integer(4);
    read.end.peer = row.integer(5);
    read.peerProcessId = row.integer(6);
    read.isUsed = row.integer(7) != 0;
    if (read.isUsed)
      users[read.end.end].insert(read.processId);
    return {};
  }));
  const auto nameOf = [&](std::int64_t end, std::int64_t processId) -> LinkEnd {
    const auto found = users.find(end);
    if (found != users.end() && found->second.size() > 1)
      return {fmt::format("{} processes", found->second.size()), std::nullopt};
    return names.at(found == users.end() ? processId : *found->second.begin());
  };
  std::unordered_map<std::int64_t, ChannelEnd> ends;
  for (auto& [id, row] : rows) {
    if (!row.isUsed)
      continue;
    row.end.here = nameOf(row.end.end, row.processId);
    const std::string address = row.end.remote.empty() ? "unnamed " + row.end.kind : row.end.remote;
    row.end.there = row.end.peer == 0 ? LinkEnd{address, std::nullopt}
                                      : nameOf(row.end.peer, row.peerProcessId);
    ends.emplace(id, std::move(row.end));
  }
  return ends;
}

}  // namespace sonde::engine::network
