// Replays simulated jobs with other durations. The simulation says how long they really take then.
#include "tests/engine/replay/simulated_job.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::replay {
namespace {

using test::SimulatedJob;
using ::testing::Each;
using ::testing::Pointwise;

// Messages between hosts need aligned clocks.
jobsim::Job onOneHost(jobsim::Job job) {
  for (jobsim::Rank& rank : job.ranks)
    rank.machine = 0;
  return job;
}

MATCHER(IsNear, "") {
  return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= 0.5;
}

TEST(SimulatedJobs, AReplayOfTheOwnTimesIsExact) {
  for (const jobsim::Job& job : {jobsim::dataParallelJob({}),
                                 jobsim::hostDataParallelJob({}),
                                 jobsim::loaderJob({}),
                                 jobsim::pipelineJob({}),
                                 jobsim::parameterServerJob({})}) {
    const SimulatedJob measured(job);
    EXPECT_THAT(measured.replayed(measured.graph().durNs),
                Pointwise(IsNear(), measured.measured()));
    EXPECT_THAT(measured.graph().gapNs, Each(::testing::Ge(0)));
  }
}

TEST(SimulatedJobs, FasterKernelsOfADataParallelJob) {
  jobsim::DataParallel job;
  const SimulatedJob measured(jobsim::dataParallelJob(job));
  job.backwardNs /= 4;
  const SimulatedJob truth(jobsim::dataParallelJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled("backward_gemm", 25)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, SlowerKernelsOfADataParallelJob) {
  jobsim::DataParallel job;
  const SimulatedJob measured(jobsim::dataParallelJob(job));
  job.forwardNs *= 3;
  const SimulatedJob truth(jobsim::dataParallelJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled("forward_gemm", 300)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, FasterOperatorsOfADataParallelJobOnProcessors) {
  jobsim::DataParallel job;
  const SimulatedJob measured(jobsim::hostDataParallelJob(job));
  job.backwardNs /= 4;
  const SimulatedJob truth(jobsim::hostDataParallelJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled("aten::mm", 25)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, AFasterLoader) {
  jobsim::Loader job;
  const SimulatedJob measured(jobsim::loaderJob(job));
  job.batchNs /= 4;
  const SimulatedJob truth(jobsim::loaderJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled("decode", 25)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, FasterStagesOfAPipeline) {
  jobsim::Pipeline job;
  job.slowStage = 2;
  const SimulatedJob measured(onOneHost(jobsim::pipelineJob(job)));
  job.backwardNs /= 2;
  const SimulatedJob truth(onOneHost(jobsim::pipelineJob(job)));
  EXPECT_THAT(measured.replayed(measured.scaled("backward", 50)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, FasterWorkersOfAParameterServer) {
  jobsim::ParameterServer job;
  const SimulatedJob measured(onOneHost(jobsim::parameterServerJob(job)));
  job.computeNs /= 2;
  const SimulatedJob truth(onOneHost(jobsim::parameterServerJob(job)));
  EXPECT_THAT(measured.replayed(measured.scaled("train", 50)),
              Pointwise(IsNear(), truth.measured()));
}

}  // namespace
}  // namespace sonde::engine::replay
