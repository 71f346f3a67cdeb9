#include "analysis/engine/graph/proxy_steps.h"

#include "analysis/model/times.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

namespace sonde::engine::graph {

// A step, with its end of a connection, its collective and that one's kernel.
struct ProxySteps::Row {
  std::int64_t channelId = 0;
  std::int64_t peerChannelId = 0;
  std::int64_t processId = 0;
  std::int64_t hostId = 0;
  std::optional<std::int64_t> rank;
  std::string local;
  bool isSend = false;
  std::int64_t step = 0;
  bool isRing = false;  // each rank begins with a part of its own
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t seq = 0;
  std::int64_t kernelId = 0;
  std::int64_t streamId = 0;
  std::int64_t kernelNs = 0;

  SONDE_COLUMNS(channelId,
                peerChannelId,
                processId,
                hostId,
                rank,
                local,
                isSend,
                step,
                isRing,
                startNs,
                endNs,
                seq,
                kernelId,
                streamId,
                kernelNs)
};

namespace {

constexpr const char* kSteps =
    "SELECT x.channel_id, c.peer_channel_id, c.process_id, p.host_id, p.rank, c.local, x.direction "
    "= 'send' AS is_send, x.step, l.op IN ('allreduce', 'allgather', 'reducescatter') AND "
    "coalesce(l.algorithm, 'RING') = 'RING' AS is_ring, x.start_ns, x.start_ns + x.dur_ns AS "
    "end_ns, l.seq, k.id AS "
    "kernel_id, k.stream_id, k.start_ns AS kernel_ns FROM channel c CROSS JOIN transfer x ON "
    "x.channel_id = c.id JOIN process p ON p.id = c.process_id JOIN collective l ON l.id = "
    "x.collective_id JOIN kernel k ON k.id = l.kernel_id WHERE c.kind = 'nccl' AND x.step IS NOT "
    "NULL AND x.dur_ns >= 0 AND l.seq IS NOT NULL AND k.dur_ns >= 0 ORDER BY c.id, x.start_ns, "
    "x.id";

// "nccl:HASH/CHANNEL" of "nccl:HASH/CHANNEL/FROM>TO/send".
std::string blockOf(const std::string& local) {
  const std::size_t direction = local.rfind('/');
  const std::size_t ranks = direction == std::string::npos || direction == 0
                                ? direction
                                : local.rfind('/', direction - 1);
  return local.substr(0, ranks);
}

}  // namespace

std::size_t ProxySteps::connectionOf(const Row& row) {
  const auto [place, isNew] = ofChannel_.emplace(row.channelId, connections_.size());
  if (!isNew)
    return place->second;
  Connection& made = connections_.emplace_back();
  made.lane = {LaneKind::Connection,
               row.channelId,
               row.processId,
               row.hostId,
               row.rank.value_or(-1),
               row.local};
  made.peerChannelId = row.peerChannelId;
  made.isSend = row.isSend;
  made.isOwnData = row.local.find("/p2p/") != std::string::npos;
  return place->second;
}

Result<void> ProxySteps::read(const store::Database& trace,
                              const align::JobClock& clock,
                              waits::Lanes& lanes) {
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> blocks;  // by process and name
  SONDE_TRY(store::forEach<Row>(trace, kSteps, [&](const Row& row) {
    const auto stream = lanes.ofStream.find(row.streamId);
    if (stream == lanes.ofStream.end() || !model::isTime(row.startNs) ||
        !model::isTime(row.endNs) || !model::isTime(row.kernelNs))
      return;
    Connection& on = connections_[connectionOf(row)];
    on.blockId =
        blocks.emplace(std::pair(row.processId, blockOf(row.local)), blocks.size()).first->second;
    on.steps.push_back({clock.toJob(row.hostId, row.startNs),
                        clock.toJob(row.hostId, row.endNs),
                        {stream->second, clock.toJob(row.hostId, row.kernelNs)},
                        row.kernelId,
                        row.seq,
                        row.step,
                        row.isRing ? row.step - 1 : row.step});
  }));
  first_ = lanes.count;
  for (std::size_t at = 0; at < connections_.size(); ++at)
    lanes.add();
  sortSteps();
  findSends(clock);
  return {};
}

void ProxySteps::sortSteps() {
  for (std::size_t at = 0; at < connections_.size(); ++at) {
    Connection& each = connections_[at];
    std::stable_sort(each.steps.begin(), each.steps.end(), [&](const Step& a, const Step& b) {
      return each.isSend ? a.startNs < b.startNs : a.endNs < b.endNs;
    });
    if (!each.isSend)
      ofBlock_[each.blockId].push_back(at);
    for (const Step& step : each.steps)
      if (Receivers& known = ofKernel_[step.kernel];
          !each.isSend && (known.empty() || known.back() != at))
        known.push_back(at);
  }
}

// Step n of one end of a collective is step n of the other end.
void ProxySteps::findSends(const align::JobClock& clock) {
  std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, std::size_t> sends;
  for (std::size_t at = 0; at < connections_.size(); ++at)
    if (connections_[at].isSend)
      for (std::size_t step = 0; step < connections_[at].steps.size(); ++step)
        sends.emplace(
            std::tuple(at, connections_[at].steps[step].seq, connections_[at].steps[step].number),
            step);
  for (Connection& each : connections_) {
    const auto peer = ofChannel_.find(each.peerChannelId);
    if (each.isSend || peer == ofChannel_.end() ||
        !clock.areComparable(each.lane.hostId, connections_[peer->second].lane.hostId))
      continue;
    for (Step& step : each.steps) {
      const auto sent = sends.find({peer->second, step.seq, step.number});
      if (sent != sends.end() &&
          connections_[peer->second].steps[sent->second].startNs <= step.endNs)
        step.sent = {peer->second, sent->second};
    }
  }
}

void ProxySteps::describe(std::vector<Lane>& lanes) const {
  for (std::size_t at = 0; at < connections_.size(); ++at)
    lanes[first_ + at] = connections_[at].lane;
}

void ProxySteps::addNodes(LaneIndex lane, LaneNodes& nodes) {
  if (lane < first_ || lane - first_ >= connections_.size())
    return;
  Connection& on = connections_[lane - first_];
  std::int64_t free = std::numeric_limits<std::int64_t>::min();
  for (Step& step : on.steps) {
    std::int64_t begin = step.startNs;
    if (step.sent != kUnknown)
      begin = std::max(begin, connections_[step.sent.first].steps[step.sent.second].startNs);
    begin = on.isSend ? begin : std::min(std::max(begin, free), step.endNs);
    free = step.endNs;
    step.node = nodes.add(NodeKind::Transfer, begin, on.isSend ? begin : free, step.kernelRow);
  }
}

std::vector<const ProxySteps::Step*> ProxySteps::endedBy(const Receivers& receivers,
                                                         const KernelPlace& kernel,
                                                         std::int64_t ns,
                                                         std::int64_t number) const {
  std::vector<const Step*> found;
  for (const std::size_t at : receivers) {
    const std::vector<Step>& steps = connections_[at].steps;
    auto behind =
        std::upper_bound(steps.begin(), steps.end(), ns, [](std::int64_t until, const Step& step) {
          return until < step.endNs;
        });
    while (behind != steps.begin() && (behind - 1)->kernel == kernel &&
           (behind - 1)->number > number)
      --behind;
    if (behind != steps.begin() && (behind - 1)->kernel == kernel)
      found.push_back(&*(behind - 1));
  }
  return found;
}

std::optional<std::int64_t> ProxySteps::lastReceiveNs(LaneIndex stream,
                                                      std::int64_t beginNs,
                                                      std::int64_t endNs) const {
  const auto receivers = ofKernel_.find({stream, beginNs});
  if (receivers == ofKernel_.end())
    return std::nullopt;
  std::int64_t last = beginNs;
  for (const Step* const step : endedBy(receivers->second, receivers->first, endNs))
    last = std::max(last, step->endNs);
  return last;
}

void ProxySteps::addSendEdges(const Connection& by,
                              NodeIndex kernel,
                              const Step& step,
                              GraphBuilder& to) const {
  std::vector<const Step*> received;
  if (const auto block = ofBlock_.find(by.blockId); block != ofBlock_.end() && !by.isOwnData)
    received = endedBy(block->second, step.kernel, step.startNs, step.lastNeeded);
  for (const Step* const each : received)
    to.addEdge(each->node, step.node, EdgeKind::Data);
  if (received.empty() && kernel != kNoNode && to.soFar().endNs(kernel) <= step.startNs)
    to.addEdge(kernel, step.node, EdgeKind::Data);
}

void ProxySteps::addEdges(const LaneNodes& nodes, GraphBuilder& builder) const {
  for (const Connection& each : connections_)
    for (const Step& step : each.steps) {
      if (each.isSend)
        addSendEdges(each, nodes.beginsFrom(step.kernel.first, step.kernel.second), step, builder);
      else if (step.sent != kUnknown)
        builder.addEdge(connections_[step.sent.first].steps[step.sent.second].node,
                        step.node,
                        EdgeKind::Message);
    }
  for (const auto& [kernel, receivers] : ofKernel_) {
    const NodeIndex begins = nodes.beginsFrom(kernel.first, kernel.second);
    if (begins == kNoNode || begins + 1 >= nodes.rangeOf(kernel.first).second ||
        builder.soFar().kind[begins + 1] != NodeKind::Transfer)
      continue;
    for (const Step* const step : endedBy(receivers, kernel, builder.soFar().beginNs[begins + 1]))
      builder.addEdge(step->node, begins + 1, EdgeKind::Data);
  }
}

}  // namespace sonde::engine::graph
