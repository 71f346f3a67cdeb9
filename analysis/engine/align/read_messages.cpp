#include "analysis/engine/align/read_bounds.h"
#include "analysis/model/times.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace sonde::engine::align {
namespace {

// One end of a connection between two hosts.
struct End {
  HostIndex host;
  HostIndex peerHost;
  std::int64_t peerChannel;
  bool isMpi;
};
using Ends = std::unordered_map<std::int64_t, End>;  // by channel

struct ChannelRow {
  std::int64_t id = 0;
  std::int64_t hostId = 0;
  std::int64_t peerHostId = 0;
  std::int64_t peerId = 0;
  bool isMpi = false;

  SONDE_COLUMNS(id, hostId, peerHostId, peerId, isMpi)
};

Result<Ends> readEnds(const store::Database& trace, const HostIndexes& hosts) {
  Ends ends;
  SONDE_TRY(store::forEach<ChannelRow>(
      trace,
      "SELECT c.id, p.host_id, q.host_id AS peer_host_id, d.id AS peer_id, c.kind = 'mpi' AS "
      "is_mpi "
      "FROM channel c JOIN process p ON p.id = c.process_id JOIN channel d ON d.id = "
      "c.peer_channel_id JOIN process q ON q.id = d.process_id JOIN host h ON h.id = p.host_id "
      "JOIN host o ON o.id = q.host_id WHERE q.host_id <> p.host_id AND "
      "c.inherited = 0 AND d.inherited = 0",
      [&](const ChannelRow& row) {
        ends[row.id] = {hosts.at(row.hostId), hosts.at(row.peerHostId), row.peerId, row.isMpi};
      }));
  return ends;
}

struct TransferRow {
  std::int64_t channelId = 0;
  std::optional<std::int64_t> tag;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;

  SONDE_COLUMNS(channelId, tag, offset, bytes, startNs, durNs)
};

bool isUsable(const TransferRow& row, const End& end) {
  return (end.isMpi || row.bytes > 0) && model::isTime(row.startNs) && model::isTime(row.durNs);
}

// A send. `until` is the number of an MPI message, or the offset behind its last byte.
struct Send {
  std::int64_t channel;
  std::int64_t tag;
  std::int64_t until;
  std::int64_t offset;
  std::int64_t startNs;

  auto key() const { return std::tie(channel, tag, until); }
  bool operator<(const Send& other) const { return key() < other.key(); }
  // Whether it has the number, or the last byte, of `wanted`.
  bool covers(const Send& wanted, bool isMpi) const {
    return channel == wanted.channel && tag == wanted.tag &&
           (isMpi ? until == wanted.until : offset < wanted.until);
  }
};

// As if its channel were `channel`.
Send sendOf(const TransferRow& row, std::int64_t channel, bool isMpi) {
  // Bytes have no tag, and some messages have none. MPI uses no negative tags below −2³¹.
  constexpr std::int64_t kNoTag = -(std::int64_t{1} << 62);
  return {channel,
          isMpi ? row.tag.value_or(kNoTag) : kNoTag,
          isMpi ? row.offset : row.offset + row.bytes,
          row.offset,
          row.startNs};
}

constexpr const char* kSends =
    "SELECT channel_id, tag, offset, bytes, start_ns, dur_ns FROM transfer WHERE direction = "
    "'send' "
    "AND exact = 1";
constexpr const char* kReceives =
    "SELECT channel_id, tag, offset, bytes, start_ns, dur_ns FROM transfer WHERE direction = "
    "'receive' AND exact = 1 AND dur_ns >= 0";

}  // namespace

Result<void> readMessages(const store::Database& trace,
                          const HostIndexes& hosts,
                          HostBounds& bounds) {
  SONDE_TRY_ASSIGN(const Ends ends, readEnds(trace, hosts));
  if (ends.empty())
    return {};
  std::vector<Send> sends;
  SONDE_TRY(store::forEach<TransferRow>(trace, kSends, [&](const TransferRow& row) {
    const auto end = ends.find(row.channelId);
    if (end != ends.end() && isUsable(row, end->second))
      sends.push_back(sendOf(row, row.channelId, end->second.isMpi));
  }));
  std::sort(sends.begin(), sends.end());
  return store::forEach<TransferRow>(trace, kReceives, [&](const TransferRow& row) {
    const auto end = ends.find(row.channelId);
    if (end == ends.end() || !isUsable(row, end->second))
      return;
    const Send wanted = sendOf(row, end->second.peerChannel, end->second.isMpi);
    const auto send = std::lower_bound(sends.begin(), sends.end(), wanted);
    if (send != sends.end() && send->covers(wanted, end->second.isMpi))
      bounds.addMessage(
          end->second.peerHost, end->second.host, send->startNs, row.startNs + row.durNs);
  });
}

}  // namespace sonde::engine::align
