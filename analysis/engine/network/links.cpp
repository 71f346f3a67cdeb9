#include "analysis/engine/network/links.h"

#include "analysis/engine/device/spread.h"
#include "analysis/engine/intervals/time_range.h"
#include "analysis/engine/network/stream_ends.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace sonde::engine::network {
namespace {

using metrics::Interval;

// A call that moved bytes in one direction.
struct Piece {
  std::int64_t tag = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  Interval time{};
  bool isExact = true;
};

struct TransferRow {
  std::int64_t channelId = 0;
  bool isSend = false;
  std::optional<std::int64_t> tag;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool exact = true;
  std::int64_t startNs = 0;
  std::optional<std::int64_t> durNs;

  SONDE_COLUMNS(channelId, isSend, tag, offset, bytes, exact, startNs, durNs)
};
constexpr std::string_view kTransfers =
    "SELECT channel_id, direction = 'send' AS is_send, tag, offset, bytes, exact, start_ns, dur_ns "
    "FROM v_transfer";

struct CallRow {
  std::int64_t processId = 0;
  std::int64_t peerProcessId = 0;
  bool isSend = false;
  std::optional<std::int64_t> seq;
  std::int64_t bytes = 0;
  std::int64_t startNs = 0;
  std::optional<std::int64_t> durNs;

  SONDE_COLUMNS(processId, peerProcessId, isSend, seq, bytes, startNs, durNs)
};
constexpr std::string_view kCalls =
    "SELECT c.process_id, m.process_id AS peer_process_id, c.op = 'send' AS is_send, c.seq, "
    "coalesce(c.bytes, 0) AS bytes, c.start_ns, c.dur_ns FROM v_collective c JOIN "
    "communicator_member m ON m.communicator_id = c.communicator_id AND m.position = c.peer WHERE "
    "c.op IN ('send', 'receive') AND m.process_id IS NOT NULL";

// One direction of a connection: what left one end, and what reached the other.
struct Stream {
  LinkEnd from;
  LinkEnd to;
  std::string kind;
  std::vector<Piece> sent;
  std::vector<Piece> received;
};

bool isBefore(const Piece& a, const Piece& b) {
  return std::tie(a.tag, a.offset) < std::tie(b.tag, b.offset);
}

// The call that received the last byte of `sent`, or the message. nullptr: it was not recorded.
const Piece* receiverOf(const Stream& stream, const Piece& sent) {
  const bool isMessage = stream.kind == "mpi" || stream.kind == "call";
  Piece last = sent;
  last.offset += isMessage ? 0 : std::max<std::int64_t>(sent.bytes - 1, 0);
  const auto after =
      std::upper_bound(stream.received.begin(), stream.received.end(), last, isBefore);
  if (after == stream.received.begin())
    return nullptr;
  const Piece& found = *std::prev(after);
  const bool isIt =
      found.tag == last.tag &&
      (isMessage ? found.offset == last.offset
                 : last.offset < found.offset + std::max<std::int64_t>(found.bytes, 1));
  return isIt && found.isExact && sent.isExact ? &found : nullptr;
}

struct Gathered {
  Link link;
  std::vector<Interval> busy;
  std::vector<std::int64_t> latencies;

  void add(Stream& stream, const std::optional<Interval>& within) {
    std::sort(stream.received.begin(), stream.received.end(), isBefore);
    const bool hasSender = !stream.sent.empty();
    for (const Piece& piece : hasSender ? stream.sent : stream.received) {
      Interval time = piece.time;
      const Piece* const receiver = hasSender ? receiverOf(stream, piece) : nullptr;
      if (receiver != nullptr)
        time.end = std::max(time.end, receiver->time.end);
      if (!metrics::sharesTime(time, within))
        continue;
      if (receiver != nullptr)
        latencies.push_back(receiver->time.end - time.begin);
      ++link.messages;
      link.bytes += piece.bytes;
      if (time.end - time.begin > link.longest.end - link.longest.begin)
        link.longest = time;
      busy.push_back(time);
    }
  }
  Link finish() {
    link.busyNs = metrics::totalLength(metrics::normalise(std::move(busy)));
    if (!latencies.empty())
      link.medianLatencyNs = device::spreadOf(std::move(latencies)).p50;
    return link;
  }
};

// By the ends of a connection, and whether the one with the smaller number sends.
using Streams = std::map<std::tuple<std::int64_t, std::int64_t, std::string>, Stream>;

Result<Streams> readStreams(const store::Database& trace,
                            const std::vector<metrics::RankProcess>& ranks) {
  SONDE_TRY_ASSIGN(const auto ends, readChannelEnds(trace, ranks));
  Streams streams;
  SONDE_TRY(store::forEach<TransferRow>(trace, kTransfers, [&](const TransferRow& row) {
    const auto at = ends.find(row.channelId);
    if (at == ends.end())
      return;
    const ChannelEnd& end = at->second;
    if (!end.here.rank && !end.there.rank)
      return;
    const std::string address = end.peer == 0 ? end.remote : std::string();
    Stream& stream =
        row.isSend ? streams[{end.end, end.peer, address}] : streams[{end.peer, end.end, address}];
    stream.kind = end.kind;
    stream.from = row.isSend ? end.here : end.there;
    stream.to = row.isSend ? end.there : end.here;
    (row.isSend ? stream.sent : stream.received)
        .push_back({row.tag.value_or(0),
                    row.offset,
                    row.bytes,
                    {row.startNs, row.startNs + std::max<std::int64_t>(row.durNs.value_or(0), 0)},
                    row.exact});
  }));
  return streams;
}

Result<Streams> readCalls(const store::Database& trace,
                          const std::vector<metrics::RankProcess>& ranks) {
  SONDE_TRY_ASSIGN(const auto names, readProcessNames(trace, ranks));
  Streams streams;
  SONDE_TRY(store::forEach<CallRow>(trace, kCalls, [&](const CallRow& row) {
    const std::int64_t from = row.isSend ? row.processId : row.peerProcessId;
    const std::int64_t to = row.isSend ? row.peerProcessId : row.processId;
    Stream& stream = streams[{from, to, std::string()}];
    stream.kind = "call";
    stream.from = names.at(from);
    stream.to = names.at(to);
    (row.isSend ? stream.sent : stream.received)
        .push_back({0,
                    row.seq.value_or(0),
                    row.bytes,
                    {row.startNs, row.startNs + std::max<std::int64_t>(row.durNs.value_or(0), 0)},
                    row.seq.has_value()});
  }));
  return streams;
}

// Gathers the streams between the same ends, and gives the ends their numbers.
class Gathering {
 public:
  using Ends = std::pair<std::string, std::string>;

  explicit Gathering(const std::optional<Interval>& within) : within_(within) {}

  void add(Streams streams, const std::set<Ends>& except) {
    for (auto& [key, stream] : streams) {
      const Ends ends{stream.from.name, stream.to.name};
      if (except.contains(ends))
        continue;
      ends_[stream.from.name] = stream.from;
      ends_[stream.to.name] = stream.to;
      Gathered& sum = links_[{ends, stream.kind}];
      sum.link.kind = stream.kind;
      sum.add(stream, within_);
    }
  }
  [[nodiscard]] std::set<Ends> pairs() const {
    std::set<Ends> found;
    for (const auto& [key, link] : links_)
      found.insert(key.first);
    return found;
  }
  Links finish() {
    std::erase_if(links_, [](const auto& each) { return each.second.link.messages == 0; });
    Links result;
    for (auto& [name, end] : ends_)
      result.ends.push_back(end);
    std::stable_sort(
        result.ends.begin(), result.ends.end(), [](const LinkEnd& a, const LinkEnd& b) {
          return a.rank && b.rank ? *a.rank < *b.rank : a.rank.has_value() && !b.rank;
        });
    std::map<std::string, std::size_t> places;
    for (std::size_t at = 0; at < result.ends.size(); ++at)
      places[result.ends[at].name] = at;
    for (auto& [key, gathered] : links_) {
      Link& link = result.links.emplace_back(gathered.finish());
      link.from = places.at(key.first.first);
      link.to = places.at(key.first.second);
    }
    std::stable_sort(result.links.begin(), result.links.end(), [](const Link& a, const Link& b) {
      return a.bytes > b.bytes;
    });
    return result;
  }

 private:
  std::optional<Interval> within_;
  std::map<std::string, LinkEnd> ends_;  // by name
  std::map<std::pair<Ends, std::string>, Gathered> links_;
};

}  // namespace

std::optional<double> Link::bytesPerSecond() const noexcept {
  if (busyNs <= 0)
    return std::nullopt;
  return static_cast<double>(bytes) * 1e9 / static_cast<double>(busyNs);
}

Result<Links> readLinks(const store::Database& trace,
                        const std::vector<metrics::RankProcess>& ranks,
                        const std::optional<Interval>& within) {
  Gathering gathering(within);
  SONDE_TRY_ASSIGN(Streams streams, readStreams(trace, ranks));
  gathering.add(std::move(streams), {});
  SONDE_TRY_ASSIGN(Streams calls, readCalls(trace, ranks));
  gathering.add(std::move(calls), gathering.pairs());
  return gathering.finish();
}

}  // namespace sonde::engine::network
