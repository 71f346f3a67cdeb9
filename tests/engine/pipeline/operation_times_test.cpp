#include "analysis/engine/pipeline/operation_times.h"

#include <gmock/gmock.h>

namespace sonde::engine::pipeline {
namespace {

using ::testing::ElementsAre;

// Copies of a model on two stages. A forward takes 100 ns, that of the second of two microbatches
// 120; a backward twice as long. The first stage of the first copy takes three times as long.
PipelineJob jobOf(std::size_t copies) {
  PipelineJob job;
  job.shape = {2, 1, 2};
  job.lanes.assign(copies, std::vector<graph::Lane>(2));
  job.iterations.resize(1);
  for (std::size_t copy = 0; copy < copies; ++copy) {
    job.iterations[0].runs.emplace_back(2);
    for (std::size_t stage = 0; stage < 2; ++stage)
      for (const bool isForward : {true, false})
        for (const std::int64_t microbatch : {0, 1}) {
          const double slow = copy == 0 && stage == 0 ? 3 : 1;
          const double ns = (microbatch == 0 ? 100 : 120) * (isForward ? 1 : 2) * slow;
          job.iterations[0].runs[copy][stage].operations.push_back(
              {{isForward, 0, microbatch, 0}, {ns, 7}, {}, {}});
        }
  }
  return job;
}

TEST(OperationTimes, AreTheJobsOwnInItsShape) {
  const PipelineJob job = jobOf(1);
  const OperationTimes times(job, {Schedule::GPipe, job.shape, 1});
  EXPECT_TRUE(times.isOwn());
  EXPECT_DOUBLE_EQ(times.own(0, 0, {false, 0, 1, 0}).ns, 720);
  EXPECT_EQ(times.own(0, 0, {false, 0, 1, 0}).row, 7);
}

TEST(OperationTimes, ShrinkWithTheMicrobatch) {
  const PipelineJob job = jobOf(1);
  const OperationTimes times(job, {Schedule::OneF1B, {2, 1, 4}, 0.5});
  EXPECT_DOUBLE_EQ(times.own(0, 1, {true, 0, 2, 0}).ns, 50);
  EXPECT_DOUBLE_EQ(times.own(0, 1, {true, 0, 3, 0}).ns, 60);
  EXPECT_EQ(messageFactor(0.5), std::pair(0.75, 1.0 / 3));
}

TEST(OperationTimes, AreDividedAmongChunks) {
  const PipelineJob job = jobOf(1);
  const OperationTimes times(job, {Schedule::Interleaved, {2, 2, 2}, 1});
  EXPECT_DOUBLE_EQ(times.own(0, 0, {true, 0, 0, 1}).ns, 150);
}

// Four stages in place of two: one rank stays slow.
TEST(OperationTimes, OfMoreStagesKeepOneSlowRank) {
  const PipelineJob job = jobOf(3);
  const OperationTimes times(job, {Schedule::OneF1B, {4, 1, 2}, 1});
  std::vector<double> ofCopies;
  for (const std::size_t copy : {0U, 1U})
    for (const std::size_t stage : {0U, 1U, 2U})
      ofCopies.push_back(times.own(copy, stage, {true, 0, 0, 0}).ns);
  EXPECT_THAT(ofCopies, ElementsAre(150, 50, 50, 50, 50, 50));
}

TEST(OperationTimes, StandForStagesAtTheirPlace) {
  EXPECT_THAT(sameStages(2, 4),
              ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(1), ElementsAre(1)));
  EXPECT_THAT(sameStages(4, 2), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(sameStages(3, 2), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

}  // namespace
}  // namespace sonde::engine::pipeline
