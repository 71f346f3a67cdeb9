// Waits of threads for each other.
#include "analysis/engine/waits/byte_senders.h"
#include "analysis/engine/waits/wait_sink.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace sonde::engine::waits {
namespace {

struct Handoff {
  std::int64_t wakeeThreadId = 0;
  std::int64_t wakerThreadId = 0;
  std::int64_t blockNs = 0;
  std::int64_t wakeNs = 0;
  std::int64_t wakerNs = 0;

  SONDE_COLUMNS(wakeeThreadId, wakerThreadId, blockNs, wakeNs, wakerNs)
};

Result<void> readHandoffs(const store::Database& trace, WaitSink& sink) {
  return store::forEach<Handoff>(
      trace,
      "SELECT * FROM handoff WHERE waker_thread_id IS NOT NULL AND waker_ns IS NOT NULL",
      [&](const Handoff& row) {
        sink.add({sink.laneOfThread(row.wakeeThreadId),
                  sink.laneOfThread(row.wakerThreadId),
                  row.blockNs,
                  row.wakeNs,
                  row.wakerNs});
      });
}

// Messages of a channel are counted by tag. Messages without a tag get one that MPI does not use.
struct Message {
  std::int64_t channelId = 0;
  std::int64_t tag = 0;
  std::int64_t offset = 0;  // its number
  std::int64_t startNs = 0;
  std::int64_t threadId = 0;

  auto key() const { return std::tie(channelId, tag, offset); }
  bool operator<(const Message& other) const { return key() < other.key(); }

  SONDE_COLUMNS(channelId, tag, offset, startNs, threadId)
};

struct Receive {
  std::int64_t peerChannelId = 0;
  std::int64_t tag = 0;
  std::int64_t offset = 0;
  std::int64_t startNs = 0;
  std::int64_t callEndNs = 0;
  std::int64_t endNs = 0;
  std::int64_t threadId = 0;

  SONDE_COLUMNS(peerChannelId, tag, offset, startNs, callEndNs, endNs, threadId)
};

constexpr const char* kMessageColumns =
    "SELECT x.channel_id, coalesce(x.tag, -4611686018427387904) AS tag, x.offset, x.start_ns, "
    "x.thread_id";

// MPI: a receive, or the wait for it, ends after its message was sent.
Result<void> readMessages(const store::Database& trace, WaitSink& sink) {
  SONDE_TRY_ASSIGN(
      std::vector<Message> sent,
      store::readAll<Message>(
          trace,
          std::string(kMessageColumns) +
              " FROM transfer x JOIN channel c ON c.id = x.channel_id AND c.kind = 'mpi' "
              "WHERE x.direction = 'send' AND c.peer_channel_id IS NOT NULL"));
  if (sent.empty())
    return {};
  std::sort(sent.begin(), sent.end());
  return store::forEach<Receive>(
      trace,
      std::string(kMessageColumns) +
          ", x.start_ns + x.dur_ns AS end_ns, c.peer_channel_id, CASE WHEN x.slice_id IS NULL THEN "
          "x.start_ns ELSE x.start_ns + x.dur_ns END AS call_end_ns "
          "FROM transfer x JOIN channel c ON c.id = x.channel_id AND c.kind = 'mpi' "
          "WHERE x.direction = 'receive' AND x.dur_ns IS NOT NULL",
      [&](const Receive& row) {
        const Message wanted{row.peerChannelId, row.tag, row.offset};
        const auto send = std::lower_bound(sent.begin(), sent.end(), wanted);
        if (send == sent.end() || wanted < *send)
          return;
        const std::int64_t from =
            sink.waitsFrom(row.threadId, row.startNs, row.callEndNs, row.endNs);
        sink.add({sink.laneOfThread(row.threadId),
                  sink.laneOfThread(send->threadId),
                  from,
                  row.endNs,
                  send->startNs});
      });
}

// Sockets and pipes: a receive gets its last byte after that was sent.
Result<void> readBytes(const store::Database& trace, WaitSink& sink) {
  SONDE_TRY_ASSIGN(const ByteSenders senders, ByteSenders::read(trace));
  return store::forEach<Bytes>(trace, kReceivedBytes, [&](const Bytes& received) {
    if (const Bytes* const sent = senders.senderOf(received))
      sink.add({sink.laneOfThread(received.threadId),
                sink.laneOfThread(sent->threadId),
                received.startNs,
                received.endNs,
                sent->startNs});
  });
}

struct Child {
  std::int64_t id = 0;
  std::int64_t parentId = 0;

  SONDE_COLUMNS(id, parentId)
};

// A process begins where its parent is at that time.
Result<void> readProcesses(const store::Database& trace, WaitSink& sink) {
  std::map<LaneIndex, std::int64_t> first;
  for (const auto& [id, facts] : sink.lanes().threads)
    if (!facts.outermost.empty()) {
      std::int64_t& begin = first.emplace(facts.lane, INT64_MAX).first->second;
      for (const Outermost& each : facts.outermost)
        begin = std::min(begin, each.begin);
    }
  return store::forEach<Child>(
      trace,
      "SELECT p.id, p.parent_id FROM process p JOIN process q ON q.id = p.parent_id AND "
      "q.host_id = p.host_id",
      [&](const Child& row) {
        const LaneIndex child = sink.laneOfProcess(row.id);
        if (const auto begin = first.find(child); begin != first.end())
          sink.add({child,
                    sink.laneOfProcess(row.parentId),
                    Wait::kStart,
                    begin->second,
                    begin->second});
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
