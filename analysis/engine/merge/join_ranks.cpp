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
  std::int64_t beginNs = 0;  // opened, or first used. MPI: times of the process, since a job's
                             // ranks live together
  std::int64_t endNs = 0;    // last used
};

// Host (0: reachable from anywhere), kind, this end's address, the other end's.
using Connection = std::tuple<std::int64_t, std::string, std::string, std::string>;
using Connections = std::map<Connection, std::vector<Endpoint>>;

bool staysOnHost(std::string_view kind, std::string_view address) {
  if (kind == "nccl" || kind == "mpi")
    return false;
  return kind != "tcp" || address.substr(0, 4) == "127." || address.substr(0, 5) == "[::1]";
}

// An end that connects does not know the other one's name before that accepts. Then the accepting
// end alone names both.
void nameOtherEnds(Connections& connections) {
  std::map<std::pair<std::int64_t, std::string>, std::string> names;  // of ends that are remote
  for (const auto& [connection, ends] : connections) {
    const auto& [host, kind, local, remote] = connection;
    if (kind == "unix" && !remote.empty())
      names.emplace(std::pair(host, remote), local);
  }
  for (auto each = connections.begin(); each != connections.end();) {
    const auto [host, kind, local, remote] = each->first;
    if (!remote.empty()) {
      ++each;
      continue;
    }
    if (const auto name = names.find({host, local}); name != names.end()) {
      std::vector<Endpoint>& known = connections[{host, kind, local, name->second}];
      known.insert(known.end(), each->second.begin(), each->second.end());
    }
    each = connections.erase(each);
  }
}

Result<Connections> readEndpoints(const store::Database& trace) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(
          "SELECT c.id, p.id, p.host_id, c.kind, c.local, c.remote, coalesce(x.sent, 0), "
          "coalesce(x.received, 0),"
          " CASE c.kind WHEN 'mpi' THEN p.start_ns"
          " ELSE coalesce(c.open_ns, x.begin_ns, p.start_ns) END,"
          " CASE c.kind WHEN 'mpi' THEN coalesce(p.end_ns, x.end_ns, p.start_ns)"
          " ELSE coalesce(x.end_ns, c.open_ns, p.end_ns) END"
          " FROM channel c JOIN process p ON p.id = c.process_id LEFT JOIN (SELECT channel_id,"
          " sum(CASE direction WHEN 'send' THEN bytes ELSE 0 END) AS sent,"
          " sum(CASE direction WHEN 'receive' THEN bytes ELSE 0 END) AS received,"
          " min(start_ns) AS begin_ns, max(start_ns + coalesce(dur_ns, 0)) AS end_ns"
          " FROM transfer GROUP BY channel_id) x ON x.channel_id = c.id"
          " WHERE c.kind IN ('tcp', 'unix', 'pipe', 'nccl', 'mpi') AND c.local <> '' AND "
          "(c.remote <> '' OR c.kind = 'unix') "
          "ORDER BY "
          "c.id"));
  Connections connections;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row) {
      nameOtherEnds(connections);
      return connections;
    }
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

using Peers = std::map<std::int64_t, std::int64_t>;

struct Candidate {
  std::int64_t bytes;      // that can have moved between the two
  std::int64_t overlapNs;  // negative: the gap between their lives
  const Endpoint* a;
  const Endpoint* b;
};

// How many of the bytes that `from` sent can have reached `to`. A receiver may be opened after the
// sender has gone, but not the other way round.
std::int64_t carried(const Endpoint& from, const Endpoint& to, bool byTime) {
  return byTime && from.beginNs > to.endNs ? 0 : std::min(from.sent, to.received);
}

// Ends that were open at the same time (`together`) come first.
std::vector<Candidate> candidatesOf(const std::vector<Endpoint>& as,
                                    const std::vector<Endpoint>& bs,
                                    bool together) {
  // Clocks of different hosts may be far apart: time only decides if there is a choice.
  const bool choice = as.size() > 1 || bs.size() > 1;
  std::vector<Candidate> candidates;
  for (const Endpoint& a : as)
    for (const Endpoint& b : bs) {
      const std::int64_t overlap = std::min(a.endNs, b.endNs) - std::max(a.beginNs, b.beginNs);
      const std::int64_t bytes = carried(a, b, choice) + carried(b, a, choice);
      if (!choice || overlap >= 0 || bytes > 0)
        candidates.push_back({bytes, overlap, &a, &b});
    }
  const auto order = [together](const Candidate& of, const Candidate& ids) {
    return std::tuple(together && of.overlapNs >= 0, of.bytes, of.overlapNs, ids.a->id, ids.b->id);
  };
  std::sort(candidates.begin(), candidates.end(), [&](const Candidate& x, const Candidate& y) {
    return order(y, x) < order(x, y);
  });
  return candidates;
}

// For addresses that may be used again. Pairs the best matches first, each end once. An end that is
// left over and moved bytes (several processes with one socket) then points at its best match of
// the same time, although that one has another peer.
void pairUses(const std::vector<Endpoint>& as,
              const std::vector<Endpoint>& bs,
              bool together,
              Peers& peers) {
  const std::vector<Candidate> candidates = candidatesOf(as, bs, together);
  for (const Candidate& candidate : candidates)
    if (!peers.contains(candidate.a->id) && !peers.contains(candidate.b->id)) {
      peers[candidate.a->id] = candidate.b->id;
      peers[candidate.b->id] = candidate.a->id;
    }
  for (const Candidate& candidate : candidates)
    if (candidate.bytes > 0 && candidate.overlapNs >= 0) {
      peers.try_emplace(candidate.a->id, candidate.b->id);
      peers.try_emplace(candidate.b->id, candidate.a->id);
    }
}

using Moved = std::int64_t Endpoint::*;

// The ends that moved bytes in this way, most first.
std::vector<Endpoint> moversOf(std::vector<Endpoint> ends, Moved moved) {
  std::erase_if(ends, [&](const Endpoint& end) { return end.*moved == 0; });
  std::stable_sort(ends.begin(), ends.end(), [&](const Endpoint& x, const Endpoint& y) {
    return x.*moved > y.*moved;
  });
  return ends;
}

// One direction of a stream whose ends several processes may hold. Pairs the largest sender with
// the largest receiver, and so on. Those left over point at the first of the other end.
void pairWay(const std::vector<Endpoint>& from, const std::vector<Endpoint>& to, Peers& peers) {
  const std::vector<Endpoint> senders = moversOf(from, &Endpoint::sent);
  const std::vector<Endpoint> receivers = moversOf(to, &Endpoint::received);
  if (senders.empty() || receivers.empty())
    return;
  for (std::size_t i = 0; i < senders.size(); ++i)
    peers.try_emplace(senders[i].id, receivers[i < receivers.size() ? i : 0].id);
  for (std::size_t i = 0; i < receivers.size(); ++i)
    peers.try_emplace(receivers[i].id, senders[i < senders.size() ? i : 0].id);
}

// For names that only one stream has: its ends belong together, at any time.
void pairHolders(const std::vector<Endpoint>& as, const std::vector<Endpoint>& bs, Peers& peers) {
  pairWay(as, bs, peers);
  pairWay(bs, as, peers);
  // Pairs each end that moved nothing with one of the others.
  for (auto a = as.begin(), b = bs.begin(); a != as.end(); ++a) {
    if (peers.contains(a->id))
      continue;
    b = std::find_if(b, bs.end(), [&](const Endpoint& end) { return !peers.contains(end.id); });
    if (b == bs.end())
      return;
    peers[a->id] = b->id;
    peers[b->id] = a->id;
  }
}

}  // namespace

Result<void> matchChannels(store::Database& trace) {
  SONDE_TRY_ASSIGN(const Connections connections, readEndpoints(trace));
  Peers peers;
  for (const auto& [connection, ends] : connections) {
    const auto& [host, kind, local, remote] = connection;
    const auto others = connections.find({host, kind, remote, local});
    const bool unique = kind == "tcp" || kind == "nccl" || kind == "mpi";
    if (others != connections.end() && local < remote) {
      if (unique)
        pairUses(ends, others->second, kind == "mpi", peers);
      else
        pairHolders(ends, others->second, peers);
    }
    if (kind == "mpi" && local == remote)  // a rank's messages to itself
      for (const Endpoint& end : ends)
        peers[end.id] = end.id;
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
      " p.start_ns, coalesce(p.end_ns, p.start_ns) AS end_ns,"
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
      // If several jobs have the same keys, the one of the same time.
      " ORDER BY other.start_ns <= me.end_ns AND me.start_ns <= other.end_ns DESC, other.id LIMIT "
      "1), process_id);"
      "DROP TABLE temp.joining");
}

}  // namespace sonde::engine::merge
