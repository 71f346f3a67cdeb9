#include "analysis/engine/pipeline/stage_messages.h"

#include "analysis/engine/whatif/job_lanes.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace sonde::engine::pipeline {
namespace {

using graph::LaneIndex;

struct ComputationRow {
  std::int64_t id = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  bool isForward = false;

  SONDE_COLUMNS(id, threadId, startNs, durNs, isForward)
};

constexpr const char* kComputationRows =
    "SELECT s.id, s.thread_id, s.start_ns, s.dur_ns, s.kind = 'forward' OR n.text = 'forward' AS "
    "is_forward FROM slice s LEFT JOIN string n ON n.id = s.name_id WHERE s.dur_ns > 0 AND (s.kind "
    "IN ('forward', 'backward') OR n.text IN ('forward', 'backward')) ORDER BY s.thread_id, "
    "s.start_ns, s.dur_ns DESC";

struct MessageRow {
  std::int64_t channelId = 0;  // that sends it
  std::int64_t tag = 0;
  std::int64_t offset = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;

  SONDE_COLUMNS(channelId, tag, offset, threadId, startNs, durNs)
};

// `?`: a column of the sending channel.
std::string messageRows(const char* channel, const char* direction) {
  return std::string("SELECT ") + channel +
         " AS channel_id, coalesce(x.tag, -1) AS tag, x.offset, x.thread_id, x.start_ns, x.dur_ns "
         "FROM transfer x JOIN channel c ON c.id = x.channel_id AND c.kind = 'mpi' WHERE "
         "x.dur_ns IS NOT NULL AND x.direction = '" +
         direction + "'";
}

class Reader {
 public:
  Reader(const store::Database& trace, const graph::Graph& graph) : trace_(trace), graph_(graph) {}

  Result<Computations> read() {
    SONDE_TRY_ASSIGN(lanes_, whatif::JobLanes::read(trace_, graph_));
    SONDE_TRY(store::forEach<ComputationRow>(
        trace_, kComputationRows, [this](const ComputationRow& row) { addComputation(row); }));
    SONDE_TRY(readMessages());
    return std::move(found_);
  }

 private:
  using Call = whatif::LaneSpan;

  void addComputation(const ComputationRow& row) {
    const auto call = lanes_.ofThread(row);
    if (!call)
      return;
    std::vector<std::size_t>& ofLane = found_.ofLanes[call->lane];
    if (!ofLane.empty() && call->span.beginNs < found_.all[ofLane.back()].endNs)
      return;
    ofLane.push_back(found_.all.size());
    found_.all.push_back(
        {call->lane, row.isForward, call->span.beginNs, call->span.endNs, row.id, {}, 0, {}, {}});
  }

  Result<void> readMessages() {
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
    std::map<Key, Call> sent;
    SONDE_TRY(
        store::forEach<MessageRow>(trace_, messageRows("c.id", "send"), [&](const MessageRow& row) {
          if (const auto call = lanes_.ofThread(row))
            sent.emplace(Key(row.channelId, row.tag, row.offset), *call);
        }));
    return store::forEach<MessageRow>(
        trace_, messageRows("c.peer_channel_id", "receive"), [&](const MessageRow& row) {
          const auto send = sent.find({row.channelId, row.tag, row.offset});
          const auto call = lanes_.ofThread(row);
          if (send != sent.end() && call)
            addMessage(send->second, *call);
        });
  }

  void addMessage(const Call& send, const Call& receive) {
    const auto from = found_.ofLanes.find(send.lane);
    const auto to = found_.ofLanes.find(receive.lane);
    if (from == found_.ofLanes.end() || to == found_.ofLanes.end() || from == to)
      return;
    const auto behind =
        std::partition_point(from->second.begin(), from->second.end(), [&](std::size_t each) {
          return found_.all[each].beginNs <= send.span.beginNs;
        });
    const auto consumer =
        std::partition_point(to->second.begin(), to->second.end(), [&](std::size_t each) {
          return found_.all[each].endNs <= receive.span.endNs;
        });
    if (behind == from->second.begin() || consumer == to->second.end())
      return;
    Computation& sender = found_.all[*(behind - 1)];
    Computation& receiver = found_.all[*consumer];
    if (sender.isForward != receiver.isForward)
      return;
    receiver.receiveNs = receiver.producer ? std::min(receiver.receiveNs, receive.span.beginNs)
                                           : receive.span.beginNs;
    receiver.producer = *(behind - 1);
    if (receive.span.beginNs <= send.span.endNs)
      receiver.onItsWayNs = receive.span.endNs - send.span.beginNs;
    sender.sendEndNs = std::max(sender.sendEndNs.value_or(send.span.endNs), send.span.endNs);
  }

  const store::Database& trace_;
  const graph::Graph& graph_;
  whatif::JobLanes lanes_;
  Computations found_;
};

}  // namespace

Result<Computations> readComputations(const store::Database& trace, const graph::Graph& graph) {
  return Reader(trace, graph).read();
}

}  // namespace sonde::engine::pipeline
