// The nodes and edges of jobs that communicate by messages, by formulas. Every message has an edge
// from the thread that sent it to the one that received it, for 2 to 64 ranks.
//
// A thread is divided where it begins to send, and where it goes on after a wait. So a rank that
// sends, then receives, has two nodes for that: the time until its send, and the send. The first
// of them has no length if the rank sends on what it has just received. An iteration adds two: the
// instant of its begin, and the time after its last message.
#include "tests/engine/replay/simulated_job.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <utility>

namespace sonde::engine::graph {
namespace {

using test::SimulatedJob;
using Pairs = std::map<std::pair<std::int64_t, std::int64_t>, std::size_t>;  // from, to

constexpr int kRanks[] = {2, 3, 4, 7, 16, 64};

// How many messages have an edge, by ranks.
Pairs messagesOf(const Graph& graph) {
  Pairs found;
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge)
      if (graph.edgeKind[edge] == EdgeKind::Message)
        ++found[{graph.lanes[graph.lane[graph.from[edge]]].rank,
                 graph.lanes[graph.lane[node]].rank}];
  return found;
}

// Without messages each node needs the one before it on its thread, and nothing else.
void expectNodes(const Graph& graph, std::size_t nodes, std::size_t threads, std::size_t messages) {
  EXPECT_EQ(graph.nodes(), nodes);
  EXPECT_EQ(graph.edges(), nodes - threads + messages);
}

std::size_t size(int number) {
  return static_cast<std::size_t>(number);
}

// Each of N ranks sends 2 (N - 1) shares of a chunk to the next one.
TEST(MessageCounts, ARingHasAnEdgeForEachRankAndStep) {
  for (const int ranks : kRanks) {
    const jobsim::MessageAllreduce of{.ranks = ranks, .chunks = ranks > 16 ? 1 : 3};
    const SimulatedJob job(jobsim::messageAllreduceJob(of));
    const std::size_t steps = size(of.iterations * of.chunks * 2 * (ranks - 1));  // of each rank
    Pairs expected;
    for (int rank = 0; rank < ranks; ++rank)
      expected[{rank, (rank + 1) % ranks}] = steps;
    EXPECT_EQ(messagesOf(job.graph()), expected) << ranks;
    expectNodes(job.graph(),
                size(ranks) * (2 * steps + 2 * size(of.iterations)),
                size(ranks),
                size(ranks) * steps);
  }
}

// The sums of N - 1 ranks go up, and the result goes down. A parent that adds one child's sum may
// get the other one's meanwhile. Then it does not wait, so the number of nodes depends on times.
TEST(MessageCounts, ATreeHasAnEdgeUpAndOneDownForEachRankButItsRoot) {
  for (const int ranks : kRanks) {
    const jobsim::MessageAllreduce of{.ranks = ranks, .isTree = true, .chunks = 3};
    const SimulatedJob job(jobsim::messageAllreduceJob(of));
    const std::size_t each = size(of.iterations * of.chunks);
    Pairs expected;
    for (int rank = 1; rank < ranks; ++rank)
      expected[{rank, (rank - 1) / 2}] = expected[{(rank - 1) / 2, rank}] = each;
    EXPECT_EQ(messagesOf(job.graph()), expected) << ranks;
    expectNodes(job.graph(), job.graph().nodes(), size(ranks), each * 2 * size(ranks - 1));
  }
}

// Each of W workers pushes to the server and pulls from it. A worker's iteration has the instant of
// its begin, its work, its push, and the work after its pull. The server has a sum and a send.
TEST(MessageCounts, AServerHasAPushAndAPullForEachWorker) {
  for (const int workers : {1, 2, 3, 8, 63}) {
    const jobsim::ParameterServer of{.workers = workers, .iterations = 3};
    const SimulatedJob job(jobsim::parameterServerJob(of));
    Pairs expected;
    for (int worker = 0; worker < workers; ++worker)
      expected[{worker, workers}] = expected[{workers, worker}] = size(of.iterations);
    EXPECT_EQ(messagesOf(job.graph()), expected) << workers;
    expectNodes(job.graph(),
                size(of.iterations * workers * (4 + 2)),
                size(workers + 1),
                size(of.iterations * workers * 2));
  }
}

}  // namespace
}  // namespace sonde::engine::graph
