// Other parallel degrees, asked of simulated jobs.
#include "analysis/engine/pipeline/degrees.h"

#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>

namespace sonde::engine::pipeline {
namespace {

using test::ask;
using test::meanNs;
using test::SimulatedJob;

// The same model on other numbers of ranks.
jobsim::TensorParallel jobOn(int tensorRanks, int dataRanks) {
  jobsim::TensorParallel job;
  job.tensorRanks = tensorRanks;
  job.dataRanks = dataRanks;
  job.forwardNs = 1'000'000 / tensorRanks;
  job.backwardNs = 2'000'000 / tensorRanks;
  job.optimizerNs = 800'000 / tensorRanks;
  job.gradientBytes = 24'000'000 / tensorRanks;
  return job;
}

void expectNear(const jobsim::TensorParallel& now,
                const jobsim::TensorParallel& then,
                const Degrees& degrees) {
  const whatif::Answer answer =
      ask(SimulatedJob(jobsim::tensorParallelJob(now)), {changeDegrees(degrees)});
  const double truth = meanNs(SimulatedJob(jobsim::tensorParallelJob(then)));
  EXPECT_NEAR(answer.predictedNs / truth, 1, 0.01)
      << "now " << answer.baselineNs << ", predicted " << answer.predictedNs << ", truth " << truth;
  EXPECT_LE(answer.lowNs, truth);
  EXPECT_GE(answer.highNs, truth);
}

TEST(Degrees, OfTensorParallelRanks) {
  expectNear(jobOn(2, 3), jobOn(4, 3), {.tensor = 4});
  expectNear(jobOn(4, 2), jobOn(2, 2), {.tensor = 2});
  expectNear(jobOn(4, 2), jobOn(1, 2), {.tensor = 1});
}

// Norms and residuals would not be divided.
TEST(Degrees, AllowForKernelsThatRanksRepeat) {
  const whatif::Answer answer =
      ask(SimulatedJob(jobsim::tensorParallelJob(jobOn(2, 3))), {changeDegrees({.tensor = 4})});
  EXPECT_EQ(answer.originShares[static_cast<std::size_t>(whatif::Origin::Scaled)], 0);
  EXPECT_GT(answer.originShares[static_cast<std::size_t>(whatif::Origin::Modelled)], 0.5);
  EXPECT_GT((answer.highNs - answer.lowNs) / answer.predictedNs, 0.1);
  EXPECT_THAT(answer.notes, ::testing::Contains(::testing::HasSubstr("norms and residuals")));
}

TEST(Degrees, OfDataParallelRanks) {
  expectNear(jobOn(2, 2), jobOn(2, 4), {.data = 4});
  expectNear(jobOn(2, 4), jobOn(2, 3), {.data = 3});
}

// The last ranks of a group are left out, and with them a slow one.
TEST(Degrees, OfFewerRanksWithoutTheSlowOne) {
  jobsim::TensorParallel slow = jobOn(4, 2);
  slow.slowRank = 7;
  expectNear(slow, jobOn(2, 2), {.tensor = 2});
  expectNear(slow, jobOn(4, 1), {.data = 1});
}

TEST(Degrees, OfBoth) {
  expectNear(jobOn(2, 3), jobOn(4, 2), {.data = 2, .tensor = 4});
}

TEST(Degrees, NeedCollectivesThatShowTheSizes) {
  const auto codeOf = [&](const jobsim::Job& job, const Degrees& degrees) {
    const SimulatedJob simulated(job);
    return whatif::answer(simulated.database(), simulated.trace(), {changeDegrees(degrees)})
        .error()
        .code;
  };
  EXPECT_EQ(codeOf(jobsim::dataParallelJob({}), {.tensor = 2}), ErrorCode::NotFound);
  EXPECT_EQ(codeOf(jobsim::pipelineJob({}), {.data = 2}), ErrorCode::NotFound);
  EXPECT_EQ(codeOf(jobsim::dataParallelJob({}), {.pipeline = {.stages = 2}}), ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::pipeline
