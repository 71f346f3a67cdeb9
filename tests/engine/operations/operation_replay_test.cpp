#include "analysis/engine/operations/operation_replay.h"

#include "tests/engine/operations/operation_jobs.h"

#include <gmock/gmock.h>

#include <cmath>

namespace sonde::engine::operations {
namespace {

using replay::Judge;
using replay::ReplayReport;
using ::testing::HasSubstr;
using Type = model::OperationType;

// A step of one worker at `at`: two forwards, each of 10 µs, that begin this late.
void addForwards(Job& job, std::int64_t at, std::int64_t firstDelay, std::int64_t secondDelay) {
  job.add(0, Type::GarbageCollection, {at, at});
  const std::int64_t first = at + firstDelay;
  job.add(0, Type::Forward, {first, first + 10});
  job.add(0, Type::Forward, {first + 10 + secondDelay, first + 20 + secondDelay});
}

TEST(OperationReplay, JudgesTheReplayWithoutDelays) {
  Job job(1, 2);
  for (const std::int64_t at : {0, 1000}) {
    if (at > 0)
      job.nextStep();
    job.add(0, Type::Forward, {at, at + 10});
    job.add(0, Type::ForwardSend, {at + 14, at + 15});
    job.add(1, Type::ForwardReceive, {at + 14, at + 16});
    job.add(1, Type::Forward, {at + 16, at + (at == 0 ? 40 : 20)});
  }
  const auto found = replayOperations(job.graph(), Judge::Identity);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->iterations, 2);
  EXPECT_DOUBLE_EQ(found->measuredNs, 30'000);  // 40 and 20
  EXPECT_DOUBLE_EQ(found->replayedNs, 26'000);  // each 4 less
  EXPECT_DOUBLE_EQ(found->error, -(0.1 + 0.2) / 2);
  EXPECT_NEAR(found->standardError.value(), 0.05, 1e-12);
  EXPECT_NEAR(found->noise.value(), std::sqrt(200.0) / 30, 1e-12);
  EXPECT_DOUBLE_EQ(found->gapShare, 8.0 / 60);
  ASSERT_EQ(found->ranks.size(), 2U);
  EXPECT_DOUBLE_EQ(found->ranks[0].measuredNs, 15'000);
  EXPECT_DOUBLE_EQ(found->ranks[0].replayedNs, 11'000);
  EXPECT_DOUBLE_EQ(found->ranks[1].replayedNs, 26'000);
}

TEST(OperationReplay, JudgesOddStepsByTheDelaysOfTheOtherEvenOnes) {
  Job job(1, 1);
  addForwards(job, 0, 2, 30);
  job.nextStep();
  addForwards(job, 1000, 4, 40);
  job.nextStep();
  addForwards(job, 2000, 6, 50);
  job.nextStep();
  addForwards(job, 3000, 8, 62);
  const OperationGraph graph = job.graph();
  const auto found = replayOperations(graph, Judge::Odd);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->iterations, 2);
  EXPECT_DOUBLE_EQ(found->measuredNs, 77'000);  // 64 and 90
  EXPECT_DOUBLE_EQ(found->replayedNs, 64'000);  // 76 and 52: those of each other
  EXPECT_DOUBLE_EQ(found->error, 64.0 / 77 - 1);
  EXPECT_NEAR(found->standardError.value(), std::sqrt((26.0 * 26 + 24 * 24) / 4) / 77, 1e-12);
  EXPECT_FALSE(found->predictedError);
  ASSERT_EQ(found->ranks.size(), 1U);
  EXPECT_DOUBLE_EQ(found->ranks[0].replayedNs, 64'000);
  // The odd steps have the delays of both even ones. The first step takes 24 µs longer than
  // measured, so the others are later, and so on.
  const std::vector<std::int64_t> begin = replayedBegins(graph, Judge::Odd);
  const auto beginOf = [&](std::size_t step, graph::NodeIndex place) {
    return begin[graph.steps[step].anchor + place] / Job::kMicro;
  };
  EXPECT_EQ(beginOf(1, 0), 1024);
  EXPECT_EQ(beginOf(1, 2), 1028);
  EXPECT_EQ(beginOf(1, 3), 1078);
  EXPECT_EQ(beginOf(2, 2), 2026);
  EXPECT_EQ(beginOf(2, 3), 2066);
}

// One of two workers is late in the first step, and the other one in the last.
TEST(OperationReplay, PredictsDelaysFromTheOtherSteps) {
  Job job(2, 1);
  for (const std::int64_t at : {0, 1, 2}) {
    if (at > 0)
      job.nextStep();
    for (const std::uint32_t worker : {0U, 1U}) {
      const std::int64_t begin = 1000 * at + (at == 2 * worker ? 30 : 0);
      job.add(worker, Type::GarbageCollection, {1000 * at, 1000 * at});
      job.add(worker, Type::Forward, {begin, begin + 10});
    }
  }
  const auto found = replayOperations(job.graph(), Judge::Identity);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->measuredNs, 30'000);  // 40, 10 and 40
  EXPECT_DOUBLE_EQ(found->replayedNs, 10'000);
  ASSERT_TRUE(found->predictedError);
  EXPECT_NEAR(*found->predictedError, 25.0 / 30 - 1, 1e-12);  // a delay of 15 in each step
}

TEST(OperationReplay, ComparesStepsOfOneStructureOnly) {
  Job job(1, 1);
  for (const std::int64_t at : {0, 1, 2, 3, 4}) {
    if (at > 0)
      job.nextStep();
    addForwards(job, 1000 * at, at == 3 ? 500 : 2, 5);
    if (at >= 3)
      job.add(0, Type::Optimizer, {1000 * at + 600, 1000 * at + 700});
  }
  const auto odd = replayOperations(job.graph(), Judge::Odd);
  ASSERT_TRUE(odd);
  ASSERT_EQ(odd->groups.size(), 2U);
  EXPECT_EQ(odd->groups[0].iterations, 1);
  EXPECT_EQ(odd->groups[0].nodes, 5);  // with the begin and the end of the step
  EXPECT_DOUBLE_EQ(odd->groups[0].measuredNs, 27'000);
  EXPECT_DOUBLE_EQ(odd->groups[0].error.value_or(1), 0);
  EXPECT_DOUBLE_EQ(odd->groups[1].measuredNs, 700'000);
  EXPECT_DOUBLE_EQ(odd->groups[1].replayedNs, 700'000);  // no other even step: its own delays
  const auto whole = replayOperations(job.graph(), Judge::Identity);
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->groups.size(), 2U);
  EXPECT_EQ(whole->groups[0].iterations, 3);
  EXPECT_DOUBLE_EQ(whole->groups[0].error.value_or(0), 20.0 / 27 - 1);
  EXPECT_NEAR(whole->error,
              (3 * *whole->groups[0].error + 2 * whole->groups[1].error.value_or(0)) / 5,
              1e-12);
}

TEST(OperationReplay, NeedsEvenAndOddStepsToJudge) {
  Job job(1, 1);
  addForwards(job, 0, 2, 5);
  EXPECT_TRUE(replayOperations(job.graph(), Judge::Identity));
  const auto found = replayOperations(job.graph(), Judge::Odd);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::NotFound);
  EXPECT_THAT(found.error().message, HasSubstr("the trace has 1 step"));
}

TEST(OperationReplay, NeedsOperationsThatTakeTime) {
  Job job(1, 1);
  job.add(0, Type::Forward, {0, 0});
  EXPECT_FALSE(replayOperations(job.graph(), Judge::Identity));
}

}  // namespace
}  // namespace sonde::engine::operations
