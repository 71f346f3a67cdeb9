#include "analysis/engine/metrics/traffic.h"

#include "analysis/engine/metrics/intervals.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::Statement;

std::string peerName(const Statement& row, const std::map<std::int64_t, std::string>& names) {
  if (row.isNull(2))
    return std::string(row.text(4));
  const auto name = names.find(row.integer(2));
  return name == names.end() ? fmt::format("process {}", row.integer(3)) : name->second;
}

// The bytes that one end sent or received, as intervals of the stream, and how many there were.
struct Stream {
  Intervals offsets;
  std::int64_t bytes = 0;
};
struct End {
  Stream sent;
  Stream received;
  bool exact = true;
};

// A pipe or a UNIX socket may be held by several processes, each with a channel row of its own: the
// end of such a stream is all of them, and has the id of the first. A TCP connection's addresses
// may be used again, so its rows stay apart.
constexpr char kEnds[] =
    "WITH stream_end AS (SELECT c.id, c.peer_channel_id, CASE WHEN c.kind IN ('pipe', 'unix')"
    " THEN MIN(c.id) OVER (PARTITION BY p.host_id, c.kind, c.local, c.remote) ELSE c.id END AS "
    "end_id"
    " FROM channel c JOIN process p ON p.id = c.process_id) ";

Result<std::map<std::int64_t, End>> readEnds(const store::Database& trace) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(
          std::string(kEnds) +
          "SELECT e.end_id, x.direction = 'send', x.offset, x.bytes, x.exact FROM transfer x"
          " JOIN stream_end e ON e.id = x.channel_id"));
  std::map<std::int64_t, End> ends;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return ends;
    End& end = ends[rows.integer(0)];
    Stream& stream = rows.integer(1) != 0 ? end.sent : end.received;
    stream.offsets.push_back({rows.integer(2), rows.integer(2) + rows.integer(3)});
    stream.bytes += rows.integer(3);
    end.exact = end.exact && rows.integer(4) != 0;
  }
}

// Adds one direction; whether it agrees.
bool compare(const Stream& sent, const Stream& received, Conservation& sum) {
  const Intervals out = normalise(sent.offsets);
  const Intervals in = normalise(received.offsets);
  sum.sentBytes += sent.bytes;
  sum.missingBytes += totalLength(subtract(out, in));
  sum.unsentBytes += totalLength(subtract(in, out));
  return out == in && totalLength(out) == sent.bytes && totalLength(in) == received.bytes;
}

}  // namespace

Result<std::vector<PeerTraffic>> trafficOf(const store::Database& trace,
                                           const std::vector<RankProcess>& ranks) {
  std::map<std::int64_t, std::string> names;
  for (const RankProcess& rank : ranks)
    names[rank.processId] = rank.name;
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare("SELECT c.process_id, c.kind, q.id, q.pid, c.remote,"
                    " sum(CASE WHEN x.direction = 'send' THEN x.bytes ELSE 0 END),"
                    " sum(CASE WHEN x.direction = 'receive' THEN x.bytes ELSE 0 END), count(*),"
                    " count(DISTINCT c.id) FROM transfer x JOIN channel c ON c.id = x.channel_id"
                    " LEFT JOIN channel e ON e.id = c.peer_channel_id LEFT JOIN process q ON q.id "
                    "= e.process_id"
                    " GROUP BY 1, 2, 3, CASE WHEN q.id IS NULL THEN c.remote END"));
  std::map<std::tuple<std::string, std::string, std::string>, PeerTraffic> sums;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    const auto rank = names.find(rows.integer(0));
    if (rank == names.end())
      continue;
    const std::string kind(rows.text(1));
    const std::string peer = peerName(rows, names);
    PeerTraffic& sum =
        sums.try_emplace({rank->second, kind, peer}, PeerTraffic{rank->second, kind, peer})
            .first->second;
    sum.sentBytes += rows.integer(5);
    sum.receivedBytes += rows.integer(6);
    sum.transfers += rows.integer(7);
    sum.channels += rows.integer(8);
  }
  std::vector<PeerTraffic> traffic;
  traffic.reserve(sums.size());
  for (auto& [key, sum] : sums)
    traffic.push_back(std::move(sum));
  std::stable_sort(traffic.begin(), traffic.end(), [](const PeerTraffic& a, const PeerTraffic& b) {
    return a.sentBytes + a.receivedBytes > b.sentBytes + b.receivedBytes;
  });
  return traffic;
}

Result<Conservation> conservationOf(const store::Database& trace) {
  SONDE_TRY_ASSIGN(auto ends, readEnds(trace));
  SONDE_TRY_ASSIGN(
      Statement pairs,
      trace.prepare(std::string(kEnds) +
                    "SELECT DISTINCT MIN(a.end_id, b.end_id), MAX(a.end_id, b.end_id)"
                    " FROM stream_end a JOIN stream_end b ON b.id = a.peer_channel_id"));
  Conservation sum;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, pairs.step());
    if (!row)
      return sum;
    const End& a = ends[pairs.integer(0)];
    const End& b = ends[pairs.integer(1)];
    ++sum.pairs;
    if (!a.exact || !b.exact)
      continue;
    ++sum.exactPairs;
    const bool there = compare(a.sent, b.received, sum);
    const bool back = compare(b.sent, a.received, sum);
    sum.agreeingPairs += there && back ? 1 : 0;
  }
}

}  // namespace sonde::engine::metrics
