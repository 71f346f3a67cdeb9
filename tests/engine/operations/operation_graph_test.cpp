#include "analysis/engine/operations/operation_graph.h"

#include "tests/engine/operations/operation_jobs.h"

#include <gmock/gmock.h>

namespace sonde::engine::operations {
namespace {

using ::testing::ElementsAre;
using Type = model::OperationType;

void expectIdentity(const OperationGraph& job) {
  EXPECT_EQ(replay::replay(job.graph, {job.graph.durNs, job.graph.gapNs}), job.graph.beginNs);
}

TEST(OperationGraph, ASendMeetsItsReceive) {
  Job job(1, 2);
  job.add(0, Type::Forward, {0, 10});
  const auto send = job.add(0, Type::ForwardSend, {13, 16});
  const auto receive = job.add(1, Type::ForwardReceive, {13, 17});
  const auto forward = job.add(1, Type::Forward, {18, 28});
  const OperationGraph made = job.graph();
  expectIdentity(made);
  EXPECT_EQ(replayedBegin(made, send), 10);
  EXPECT_EQ(replayedBegin(made, receive), 10);
  EXPECT_EQ(replayedBegin(made, forward), 14);
  EXPECT_THAT(measuredTimes(made), ElementsAre(28'000));
  EXPECT_THAT(timesWithoutDelays(made, made.graph.durNs), ElementsAre(24'000));
  EXPECT_EQ(made.unpaired, 0);
}

TEST(OperationGraph, AReceiveWaitsForTheForwardBefore) {
  Job job(1, 2);
  job.add(0, Type::Forward, {0, 10});
  job.add(0, Type::ForwardSend, {10, 11});
  job.add(0, Type::Forward, {10, 20});
  job.add(0, Type::ForwardSend, {51, 52});
  job.add(1, Type::ForwardReceive, {10, 11});
  job.add(1, Type::Forward, {11, 41});
  job.add(1, Type::Backward, {41, 50});
  const auto second = job.add(1, Type::ForwardReceive, {51, 52});
  job.add(1, Type::Forward, {52, 60});
  const OperationGraph made = job.graph();
  EXPECT_EQ(replayedBegin(made, second), 41);  // not 20, and not 50
  expectIdentity(made);
}

TEST(OperationGraph, BackwardsGoTheOtherWay) {
  Job job(1, 2);
  job.add(0, Type::Forward, {0, 10});
  job.add(0, Type::ForwardSend, {10, 11});
  job.add(1, Type::ForwardReceive, {10, 11});
  job.add(1, Type::Forward, {11, 20});
  job.add(1, Type::Backward, {20, 30});
  const auto send = job.add(1, Type::BackwardSend, {35, 36});
  const auto receive = job.add(0, Type::BackwardReceive, {35, 37});
  const auto backward = job.add(0, Type::Backward, {40, 50});
  const OperationGraph made = job.graph();
  EXPECT_EQ(replayedBegin(made, send), 30);
  EXPECT_EQ(replayedBegin(made, receive), 30);
  EXPECT_EQ(replayedBegin(made, backward), 32);
}

TEST(OperationGraph, TheFirstBackwardTransferWaitsForTheSecondLastForward) {
  Job job(1, 2);
  job.add(0, Type::Forward, {0, 10});
  job.add(0, Type::ForwardSend, {10, 11});
  job.add(0, Type::Forward, {10, 20});
  job.add(0, Type::Forward, {20, 30});
  job.add(1, Type::ForwardReceive, {10, 11});
  job.add(1, Type::Forward, {11, 13});
  job.add(1, Type::Backward, {13, 15});
  job.add(1, Type::BackwardSend, {31, 32});
  const auto receive = job.add(0, Type::BackwardReceive, {31, 32});
  job.add(0, Type::Backward, {32, 40});
  EXPECT_EQ(replayedBegin(job.graph(), receive), 20);  // not 15
}

TEST(OperationGraph, TransfersAtTheEndsOfThePipelineAreLeftOut) {
  Job job(1, 2);
  const auto first = job.add(0, Type::ForwardReceive, {0, 5});
  job.add(0, Type::Forward, {0, 10});
  job.add(0, Type::ForwardSend, {10, 11});
  job.add(1, Type::ForwardReceive, {10, 11});
  job.add(1, Type::Forward, {11, 20});
  const auto last = job.add(1, Type::ForwardSend, {20, 30});
  OperationGraph made = job.graph();
  EXPECT_EQ(replayedBegin(made, first), -1);
  EXPECT_EQ(replayedBegin(made, last), -1);
  EXPECT_EQ(made.unpaired, 0);
  job.add(0, Type::Forward, {30, 40});
  const auto lonely = job.add(0, Type::ForwardSend, {40, 41});
  made = job.graph();
  EXPECT_EQ(replayedBegin(made, lonely), -1);
  EXPECT_EQ(made.unpaired, 1);
  job.add(1, Type::ForwardReceive, {40, 41});  // without a forward that uses it
  EXPECT_EQ(job.graph().unpaired, 2);
}

TEST(OperationGraph, CollectivesMeetInTheirGroups) {
  Job job(2, 2);  // workers: data-parallel rank 0 with stages 0 and 1, then rank 1
  std::vector<std::int64_t> layernorms, embeddings, scatters, clips, optimizers;
  for (std::uint32_t worker = 0; worker < 4; ++worker) {
    const std::int64_t end = 10 * (std::int64_t{worker} + 1);
    job.add(worker, Type::Backward, {0, end});
    layernorms.push_back(job.add(worker, Type::LayernormAllReduce, {end, end + 1}));
    embeddings.push_back(job.add(worker, Type::EmbeddingAllReduce, {60, 61}));
    scatters.push_back(job.add(worker, Type::GradsReduceScatter, {70, 71 + worker}));
    clips.push_back(job.add(worker, Type::Clip, {80, 81}));
    optimizers.push_back(job.add(worker, Type::Optimizer, {90, 91}));
  }
  const OperationGraph made = job.graph();
  const auto begins = [&](const std::vector<std::int64_t>& slices) {
    std::vector<std::int64_t> found;
    found.reserve(slices.size());
    for (const std::int64_t slice : slices)
      found.push_back(replayedBegin(made, slice));
    return found;
  };
  EXPECT_THAT(begins(layernorms), ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(begins(embeddings), ElementsAre(21, 21, 41, 41));
  EXPECT_THAT(begins(scatters), ElementsAre(42, 42, 42, 42));
  EXPECT_THAT(begins(clips), ElementsAre(46, 46, 46, 46));
  EXPECT_THAT(begins(optimizers), ElementsAre(47, 47, 47, 47));
  EXPECT_EQ(made.apart, 0);
  expectIdentity(made);
}

TEST(OperationGraph, ParametersComeBeforeTheirChunk) {
  Job job(2, 1);
  for (const std::uint32_t worker : {0U, 1U}) {
    job.add(worker, Type::ParamsAllGather, {0, 10}, 0);
    job.add(worker, Type::ParamsAllGather, {10, 30}, 1);
  }
  const auto first = job.add(0, Type::Forward, {12, 15}, 0);
  const auto second = job.add(0, Type::Forward, {31, 35}, 1);
  const OperationGraph made = job.graph();
  EXPECT_EQ(replayedBegin(made, first), 10);
  EXPECT_EQ(replayedBegin(made, second), 30);
}

TEST(OperationGraph, GradientsAreReducedWhileOthersAreComputed) {
  Job job(2, 1);
  job.add(0, Type::Backward, {0, 10}, 1);
  job.add(0, Type::Backward, {10, 40}, 0);
  const auto early = job.add(0, Type::GradsReduceScatter, {11, 20}, 1);
  const auto late = job.add(0, Type::GradsReduceScatter, {41, 50}, 0);
  const OperationGraph made = job.graph();
  EXPECT_EQ(replayedBegin(made, early), 10);
  EXPECT_EQ(replayedBegin(made, late), 40);
}

// Interleaved: the last stage sends its first chunk to the first stage's second one.
TEST(OperationGraph, ChunksGoAroundThePipeline) {
  Job job(1, 2);
  job.add(0, Type::Forward, {0, 10}, 0);
  job.add(0, Type::ForwardSend, {10, 11});
  job.add(1, Type::ForwardReceive, {10, 11});
  job.add(1, Type::Forward, {11, 20}, 0);
  const auto back = job.add(1, Type::ForwardSend, {25, 26});
  const auto again = job.add(0, Type::ForwardReceive, {25, 26});
  const auto second = job.add(0, Type::Forward, {30, 40}, 1);
  const OperationGraph made = job.graph();
  EXPECT_EQ(replayedBegin(made, back), 20);
  EXPECT_EQ(replayedBegin(made, again), 20);
  EXPECT_EQ(replayedBegin(made, second), 21);
  EXPECT_EQ(made.unpaired, 0);
}

TEST(OperationGraph, StepsDoNotNeedEachOther) {
  Job job(1, 1);
  job.add(0, Type::Forward, {5, 10});
  job.add(0, Type::Optimizer, {12, 20});
  job.nextStep();
  job.add(0, Type::Forward, {900, 940});
  const OperationGraph made = job.graph();
  ASSERT_EQ(made.steps.size(), 2U);
  EXPECT_EQ(made.steps[1].number, 1);
  EXPECT_THAT(measuredTimes(made), ElementsAre(15'000, 40'000));
  EXPECT_THAT(timesWithoutDelays(made, made.graph.durNs), ElementsAre(13'000, 40'000));
  EXPECT_DOUBLE_EQ(meanError(timesWithoutDelays(made, made.graph.durNs), measuredTimes(made)),
                   (2.0 / 15) / 2);
}

TEST(OperationGraph, CountsMeetingsWhoseMembersBeginApart) {
  Job job(2, 1);
  job.add(0, Type::Clip, {0, 5000});
  job.add(1, Type::Clip, {3000, 5000});
  const OperationGraph made = job.graph();
  EXPECT_EQ(made.apart, 1);
  EXPECT_EQ(made.mostApartNs, 3'000'000);
  expectIdentity(made);
}

TEST(OperationGraph, SendsAndReceivesHaveLanesOfTheirOwn) {
  Job job(1, 2);
  job.add(0, Type::Forward, {0, 10});
  job.add(0, Type::ForwardSend, {10, 11});
  job.add(1, Type::ForwardReceive, {10, 11});
  job.add(1, Type::Forward, {11, 20});
  const OperationGraph made = job.graph();
  EXPECT_EQ(made.graph.lanes.size(), 5U);  // one for meetings
  EXPECT_EQ(made.graph.lanes.front().kind, graph::LaneKind::Meetings);
}

}  // namespace
}  // namespace sonde::engine::operations
