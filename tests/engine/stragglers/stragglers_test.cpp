// Simulated jobs with one slow rank, and healthy ones.
#include "analysis/engine/graph/graph_builder.h"
#include "analysis/engine/stragglers/trace_work.h"
#include "tests/engine/replay/simulated_job.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::stragglers {
namespace {

using test::SimulatedJob;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Straggler> stragglersOf(const jobsim::Job& job) {
  const SimulatedJob simulated(job);
  return findStragglers(test::must(workOf(simulated.database(), simulated.trace())));
}

TEST(Stragglers, ADeviceThatIsSlow) {
  const auto found = stragglersOf(jobsim::dataParallelJob({.iterations = 8, .slowRank = 2}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rank, 2);
  EXPECT_EQ(found[0].operation, "backward_gemm");
  EXPECT_EQ(found[0].cause, critical::PathCause::Device);
  EXPECT_GT(found[0].confidence, 0.9);
}

TEST(Stragglers, LoseWhatTheJobGainsWithoutThem) {
  const SimulatedJob healthy(jobsim::dataParallelJob({.ranksPerMachine = 4, .iterations = 8}));
  const SimulatedJob slow(
      jobsim::dataParallelJob({.ranksPerMachine = 4, .iterations = 8, .slowRank = 2}));
  const auto found = findStragglers(test::must(workOf(slow.database(), slow.trace())));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_NEAR(static_cast<double>(found[0].ns), slow.measured()[2] - healthy.measured()[2], 1);
}

TEST(Stragglers, AProcessorThatIsSlow) {
  const auto found = stragglersOf(jobsim::hostDataParallelJob({.iterations = 8, .slowRank = 1}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rank, 1);
  EXPECT_EQ(found[0].operation, "aten::mm");
  EXPECT_EQ(found[0].cause, critical::PathCause::Host);
}

TEST(Stragglers, AStageThatIsSlow) {
  jobsim::Job job = jobsim::pipelineJob({.iterations = 8, .slowStage = 3});
  for (jobsim::Rank& rank : job.ranks)
    rank.machine = 0;
  const auto found = stragglersOf(job);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rank, 3);
  EXPECT_EQ(found[0].operation, "backward");
}

TEST(Stragglers, AHealthyJobHasNone) {
  EXPECT_THAT(stragglersOf(jobsim::dataParallelJob({.iterations = 8})), IsEmpty());
  EXPECT_THAT(stragglersOf(jobsim::hostDataParallelJob({.iterations = 8})), IsEmpty());
  EXPECT_THAT(stragglersOf(jobsim::parameterServerJob({.iterations = 8})), IsEmpty());
  EXPECT_THAT(stragglersOf(jobsim::loaderJob({})), IsEmpty());
}

// Ranks in a ring: in each step a rank works and sends to the next one, and then needs the message
// of the one before.
class Ring {
 public:
  explicit Ring(std::uint32_t slowLagNs, int messages = 1, std::size_t steps = 20) {
    graph_ = build(slowLagNs, messages, steps);
    for (graph::NodeIndex node = 0; node < graph_.nodes(); ++node)
      for (std::uint32_t edge = graph_.firstIn[node]; edge < graph_.firstIn[node + 1]; ++edge)
        if (graph_.edgeKind[edge] == graph::EdgeKind::Message)
          work_.messages.push_back({edge, node, graph_.lane[graph_.from[edge]], 1});
    work_.ranks = {0, 1, 2};
    work_.what = {{"work", critical::PathCause::Host}, {"messages", critical::PathCause::Transfer}};
  }
  std::vector<Straggler> stragglers() const { return findStragglers(work_); }
  std::string whyNone() const { return whyNoneCanBeNamed(work_); }

 private:
  static constexpr std::uint32_t kRanks = 3;

  // Rank 1 also sends `messages` - 1 messages that arrive at once.
  graph::Graph build(std::uint32_t slowLagNs, int messages, std::size_t steps) {
    graph::GraphBuilder builder;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank)
      builder.addLane({.rank = rank});
    std::vector<graph::NodeIndex> last;
    std::int64_t at = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      std::vector<graph::NodeIndex> worked;
      std::vector<graph::NodeIndex> got;
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        worked.push_back(builder.addNode(rank, graph::NodeKind::Host, at, 100));
        work_.parts.push_back({worked.back(), rank, 0, 100});
        if (!last.empty())
          builder.addEdge(last[rank], worked.back(), graph::EdgeKind::Order);
      }
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        const std::uint32_t from = (rank + kRanks - 1) % kRanks;
        const std::uint32_t lag = from == 1 ? slowLagNs : 20 + static_cast<std::uint32_t>(step % 3);
        got.push_back(builder.addNode(rank, graph::NodeKind::Host, at + 100 + lag, 5));
        builder.addEdge(worked[rank], got[rank], graph::EdgeKind::Order);
        builder.addEdge(worked[from], got[rank], graph::EdgeKind::Message, lag);
        for (int more = 1; from == 1 && more < messages; ++more) {
          const auto extra = builder.addNode(rank, graph::NodeKind::Host, at + 100 + 20, 0);
          builder.addEdge(worked[from], extra, graph::EdgeKind::Message, 20);
        }
      }
      work_.steps.push_back({worked, got});
      work_.stepOf.resize(builder.soFar().nodes(), static_cast<std::uint32_t>(step));
      at += 105 + std::max(slowLagNs, 22U);
      last = got;
    }
    return test::must(builder.build());
  }

  graph::Graph graph_;
  Work work_{graph_, graph_.gapNs, {}, {}, {}, {}, {}, {}};
};

TEST(Stragglers, ARankWhoseMessagesAreSlow) {
  const auto found = Ring(200).stragglers();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rank, 1);
  EXPECT_EQ(found[0].operation, "messages");
  EXPECT_EQ(found[0].cause, critical::PathCause::Transfer);
}

// Too few iterations do not show how much they vary.
TEST(Stragglers, AreNamedFromEightIterationsOn) {
  EXPECT_THAT(Ring(200, 1, 8).stragglers(), SizeIs(1));
  EXPECT_EQ(Ring(200, 1, 8).whyNone(), "");
  EXPECT_THAT(Ring(200, 1, 7).stragglers(), IsEmpty());
  EXPECT_EQ(Ring(200, 1, 7).whyNone(),
            "stragglers need 8 iterations of one structure; the trace has 7");
}

TEST(Stragglers, ARankThatSendsMoreMessagesIsNone) {
  EXPECT_THAT(Ring(21, 4).stragglers(), IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::stragglers
