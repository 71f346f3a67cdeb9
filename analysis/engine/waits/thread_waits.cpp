// Waits of threads for each other.
#include "analysis/engine/waits/wait_sink.h"
#include "analysis/store/each_row.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace sonde::engine::waits {
namespace {

using store::Statement;

Result<void> readHandoffs(const store::Database& trace, WaitSink& sink) {
  return store::forEachRow(
      trace,
      "SELECT wakee_thread_id, waker_thread_id, block_ns, wake_ns, waker_ns FROM handoff "
      "WHERE waker_thread_id IS NOT NULL AND waker_ns IS NOT NULL",
      [&](const Statement& row) -> Result<void> {
        sink.add({sink.laneOfThread(row.integer(0)),
                  sink.laneOfThread(row.integer(1)),
                  row.integer(2),
                  row.integer(3),
                  row.integer(4)});
        return {};
      });
}

// Messages of a channel are counted by tag. Messages without a tag get one that MPI does not use.
struct Message {
  std::int64_t channel;
  std::int64_t tag;
  std::int64_t number;
  std::int64_t at = 0;  // of its send
  LaneIndex lane = kNoLane;

  auto key() const { return std::tie(channel, tag, number); }
  bool operator<(const Message& other) const { return key() < other.key(); }
};

constexpr const char* kMessageColumns =
    "x.channel_id, coalesce(x.tag, -4611686018427387904), x.offset, x.start_ns, x.thread_id";

// MPI: a receive, or the wait for it, ends after its message was sent.
Result<void> readMessages(const store::Database& trace, WaitSink& sink) {
  std::vector<Message> sent;
  SONDE_TRY(store::forEachRow(
      trace,
      std::string("SELECT ") + kMessageColumns +
          " FROM transfer x JOIN channel c ON c.id = x.channel_id AND c.kind = 'mpi' "
          "WHERE x.direction = 'send' AND c.peer_channel_id IS NOT NULL",
      [&](const Statement& row) -> Result<void> {
        sent.push_back({row.integer(0),
                        row.integer(1),
                        row.integer(2),
                        row.integer(3),
                        sink.laneOfThread(row.integer(4))});
        return {};
      }));
  if (sent.empty())
    return {};
  std::sort(sent.begin(), sent.end());
  return store::forEachRow(
      trace,
      std::string("SELECT ") + kMessageColumns +
          ", x.start_ns + x.dur_ns, c.peer_channel_id, "
          "CASE WHEN x.slice_id IS NULL THEN x.start_ns ELSE x.start_ns + x.dur_ns END "
          "FROM transfer x JOIN channel c ON c.id = x.channel_id AND c.kind = 'mpi' "
          "JOIN channel d ON d.id = c.peer_channel_id JOIN process p ON p.id = c.process_id "
          "JOIN process q ON q.id = d.process_id AND q.host_id = p.host_id "
          "WHERE x.direction = 'receive' AND x.dur_ns IS NOT NULL",
      [&](const Statement& row) -> Result<void> {
        const Message wanted{row.integer(6), row.integer(1), row.integer(2)};
        const auto send = std::lower_bound(sent.begin(), sent.end(), wanted);
        if (send == sent.end() || wanted < *send)
          return {};
        const std::int64_t end = row.integer(5);
        const std::int64_t from =
            sink.waitsFrom(row.integer(4), row.integer(3), row.integer(7), end);
        sink.add({sink.laneOfThread(row.integer(4)), send->lane, from, end, send->at});
        return {};
      });
}

// Sockets and pipes: a receive gets its last byte after that was sent.
Result<void> readBytes(const store::Database& trace, WaitSink& sink) {
  struct Sent {
    std::int64_t until;  // offset behind the last byte
    std::int64_t at;
    LaneIndex lane;
  };
  std::map<std::int64_t, std::vector<Sent>> sent;  // by channel
  SONDE_TRY(store::forEachRow(
      trace,
      "SELECT x.channel_id, x.offset + x.bytes, x.start_ns, x.thread_id FROM transfer x "
      "JOIN channel c ON c.id = x.channel_id WHERE c.kind IN ('tcp', 'unix', 'pipe') AND "
      "x.direction = 'send' AND x.bytes > 0 AND c.peer_channel_id IS NOT NULL "
      "ORDER BY x.channel_id, x.offset",
      [&](const Statement& row) -> Result<void> {
        sent[row.integer(0)].push_back(
            {row.integer(1), row.integer(2), sink.laneOfThread(row.integer(3))});
        return {};
      }));
  return store::forEachRow(
      trace,
      "SELECT x.thread_id, c.peer_channel_id, x.offset + x.bytes, x.start_ns, "
      "x.start_ns + x.dur_ns FROM transfer x JOIN channel c ON c.id = x.channel_id "
      "JOIN channel e ON e.id = c.peer_channel_id JOIN process p ON p.id = c.process_id "
      "JOIN process q ON q.id = e.process_id AND q.host_id = p.host_id "
      "WHERE c.kind IN ('tcp', 'unix', 'pipe') AND x.direction = 'receive' AND x.bytes > 0 "
      "AND x.dur_ns IS NOT NULL",
      [&](const Statement& row) -> Result<void> {
        const auto channel = sent.find(row.integer(1));
        if (channel == sent.end())
          return {};
        const auto by = std::lower_bound(
            channel->second.begin(),
            channel->second.end(),
            row.integer(2),
            [](const Sent& each, std::int64_t until) { return each.until < until; });
        if (by != channel->second.end())
          sink.add({sink.laneOfThread(row.integer(0)),
                    by->lane,
                    row.integer(3),
                    row.integer(4),
                    by->at});
        return {};
      });
}

// A process begins where its parent is at that time.
Result<void> readProcesses(const store::Database& trace, WaitSink& sink) {
  std::map<LaneIndex, std::int64_t> first;
  for (const auto& [id, facts] : sink.lanes().threads)
    if (!facts.outermost.empty()) {
      std::int64_t& begin = first.emplace(facts.lane, INT64_MAX).first->second;
      for (const Outermost& each : facts.outermost)
        begin = std::min(begin, each.begin);
    }
  return store::forEachRow(
      trace,
      "SELECT p.id, p.parent_id FROM process p JOIN process q ON q.id = p.parent_id AND "
      "q.host_id = p.host_id",
      [&](const Statement& row) -> Result<void> {
        const LaneIndex child = sink.laneOfProcess(row.integer(0));
        const LaneIndex parent = sink.laneOfProcess(row.integer(1));
        if (const auto begin = first.find(child); begin != first.end())
          sink.add({child, parent, Wait::kStart, begin->second, begin->second});
        return {};
      });
}

}  // namespace

Result<void> addThreadWaits(const store::Database& trace, WaitSink& sink) {
  SONDE_TRY(readHandoffs(trace, sink));
  SONDE_TRY(readMessages(trace, sink));
  SONDE_TRY(readBytes(trace, sink));
  return readProcesses(trace, sink);
}

}  // namespace sonde::engine::waits
