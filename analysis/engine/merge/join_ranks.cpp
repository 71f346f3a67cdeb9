#include "analysis/engine/merge/join_ranks.h"

#include "analysis/store/statement.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sonde::engine::merge {
namespace {

using store::Statement;

struct Endpoint {
  std::int64_t id = 0;
  std::int64_t processId = 0;
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t beginNs = 0;  // opened, or first used
  std::int64_t endNs = 0;    // last used
};

// Host (0: reachable from any), kind, this end's address, the other end's.
using Connection = std::tuple<std::int64_t, std::string, std::string, std::string>;
using Connections = std::map<Connection, std::vector<Endpoint>>;

bool staysOnHost(std::string_view kind, std::string_view address) {
  return kind != "tcp" || address.substr(0, 4) == "127." || address.substr(0, 5) == "[::1]";
}

Result<Connections> readEndpoints(const store::Database& trace) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(
          "SELECT c.id, p.id, p.host_id, c.kind, c.local, c.remote, coalesce(x.sent, 0), "
          "coalesce(x.received, 0),"
          " coalesce(c.open_ns, x.begin_ns, p.start_ns), coalesce(x.end_ns, c.open_ns, p.end_ns)"
          " FROM channel c JOIN process p ON p.id = c.process_id LEFT JOIN (SELECT channel_id,"
          " sum(CASE direction WHEN 'send' THEN bytes ELSE 0 END) AS sent,"
          " sum(CASE direction WHEN 'receive' THEN bytes ELSE 0 END) AS received,"
          " min(start_ns) AS begin_ns, max(start_ns + coalesce(dur_ns, 0)) AS end_ns"
          " FROM transfer GROUP BY channel_id) x ON x.channel_id = c.id"
          " WHERE c.kind IN ('tcp', 'unix', 'pipe') AND c.local <> '' AND c.remote <> '' ORDER BY "
          "c.id"));
  Connections connections;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return connections;
    const std::string kind(rows.text(3));
    const std::string local(rows.text(4));
    const std::int64_t host = staysOnHost(kind, local) ? rows.integer(2) : 0;
    connections[{host, kind, local, std::string(rows.text(5))}].push_back({rows.integer(0),
                                                                           rows.integer(1),
                                                                           rows.integer(6),
                                                                           rows.integer(7),
                                                                           rows.integer(8),
                                                                           rows.integer(9)});
  }
}

struct Candidate {
  std::int64_t bytes;      // that could have gone between the two
  std::int64_t overlapNs;  // negative: how far apart their lives are
  const Endpoint* a;
  const Endpoint* b;
};

std::vector<Candidate> candidatesOf(const std::vector<Endpoint>& as,
                                    const std::vector<Endpoint>& bs) {
  // Clocks of different hosts may be far apart: time decides only where there is a choice.
  const bool choice = as.size() > 1 || bs.size() > 1;
  std::vector<Candidate> candidates;
  for (const Endpoint& a : as)
    for (const Endpoint& b : bs) {
      const std::int64_t overlap = std::min(a.endNs, b.endNs) - std::max(a.beginNs, b.beginNs);
      const std::int64_t bytes = std::min(a.sent, b.received) + std::min(a.received, b.sent);
      if (!choice || overlap >= 0)
        candidates.push_back({bytes, overlap, &a, &b});
    }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    return std::tuple(y.bytes, y.overlapNs, x.a->id, x.b->id) <
           std::tuple(x.bytes, x.overlapNs, y.a->id, y.b->id);
  });
  return candidates;
}

using Peers = std::map<std::int64_t, std::int64_t>;

// Best pairs first, each end once; then what is left over and moved bytes (several writers of one
// pipe) points at its best other end, which points elsewhere.
void pairEnds(const std::vector<Candidate>& candidates, Peers& peers) {
  for (const Candidate& candidate : candidates)
    if (!peers.contains(candidate.a->id) && !peers.contains(candidate.b->id)) {
      peers[candidate.a->id] = candidate.b->id;
      peers[candidate.b->id] = candidate.a->id;
    }
  for (const Candidate& candidate : candidates)
    if (candidate.bytes > 0) {
      peers.try_emplace(candidate.a->id, candidate.b->id);
      peers.try_emplace(candidate.b->id, candidate.a->id);
    }
}

}  // namespace

Result<void> matchChannels(store::Database& trace) {
  SONDE_TRY_ASSIGN(const Connections connections, readEndpoints(trace));
  Peers peers;
  for (const auto& [connection, ends] : connections) {
    const auto& [host, kind, local, remote] = connection;
    const auto others = connections.find({host, kind, remote, local});
    if (others != connections.end() && local < remote)
      pairEnds(candidatesOf(ends, others->second), peers);
  }
  SONDE_TRY_ASSIGN(Statement update,
                   trace.prepare("UPDATE channel SET peer_channel_id = ?2 WHERE id = ?1"));
  for (const auto& [channel, peer] : peers)
    SONDE_TRY(update.bindAll(channel, peer).run());
  return {};
}

Result<void> joinCommunicators(store::Database& trace) {
  return trace.exec(
      "CREATE TEMP TABLE joining AS SELECT c.id, c.process_id, c.job_key, c.size, c.position, "
      "p.rank,"
      " row_number() OVER (PARTITION BY c.process_id, c.job_key, c.size ORDER BY c.id) AS ordinal"
      " FROM communicator c JOIN process p ON p.id = c.process_id WHERE c.job_key <> '';"
      "CREATE INDEX temp.joining_by_key ON joining(job_key, size, ordinal);"
      "CREATE INDEX temp.joining_by_id ON joining(id);"
      "UPDATE communicator_member AS m SET process_id = coalesce((SELECT other.process_id FROM "
      "temp.joining me"
      " JOIN temp.joining other ON other.job_key = me.job_key AND other.size = me.size AND "
      "other.ordinal = me.ordinal"
      " WHERE me.id = m.communicator_id AND coalesce(other.position = m.position, other.rank = "
      "m.rank)"
      " ORDER BY other.id LIMIT 1), process_id);"
      "DROP TABLE temp.joining");
}

}  // namespace sonde::engine::merge
