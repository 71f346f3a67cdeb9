#include "analysis/engine/metrics/traffic.h"

#include "analysis/engine/metrics/messages.h"
#include "analysis/engine/metrics/stream_comparison.h"
#include "analysis/store/recorded_parts.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::Statement;

// Several processes may hold a pipe or UNIX socket, each with its own channel row. They form one
// end, named by the first one's id. TCP addresses may be reused, so TCP rows stay separate.
constexpr char kEnds[] =
    "WITH stream_end AS (SELECT c.id, c.process_id, c.kind, c.remote, c.peer_channel_id, CASE WHEN "
    "c.kind IN ('pipe', 'unix')"
    " THEN MIN(c.id) OVER (PARTITION BY p.host_id, c.kind, c.local, c.remote) ELSE c.id END AS "
    "end_id"
    " FROM channel c JOIN process p ON p.id = c.process_id) ";

// A connection of bytes has two ends; `tie` has a row for each of them.
constexpr char kPairs[] =
    ", pair(a, b) AS (SELECT DISTINCT MIN(a.end_id, b.end_id), MAX(a.end_id, b.end_id)"
    " FROM stream_end a JOIN stream_end b ON b.id = a.peer_channel_id WHERE a.kind <> 'mpi'),"
    " tie(a, b, end_id) AS (SELECT a, b, a FROM pair UNION ALL SELECT a, b, b FROM pair) ";

struct ChannelTraffic {
  std::int64_t processId = 0;
  std::string kind;
  std::string remote;
  std::int64_t endId = 0;
  std::int64_t peerEndId = 0;      // 0: not recorded
  std::int64_t peerProcessId = 0;  // of the channel that it names as its peer
  std::int64_t sentBytes = 0;
  std::int64_t receivedBytes = 0;
  std::int64_t transfers = 0;
};
using Channels = std::unordered_map<std::int64_t, ChannelTraffic>;

Result<Channels> readChannels(const store::Database& trace) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(std::string(kEnds) +
                    "SELECT e.id, e.process_id, e.kind, e.remote, e.end_id, q.end_id, q.process_id"
                    " FROM stream_end e LEFT JOIN stream_end q ON q.id = e.peer_channel_id"));
  Channels channels;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return channels;
    channels[rows.integer(0)] = {rows.integer(1),
                                 std::string(rows.text(2)),
                                 std::string(rows.text(3)),
                                 rows.integer(4),
                                 rows.integer(5),
                                 rows.integer(6)};
  }
}

Result<void> addTransfers(const store::Database& trace, Channels& channels) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT channel_id, direction = 'send', bytes FROM transfer"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    ChannelTraffic& channel = channels[rows.integer(0)];
    (rows.integer(1) != 0 ? channel.sentBytes : channel.receivedBytes) += rows.integer(2);
    ++channel.transfers;
  }
}

// Names for the other end of a channel.
class PeerNames {
 public:
  static Result<PeerNames> read(const store::Database& trace,
                                const std::vector<RankProcess>& ranks,
                                const Channels& channels) {
    PeerNames names;
    SONDE_TRY_ASSIGN(Statement rows, trace.prepare("SELECT id, pid FROM process"));
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, rows.step());
      if (!row)
        break;
      names.processes_[rows.integer(0)] = fmt::format("process {}", rows.integer(1));
    }
    for (const RankProcess& rank : ranks)
      names.processes_[rank.processId] = rank.name;
    for (const auto& [id, channel] : channels)
      if (channel.transfers > 0)
        names.users_[channel.endId].insert(channel.processId);
    return names;
  }

  std::string of(const ChannelTraffic& channel) const {
    if (channel.peerEndId == 0)
      return channel.remote;
    const auto users = users_.find(channel.peerEndId);
    if (users == users_.end())
      return processes_.at(channel.peerProcessId);
    return users->second.size() == 1 ? processes_.at(*users->second.begin())
                                     : fmt::format("{} processes", users->second.size());
  }

 private:
  std::map<std::int64_t, std::string> processes_;
  // processes that moved bytes through an end
  std::map<std::int64_t, std::set<std::int64_t>> users_;
};

// A connection and its transfers so far.
struct Connection {
  StreamComparison there;
  StreamComparison back;
  bool exact = true;

  explicit Connection(bool cut) : there(cut), back(cut) {}

  // Removes the connection from the counts of agreeing or exact pairs if it is not one.
  void finish(Conservation& sum) {
    if (!exact)
      --sum.exactPairs;
    if (!exact || !agree(sum))
      --sum.agreeingPairs;
  }

 private:
  bool agree(Conservation& sum) {
    const bool agreesThere = add(there, sum);
    const bool agreesBack = add(back, sum);
    return agreesThere && agreesBack;
  }
  static bool add(StreamComparison& way, Conservation& sum) {
    const StreamComparison::Result result = way.finish();
    sum.sentBytes += result.sentBytes;
    sum.missingBytes += result.missingBytes;
    sum.unsentBytes += result.unsentBytes;
    return result.agrees;
  }
};

}  // namespace

Result<std::vector<PeerTraffic>> trafficOf(const store::Database& trace,
                                           const std::vector<RankProcess>& ranks) {
  SONDE_TRY_ASSIGN(Channels channels, readChannels(trace));
  SONDE_TRY(addTransfers(trace, channels));
  SONDE_TRY_ASSIGN(const PeerNames peers, PeerNames::read(trace, ranks, channels));
  std::map<std::int64_t, const RankProcess*> sides;
  for (const RankProcess& rank : ranks)
    sides[rank.processId] = &rank;
  std::map<std::tuple<std::string, std::string, std::string>, PeerTraffic> sums;
  for (const auto& [id, channel] : channels) {
    const auto found = sides.find(channel.processId);
    if (found == sides.end() || channel.transfers == 0)
      continue;
    const RankProcess& side = *found->second;
    const std::string peer = peers.of(channel);
    PeerTraffic& sum = sums.try_emplace({side.name, channel.kind, peer},
                                        PeerTraffic{side.rank, side.name, channel.kind, peer})
                           .first->second;
    sum.sentBytes += channel.sentBytes;
    sum.receivedBytes += channel.receivedBytes;
    sum.transfers += channel.transfers;
    ++sum.channels;
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
  SONDE_TRY_ASSIGN(const std::int64_t cut,
                   trace.queryInteger("SELECT count(*) FROM meta WHERE key = 'trimmed'"));
  Conservation sum;
  SONDE_TRY_ASSIGN(sum.pairs,
                   trace.queryInteger(std::string(kEnds) + kPairs + "SELECT count(*) FROM pair"));
  sum.exactPairs = sum.agreeingPairs = sum.pairs;
  // SQLite sorts in a file if the rows do not fit into its cache.
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(std::string(kEnds) + kPairs +
                    "SELECT t.a, t.b, x.direction = 'send', t.end_id = t.a, x.offset, x.bytes, "
                    "x.exact FROM transfer x CROSS JOIN stream_end e ON e.id = x.channel_id"
                    " CROSS JOIN tie t ON t.end_id = e.end_id ORDER BY t.a, t.b, x.offset"));
  std::pair<std::int64_t, std::int64_t> ends;
  std::optional<Connection> connection;
  SONDE_TRY(addMessages(trace, cut != 0, sum));
  SONDE_TRY_ASSIGN(const std::int64_t inPart,
                   trace.queryInteger(fmt::format("SELECT {} OR EXISTS (SELECT 1 FROM probe_call "
                                                  "WHERE probe IN ('net', 'mpi') AND unrecorded > "
                                                  "0)",
                                                  store::kRecordedInPart)));
  if (inPart != 0) {  // each process began, stopped or had the probe off independently
    sum.exactPairs = sum.agreeingPairs = 0;
    return sum;
  }
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    const std::pair next{row ? rows.integer(0) : 0, row ? rows.integer(1) : 0};
    if (connection && next != ends) {
      connection->finish(sum);
      connection.reset();
    }
    if (!row)
      return sum;
    if (!connection)
      connection.emplace(cut != 0);
    ends = next;
    const bool sent = rows.integer(2) != 0;
    const bool byFirst = rows.integer(3) != 0;
    (sent == byFirst ? connection->there : connection->back)
        .add(sent, rows.integer(4), rows.integer(5));
    connection->exact = connection->exact && rows.integer(6) != 0;
  }
}

}  // namespace sonde::engine::metrics
