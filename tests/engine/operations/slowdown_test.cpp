#include "analysis/engine/operations/slowdown.h"

#include "tests/engine/operations/operation_jobs.h"

#include <gmock/gmock.h>

namespace sonde::engine::operations {
namespace {

using Type = model::OperationType;

// Two steps; the forwards take 10 µs and 30 µs, the sends 1 and 1, the receives 1 and 7.
OperationGraph slowLastStage() {
  Job job(1, 2);
  for (const std::int64_t at : {0, 1000}) {
    if (at > 0)
      job.nextStep();
    job.add(0, Type::Forward, {at, at + 10});
    job.add(0, Type::ForwardSend, {at + 10, at + 11});
    job.add(1, Type::ForwardReceive, {at + 10, at + (at == 0 ? 11 : 17)});
    job.add(1, Type::Forward, {at + 20, at + 50});
  }
  return job.graph();
}

TEST(Slowdown, OfAJobWithASlowStage) {
  const OperationGraph job = slowLastStage();
  const auto found = slowdownOf(job);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->ownNs, 44'000);    // 10 + 1 + 30 and 10 + 7 + 30
  EXPECT_DOUBLE_EQ(found->idealNs, 44'000);  // 20 + 4 + 20
  EXPECT_DOUBLE_EQ(found->slowdown, 1);
  ASSERT_EQ(found->stages.size(), 2U);
  EXPECT_DOUBLE_EQ(found->stages[0].slowdown, 34.0 / 44);  // 10 + 4 + 20
  EXPECT_DOUBLE_EQ(found->stages[1].slowdown, 54.0 / 44);  // 20 + 1 + 30 and 20 + 7 + 30
  EXPECT_EQ(found->lastStageShare, 0);
}

TEST(Slowdown, GroupsSendsAndReceivesOfADirection) {
  const auto found = slowdownOf(slowLastStage());
  ASSERT_TRUE(found);
  std::vector<std::string> names;
  for (const GroupSlowdown& each : found->types)
    names.push_back(each.name);
  EXPECT_THAT(names, ::testing::ElementsAre("forward-compute", "forward-pp-comm"));
  EXPECT_DOUBLE_EQ(found->types[0].slowdown, 1);
}

TEST(Slowdown, TheLastStagesShareIsWhatItsIdealSaves) {
  Job job(2, 1);
  job.add(0, Type::Forward, {0, 10});
  job.add(1, Type::Forward, {0, 30});
  const auto found = slowdownOf(job.graph());
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->slowdown, 1.5);
  EXPECT_DOUBLE_EQ(found->lastStageShare, 1);
  ASSERT_EQ(found->dataParallelRanks.size(), 2U);
  EXPECT_DOUBLE_EQ(found->dataParallelRanks[0].slowdown, 1);
  EXPECT_DOUBLE_EQ(found->dataParallelRanks[1].slowdown, 1.5);
  EXPECT_THAT(found->slowestWorkers, ::testing::ElementsAre(1U));
  EXPECT_DOUBLE_EQ(found->slowestWorkersShare, 1);
}

TEST(Slowdown, CommunicationIsIdealAtItsMedian) {
  Job job(3, 1);
  for (std::uint32_t worker = 0; worker < 3; ++worker) {
    job.add(worker, Type::Clip, {0, worker == 2 ? 100 : 10});
    job.add(worker, Type::Optimizer, {100, 100 + 10 * (worker + 1)});
  }
  const OperationGraph made = job.graph();
  const std::vector<std::int64_t> ideal = idealDurations(made);
  for (graph::NodeIndex node = 0; node < made.graph.nodes(); ++node) {
    if (made.operations[node].worker == kNoWorker)
      EXPECT_EQ(ideal[node], 0);
    else
      EXPECT_EQ(ideal[node], made.operations[node].type == Type::Clip ? 10'000 : 20'000);
  }
}

TEST(Slowdown, NeedsOperationsThatTakeTime) {
  Job job(1, 1);
  job.add(0, Type::Forward, {0, 0});
  const auto found = slowdownOf(job.graph());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::operations
