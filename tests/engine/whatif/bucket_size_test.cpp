#include "analysis/engine/whatif/gradients/bucket_size.h"

#include "analysis/engine/whatif/compute/next_forward.h"
#include "analysis/engine/whatif/gradients/overlap.h"
#include "analysis/engine/whatif/gradients/rebucketing.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace sonde::engine::whatif {
namespace {

using test::ask;
using test::meanNs;
using test::SimulatedJob;
using ::testing::ElementsAre;

jobsim::DataParallel withBuckets(int buckets) {
  jobsim::DataParallel job;
  job.bucketBytes = job.bucketBytes * job.buckets / buckets;
  job.buckets = buckets;
  job.lossBytes = 1'000;
  job.link = {.latencyNs = 100'000, .bytesPerUs = 12'500};
  return job;
}

// From `before` buckets to `after`, of the same gradients.
void expectNear(const jobsim::Job& now, const jobsim::Job& then, int after) {
  const SimulatedJob job(now);
  const double truth = meanNs(SimulatedJob(then));
  const Answer answer = ask(job, {bucketSize(16'000'000 / after)});
  EXPECT_GT(std::abs(answer.baselineNs / truth - 1), 0.01) << after;  // or the question is idle
  EXPECT_NEAR(answer.predictedNs / truth, 1, 0.01) << after;
  EXPECT_LE(answer.lowNs, truth) << after;
  EXPECT_GE(answer.highNs, truth) << after;
}

TEST(BucketSize, OfADataParallelJobOnDevices) {
  for (const auto& [before, after] : {std::pair(4, 8), {4, 2}, {4, 1}, {2, 8}, {8, 4}})
    expectNear(jobsim::dataParallelJob(withBuckets(before)),
               jobsim::dataParallelJob(withBuckets(after)),
               after);
}

TEST(BucketSize, OfADataParallelJobOnProcessors) {
  for (const auto& [before, after] : {std::pair(4, 8), {4, 2}, {4, 1}, {2, 8}, {8, 4}})
    expectNear(jobsim::hostDataParallelJob(withBuckets(before)),
               jobsim::hostDataParallelJob(withBuckets(after)),
               after);
}

TEST(BucketSize, CutsAtItsLimit) {
  EXPECT_THAT(cutAt(10, 4), ElementsAre(4, 4, 2));
  EXPECT_THAT(cutAt(8, 4), ElementsAre(4, 4));
  EXPECT_THAT(cutAt(3, 4), ElementsAre(3));
}

TEST(BucketSize, AGradientThatFillsABucketClosesIt) {
  EXPECT_THAT(joinTo({1, 1, 5, 2, 2, 9, 1}, 2, 4), ElementsAre(2, 5, 4, 9, 1));
  EXPECT_THAT(joinTo({7}, 2, 4), ElementsAre(7));
}

// 64 million buckets of a byte in four iterations.
TEST(BucketSize, IsRefusedIfTheBucketsWouldBeTooMany) {
  jobsim::DataParallel of = withBuckets(4);
  of.iterations = 4;
  const SimulatedJob job(jobsim::hostDataParallelJob(of));
  of.isOverlapped = false;
  const SimulatedJob late(jobsim::hostDataParallelJob(of));
  const SimulatedJob device(jobsim::dataParallelJob(of));
  for (const auto& [asked, question] : {std::pair(&job, bucketSize(1)),
                                        {&late, overlap(1)},
                                        {&device, nextForward({.pieceBytes = 1})}}) {
    const auto found = answer(asked->database(), asked->trace(), {question});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::InvalidArgument);
    EXPECT_THAT(found.error().message, ::testing::HasSubstr("give a larger size"));
  }
}

TEST(BucketSize, NeedsReductions) {
  const SimulatedJob job(jobsim::loaderJob({}));
  EXPECT_EQ(answer(job.database(), job.trace(), {bucketSize(1'000'000)}).error().code,
            ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::whatif
