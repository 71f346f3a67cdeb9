// NCCL's proxy steps in the graph: rings of ranks on one clock, whose kernels end when the last
// chunk has come.
#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/replay/replay.h"
#include "tests/support/device_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace sonde::engine::graph {
namespace {

using ::testing::Each;
using ::testing::Ge;

using Times = std::vector<std::vector<std::int64_t>>;  // by rank and step

// When chunks are sent and come, if kernels begin at `begins` and a chunk takes `chunkNs`.
struct Ring {
  std::vector<std::int64_t> begins;
  std::int64_t chunkNs;
  Times sent = {};
  Times received = {};

  int ranks() const { return static_cast<int>(begins.size()); }
  int steps() const { return 2 * (ranks() - 1); }

  Ring& run() {
    const auto count = static_cast<std::size_t>(ranks());
    sent = received = Times(count);
    for (std::size_t step = 0; step < static_cast<std::size_t>(steps()); ++step) {
      for (std::size_t rank = 0; rank < count; ++rank)
        sent[rank].push_back(step == 0 ? begins[rank] + 5
                                       : std::max(sent[rank][step - 1], received[rank][step - 1]));
      for (std::size_t rank = 0; rank < count; ++rank) {
        const std::int64_t free = step == 0 ? 0 : received[rank][step - 1];
        const std::int64_t given = sent[(rank + count - 1) % count][step];
        received[rank].push_back(std::max(free, given) + chunkNs);
      }
    }
    return *this;
  }
  std::int64_t endOf(std::size_t rank) const {
    return received[rank].empty() ? begins[rank] + 900 : received[rank].back() + 20;
  }
};

class ProxyStepsOfTrace : public test::DeviceTrace {
 protected:
  model::ChannelId channel(const Rank& of, int from, int to, bool sends) {
    const std::string name =
        fmt::format("nccl:77/{}0/{}>{}/", op_ == model::CollectiveOp::Send ? "p2p/" : "", from, to);
    return trace_->add(model::Channel{.processId = of.process,
                                      .kind = model::ChannelKind::Nccl,
                                      .local = name + (sends ? "send" : "receive"),
                                      .remote = name + (sends ? "receive" : "send")});
  }
  void steps(model::ChannelId on,
             model::CollectiveId of,
             model::Direction direction,
             const std::vector<std::int64_t>& begins,
             const std::vector<std::int64_t>& ends) {
    for (std::size_t step = 0; step < begins.size(); ++step)
      trace_->add(model::Transfer{.channelId = on,
                                  .direction = direction,
                                  .offset = static_cast<std::int64_t>(step) * 1000,
                                  .bytes = 1000,
                                  .startNs = begins[step],
                                  .durNs = ends[step] - begins[step],
                                  .collectiveId = of,
                                  .step = static_cast<std::int64_t>(step)});
  }
  // A rank whose thread works until 10 ns before its kernel.
  void writeRank(const Ring& ring, int number) {
    const auto at = static_cast<std::size_t>(number);
    const Rank made = rank(number);
    trace_->slice(made.thread, model::SliceKind::Operator, "work", {0, ring.begins[at] - 20});
    const auto launch =
        call(made, "cudaLaunchKernel", {ring.begins[at] - 20, ring.begins[at] - 10});
    const auto kernelId =
        kernel(stream(made, 7), "ncclDevKernel", {ring.begins[at], ring.endOf(at)}, launch);
    const auto group = trace_->add(model::Communicator{.processId = made.process,
                                                       .jobKey = "nccl:77",
                                                       .size = ring.ranks(),
                                                       .position = number,
                                                       .backend = "nccl"});
    const auto collective =
        trace_->add(model::Collective{.processId = made.process,
                                      .communicatorId = group,
                                      .seq = 36,
                                      .op = op_,
                                      .kernelId = kernelId,
                                      .startNs = ring.begins[at],
                                      .durNs = ring.endOf(at) - ring.begins[at]});
    const int next = (number + 1) % ring.ranks();
    const int previous = (number + ring.ranks() - 1) % ring.ranks();
    std::vector<std::int64_t> acknowledged = ring.sent[at];
    for (std::int64_t& ns : acknowledged)
      ns += ring.chunkNs + 50;
    steps(channel(made, number, next, true),
          collective,
          model::Direction::Send,
          ring.sent[at],
          acknowledged);
    // Buffers are posted before the first kernel begins.
    steps(channel(made, previous, number, false),
          collective,
          model::Direction::Receive,
          std::vector<std::int64_t>(ring.received[at].size(), 900),
          ring.received[at]);
  }
  Graph graphOf(const Ring& ring) {
    for (int number = 0; number < ring.ranks(); ++number)
      writeRank(ring, number);
    {
      trace_->finish();
      auto trace = test::must(store::Database::open(path(), store::Access::ReadWrite));
      // As merging does.
      test::must(
          trace.exec("UPDATE channel SET peer_channel_id = (SELECT o.id FROM channel o WHERE "
                     "o.local = channel.remote AND o.remote = channel.local)"));
    }
    return test::must(readGraph(test::must(store::openTrace(path())))).graph;
  }
  // The end of each rank's kernel in a replay.
  static std::vector<std::int64_t> endsOf(const Graph& graph,
                                          const std::vector<std::int64_t>& durations) {
    const auto begins = replay::replay(graph, {durations, graph.gapNs});
    std::map<std::int64_t, std::int64_t> ends;
    for (NodeIndex node = 0; node < graph.nodes(); ++node)
      if (graph.lanes[graph.lane[node]].kind == LaneKind::Stream)
        ends[graph.lanes[graph.lane[node]].rank] = begins[node] + durations[node];
    std::vector<std::int64_t> found;
    for (const auto& [rank, end] : ends)
      found.push_back(end);
    return found;
  }
  static std::vector<std::int64_t> endsOf(const Ring& ring) {
    std::vector<std::int64_t> ends;
    for (std::size_t rank = 0; rank < ring.begins.size(); ++rank)
      ends.push_back(ring.endOf(rank));
    return ends;
  }

  model::CollectiveOp op_ = model::CollectiveOp::Allreduce;
};

std::int64_t count(const Graph& graph, EdgeKind kind) {
  return std::count(graph.edgeKind.begin(), graph.edgeKind.end(), kind);
}

// N ranks send 2 (N - 1) chunks each. A send needs the chunk that came before, and the first one
// its kernel. The kernel's end needs the last chunk.
TEST_F(ProxyStepsOfTrace, ARingHasAnEdgeForEachChunk) {
  Ring ring{std::vector<std::int64_t>(8, 1000), 400};
  const Graph graph = graphOf(ring.run());
  EXPECT_EQ(count(graph, EdgeKind::Message), ring.ranks() * ring.steps());
  EXPECT_EQ(count(graph, EdgeKind::Data), ring.ranks() * (ring.steps() + 1));
  EXPECT_THAT(graph.gapNs, Each(Ge(0)));
  EXPECT_EQ(endsOf(graph, graph.durNs), endsOf(ring));
}

TEST_F(ProxyStepsOfTrace, AFasterNetworkMovesChunksFaster) {
  Ring ring{{1000, 1300, 9000, 1100}, 400};
  const Graph graph = graphOf(ring.run());
  std::vector<std::int64_t> durations = graph.durNs;
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (graph.lanes[graph.lane[node]].kind == LaneKind::Connection)
      durations[node] /= 4;
  ring.chunkNs /= 4;
  EXPECT_EQ(endsOf(graph, durations), endsOf(ring.run()));
}

// The last rank's chunks hold up the others step by step, so they save less than it does.
TEST_F(ProxyStepsOfTrace, ARankThatComesEarlierLetsChunksGoEarlier) {
  Ring ring{{1000, 1300, 9000, 1100}, 400};
  const Graph graph = graphOf(ring.run());
  std::vector<std::int64_t> durations = graph.durNs;
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (graph.lanes[graph.lane[node]].rank == 2 && graph.kind[node] == NodeKind::Host &&
        graph.beginNs[node] == 0)
      durations[node] -= 7900;
  ring.begins[2] -= 7900;
  EXPECT_EQ(endsOf(graph, durations), endsOf(ring.run()));
}

// ncclSend: chunks are a rank's own, so a send needs no chunk. Its kernel's end needs those of the
// other rank, though the two are no collective.
TEST_F(ProxyStepsOfTrace, SendsToEachOtherNeedOnlyTheirKernels) {
  op_ = model::CollectiveOp::Send;
  Ring ring{{1000, 5000}, 400};
  ring.sent = {{1005, 5500}, {5005, 5010}};
  ring.received = {{5405, 5805}, {5401, 5901}};
  const Graph graph = graphOf(ring);
  EXPECT_EQ(count(graph, EdgeKind::Message), 4);
  EXPECT_EQ(count(graph, EdgeKind::Data), 2 * 2 + 2);
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge)
      EXPECT_FALSE(graph.edgeKind[edge] == EdgeKind::Data &&
                   graph.lanes[graph.lane[graph.from[edge]]].kind == LaneKind::Connection &&
                   graph.lanes[graph.lane[node]].kind == LaneKind::Connection);
  EXPECT_EQ(count(graph, EdgeKind::Release), 0);
  EXPECT_EQ(endsOf(graph, graph.durNs), endsOf(ring));
}

// From rank 0 to rank 1, which passes each chunk on to rank 2. The root's sends need its kernel.
TEST_F(ProxyStepsOfTrace, ABroadcastPassesOnEachChunk) {
  op_ = model::CollectiveOp::Broadcast;
  Ring ring{{1000, 1000, 1000}, 400};
  ring.sent = {{1005, 1010}, {1405, 1805}, {}};
  ring.received = {{}, {1405, 1805}, {1805, 2205}};
  const Graph graph = graphOf(ring);
  EXPECT_EQ(count(graph, EdgeKind::Message), 4);
  EXPECT_EQ(count(graph, EdgeKind::Data), 2 + 2 + 2);
  std::vector<std::int64_t> durations = graph.durNs;
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (graph.lanes[graph.lane[node]].kind == LaneKind::Connection)
      durations[node] /= 2;
  EXPECT_EQ(endsOf(graph, durations), (std::vector<std::int64_t>{1900, 1425, 1625}));
}

}  // namespace
}  // namespace sonde::engine::graph
