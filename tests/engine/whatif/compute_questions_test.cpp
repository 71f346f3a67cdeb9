// Questions by name: recomputation of activations, and graphs of launches.
#include "analysis/engine/whatif/compute/cuda_graphs.h"
#include "analysis/engine/whatif/compute/host_syncs.h"
#include "analysis/engine/whatif/compute/recompute.h"
#include "analysis/engine/whatif/compute/streams.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/programs.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

namespace sonde::engine::whatif {
namespace {

using jobsim::dataParallelJob;
using jobsim::hostDataParallelJob;
using test::ask;
using test::expectExact;
using test::expectNear;
using test::refusal;
using test::SimulatedJob;

TEST(Recompute, RunsTheForwardPassAgain) {
  const jobsim::DataParallel now;
  jobsim::DataParallel then = now;
  then.recomputeEvery = 1;
  expectExact(hostDataParallelJob(now), hostDataParallelJob(then), {recompute({})});
  expectNear(dataParallelJob(now), dataParallelJob(then), {recompute({})});
}

TEST(Recompute, RunsAShareOfItAgain) {
  const jobsim::DataParallel now;
  jobsim::DataParallel then = now;
  then.recomputeEvery = 2;
  expectNear(hostDataParallelJob(now), hostDataParallelJob(then), {recompute({.share = 0.5})});
}

// In each of several micro-batches.
TEST(Recompute, DoesSoInEachMicroBatch) {
  jobsim::DataParallel now;
  now.microbatches = 3;
  jobsim::DataParallel then = now;
  then.recomputeEvery = 1;
  expectNear(hostDataParallelJob(now), hostDataParallelJob(then), {recompute({})});
  expectNear(dataParallelJob(now), dataParallelJob(then), {recompute({})});
}

// Only the pointwise kernels, as selective recomputation does.
TEST(Recompute, RunsOnlyTheSelectedWorkAgain) {
  jobsim::DataParallel of;
  of.activations = 2;
  of.activationNs = 100'000;
  of.lossBytes = 1000;
  const SimulatedJob job(dataParallelJob(of));
  const auto added = [&](const Recompute& asked) {
    const Answer answer = ask(job, {recompute(asked)});
    return answer.predictedNs - answer.baselineNs;
  };
  const double all = added({});
  const double some = added({.only = test::selector("kind:kernel,name:*elementwise*")});
  EXPECT_NEAR(some / all, 0.5, 0.02);  // 200 of 400 µs of a layer
}

TEST(Recompute, NeedsPassesAndAShare) {
  const jobsim::Job job = dataParallelJob({});
  EXPECT_EQ(refusal(job, recompute({.share = -0.1})), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(job, recompute({.share = 1.5})), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(job, recompute({.only = test::selector("name:adam")})), ErrorCode::NotFound);
  EXPECT_EQ(refusal(jobsim::loaderJob({}), recompute({})), ErrorCode::NotFound);
}

TEST(CudaGraphs, LaunchAllKernelsWithOneCall) {
  const jobsim::DataParallel now = jobsim::hostBound();
  jobsim::DataParallel then = now;
  then.graphNs = 30'000;
  expectNear(dataParallelJob(now), dataParallelJob(then), {cudaGraphs({.launchNs = 30'000})});
}

TEST(CudaGraphs, CannotContainWaits) {
  jobsim::DataParallel of = jobsim::hostBound();
  of.readsLoss = true;
  EXPECT_EQ(refusal(dataParallelJob(of), cudaGraphs({})), ErrorCode::InvalidArgument);
  const Answer after = ask(SimulatedJob(dataParallelJob(of)), {noHostSyncs(), cudaGraphs({})});
  EXPECT_LT(after.predictedNs, 0.8 * after.baselineNs);
}

TEST(CudaGraphs, NeedLaunches) {
  EXPECT_EQ(refusal(hostDataParallelJob({}), cudaGraphs({})), ErrorCode::NotFound);
  EXPECT_EQ(refusal(dataParallelJob({}), cudaGraphs({.launchNs = -1})), ErrorCode::InvalidArgument);
}

TEST(Streams, RunBranchesBesideEachOther) {
  const jobsim::Branched now;
  for (const int count : {2, 3, 4}) {
    jobsim::Branched then = now;
    then.streams = count;
    expectNear(branchedJob(now), branchedJob(then), {streams({"branch*", count})});
  }
}

// On several streams the thread cannot launch kernels fast enough.
TEST(Streams, StillWaitForLaunches) {
  jobsim::Branched now;
  now.kernels = 1;
  now.kernelNs = 30'000;
  now.longerNs = 0;
  now.callNs = 20'000;
  jobsim::Branched then = now;
  then.streams = 4;
  expectNear(branchedJob(now), branchedJob(then), {streams({"branch*", 4})});
}

// Each iteration has one branch, and the trace has no slice of the iteration around it.
TEST(Streams, AreOfOneIteration) {
  jobsim::Job job = jobsim::machinesFor(1, 1, 1);
  job.launchLatencyNs = 3'000;
  jobsim::Thread thread{0, "python3", {}};
  for (int iteration = 0; iteration < 6; ++iteration)
    jobsim::append(thread.program,
                   {jobsim::Begin{jobsim::Scope::Operation, "branch"},
                    jobsim::Launch{"conv", 4'000, 0, 100'000},
                    jobsim::End{},
                    jobsim::Synchronise{0, 2'000}});
  job.threads = {thread};
  EXPECT_EQ(refusal(job, streams({"branch", 2})), ErrorCode::NotFound);
}

TEST(Streams, NeedBranchesThatAreIndependent) {
  const jobsim::Job job = jobsim::branchedJob({});
  EXPECT_EQ(refusal(job, streams({"branch*", 1})), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(job, streams({"branch0", 2})), ErrorCode::NotFound);
  EXPECT_EQ(refusal(job, streams({"no such name", 2})), ErrorCode::NotFound);
  EXPECT_EQ(refusal(hostDataParallelJob({}), streams({"*", 2})), ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::whatif
