// Questions by name: pieces of gradients, parameter servers, caches of batches, and kernels beside
// collectives.
#include "analysis/engine/whatif/compute/next_forward.h"
#include "analysis/engine/whatif/compute/overlap_penalty.h"
#include "analysis/engine/whatif/gradients/partition.h"
#include "analysis/engine/whatif/load_cache.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using jobsim::dataParallelJob;
using jobsim::hostDataParallelJob;
using test::ask;
using test::expectExact;
using test::expectNear;
using test::reducingJob;
using test::refusal;
using test::SimulatedJob;

TEST(Partition, PaysTheLatencyOfEachPiece) {
  const jobsim::DataParallel now = reducingJob();
  jobsim::DataParallel then = now;
  then.pieces = 4;
  expectNear(hostDataParallelJob(now), hostDataParallelJob(then), {partition(1'000'000)});
  expectNear(dataParallelJob(now), dataParallelJob(then), {partition(1'000'000)});
}

TEST(Partition, NeedsBucketsAndASize) {
  EXPECT_EQ(refusal(dataParallelJob(reducingJob()), partition(0)), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(jobsim::loaderJob({}), partition(1000)), ErrorCode::NotFound);
}

// Push and pull of a bucket through the busiest link, as a ring with a latency of this length.
jobsim::DataParallel served(const jobsim::DataParallel& now, int servers) {
  jobsim::DataParallel then = now;
  const jobsim::Ns bytesNs =
      now.link.timeOf(now.bucketBytes * std::max(now.ranks, servers) / servers);
  then.link = {.latencyNs = (now.link.latencyNs + bytesNs) / (now.ranks - 1), .bytesPerUs = 0};
  return then;
}

// The loss is reduced as before, behind the last bucket.
TEST(ParameterServer, PushesAndPullsThroughTheBusiestLink) {
  const jobsim::DataParallel now = reducingJob();
  constexpr jobsim::Ns kLossNs = 6 * 20'000;
  for (const auto build : {dataParallelJob, hostDataParallelJob})
    for (const int servers : {1, 3, 8}) {
      jobsim::DataParallel then = served(now, servers);
      then.lossBytes = 0;
      const Answer found = ask(SimulatedJob(build(now)), {parameterServer(servers)});
      const double truth = test::meanNs(SimulatedJob(build(then))) + kLossNs;
      EXPECT_GT(std::abs(found.baselineNs / truth - 1), 0.01);
      EXPECT_NEAR(found.predictedNs / truth, 1, 0.005) << servers;
      EXPECT_LE(found.lowNs, truth);
      EXPECT_GE(found.highNs, truth);
    }
}

TEST(ParameterServer, NeedsBucketsAndAServer) {
  EXPECT_EQ(refusal(dataParallelJob(reducingJob()), parameterServer(0)),
            ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(jobsim::loaderJob({}), parameterServer(1)), ErrorCode::NotFound);
}

// One size of buckets.
jobsim::DataParallel reducingOnly(std::int64_t bucketBytes) {
  jobsim::DataParallel of = reducingJob();
  of.lossBytes = 0;
  of.bucketBytes = bucketBytes;
  return of;
}

TEST(NextForward, WaitsForItsOwnBucketAlone) {
  for (const std::int64_t bytes : {1'000'000, 3'000'000, 8'000'000}) {
    const jobsim::DataParallel of = reducingOnly(bytes);
    expectNear(dataParallelJob(of), priorityParallelJob(of), {nextForward({})});
  }
}

// Without pieces a large bucket of the last layers holds up the first layers' one.
TEST(NextForward, GainsFromPieces) {
  jobsim::DataParallel of = reducingJob();
  of.buckets = 2;
  of.bucketBytes = 12'000'000;
  of.link.latencyNs = 1'000;
  const SimulatedJob job(dataParallelJob(of));
  const double whole = ask(job, {nextForward({})}).predictedNs;
  const double pieces = ask(job, {nextForward({.pieceBytes = 2'000'000})}).predictedNs;
  EXPECT_LT(pieces, 0.95 * whole);
}

TEST(NextForward, ReducesTheLastBucketThatIsReady) {
  // Ready every 10 ns; the second one's pieces wait for the third and the fourth one.
  const std::vector<PieceToReduce> pieces = {
      {0, 10, 25}, {1, 20, 1}, {1, 20, 1}, {2, 30, 10}, {3, 40, 5}};
  EXPECT_EQ(priorityOrder(pieces), (std::vector<std::size_t>{0, 3, 4, 1, 2}));
  EXPECT_TRUE(priorityOrder({}).empty());
}

// Each 1 ns, of two buckets that are ready at once, and of one that is ready in between.
TEST(NextForward, OrdersManyPieces) {
  std::vector<PieceToReduce> pieces;
  constexpr std::size_t kMany = 200'000;
  for (const std::size_t bucket : {0U, 1U, 2U})
    for (std::size_t i = 0; i < kMany; ++i)
      pieces.push_back({bucket, bucket == 2 ? 1000 : 0, 1});
  const std::vector<std::size_t> order = priorityOrder(pieces);
  ASSERT_EQ(order.size(), 3 * kMany);
  EXPECT_EQ(order[999], kMany + 999);
  EXPECT_EQ(order[1000], 2 * kMany);
  EXPECT_EQ(order[1000 + kMany], kMany + 1000);
  EXPECT_EQ(order.back(), kMany - 1);
}

TEST(NextForward, NeedsKernelsAndASize) {
  EXPECT_EQ(refusal(hostDataParallelJob(reducingJob()), nextForward({})), ErrorCode::NotFound);
  EXPECT_EQ(refusal(jobsim::loaderJob({}), nextForward({})), ErrorCode::NotFound);
  EXPECT_EQ(refusal(dataParallelJob(reducingJob()), nextForward({.pieceBytes = 0})),
            ErrorCode::InvalidArgument);
}

TEST(LoadCache, MakesLoadsFaster) {
  jobsim::Loader now;
  jobsim::Loader then = now;
  then.batchNs = now.batchNs / 4 + 750'000;  // three in four take 1 ms
  for (const int workers : {0, 1}) {
    now.workers = workers;
    then.workers = workers;
    expectExact(loaderJob(now), loaderJob(then), {loadCache({.hit = 0.75, .hitNs = 1'000'000})});
  }
}

TEST(LoadCache, IsNeverSlowerThanALoad) {
  const SimulatedJob job(jobsim::loaderJob({.workers = 0}));
  const Answer answer = ask(job, {loadCache({.hit = 1, .hitNs = 1'000'000'000})});
  EXPECT_EQ(answer.predictedNs, answer.baselineNs);
}

TEST(LoadCache, NeedsLoadsAndAPart) {
  const jobsim::Job job = jobsim::loaderJob({});
  EXPECT_EQ(refusal(job, loadCache({.hit = 1.1})), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(job, loadCache({.hitNs = -1})), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(dataParallelJob({}), loadCache({})), ErrorCode::NotFound);
}

// Collectives run all the time from the first bucket on.
jobsim::DataParallel busy(int percent) {
  jobsim::DataParallel of = reducingJob();
  of.bucketBytes = 8'000'000;
  of.besidePercent = percent;
  return of;
}

// The time of all kernels that compute.
double kernelNs(const SimulatedJob& job, const std::vector<std::int64_t>& durNs) {
  double sum = 0;
  for (graph::NodeIndex node = 0; node < job.graph().nodes(); ++node)
    if (job.graph().kind[node] == graph::NodeKind::Kernel)
      sum += static_cast<double>(durNs[node]);
  return sum;
}

// Iterations wait for the collectives, so they do not become shorter.
TEST(OverlapPenalty, IsMeasuredOnTheSameKernels) {
  const SimulatedJob job(dataParallelJob(busy(130)));
  const auto penalty = test::must(measureOverlapPenalty(job.database(), job.trace()));
  EXPECT_NEAR(penalty.slowdown, 0.3, 0.01);
  EXPECT_EQ(penalty.shapes, 1);
  const SimulatedJob then(dataParallelJob(busy(100)));
  const Answer found = ask(job, {noOverlapPenalty()});
  EXPECT_NEAR(kernelNs(job, found.durNs) / kernelNs(then, then.graph().durNs), 1, 0.01);
  EXPECT_GT(kernelNs(job, job.graph().durNs) / kernelNs(then, then.graph().durNs), 1.1);
}

TEST(OverlapPenalty, LeavesKernelsThatAreNotSlower) {
  const Answer answer = ask(SimulatedJob(dataParallelJob(busy(100))), {noOverlapPenalty()});
  EXPECT_EQ(answer.predictedNs, answer.baselineNs);
  ASSERT_EQ(answer.notes.size(), 1U);
  EXPECT_NE(answer.notes.front().find("do not measurably"), std::string::npos);
}

TEST(OverlapPenalty, NeedsKernelsWithAndWithoutCollectives) {
  EXPECT_EQ(refusal(hostDataParallelJob(reducingJob()), noOverlapPenalty()), ErrorCode::NotFound);
  jobsim::DataParallel of = reducingJob();
  of.isOverlapped = false;
  EXPECT_EQ(refusal(dataParallelJob(of), noOverlapPenalty()), ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::whatif
