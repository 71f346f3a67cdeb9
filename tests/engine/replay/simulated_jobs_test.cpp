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

MATCHER(IsNear, "") {
  return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= 0.5;
}

TEST(SimulatedJobs, AReplayOfTheOwnTimesIsExact) {
  for (const jobsim::Job& job : {jobsim::dataParallelJob({}),
                                 jobsim::dataParallelJob(jobsim::hostBound()),
                                 jobsim::hostDataParallelJob({}),
                                 jobsim::loaderJob({}),
                                 jobsim::pipelineJob({}),
                                 jobsim::interleavedPipelineJob({}),
                                 jobsim::embeddingJob({}),
                                 jobsim::tensorParallelJob({}),
                                 jobsim::streamsJob({}),
                                 jobsim::messageAllreduceJob({}),
                                 jobsim::messageAllreduceJob({.isTree = true}),
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
  EXPECT_THAT(measured.replayed(measured.scaled({"backward_gemm"}, 25)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, SlowerKernelsOfADataParallelJob) {
  jobsim::DataParallel job;
  const SimulatedJob measured(jobsim::dataParallelJob(job));
  job.forwardNs *= 3;
  const SimulatedJob truth(jobsim::dataParallelJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled({"forward_gemm"}, 300)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, FasterOperatorsOfADataParallelJobOnProcessors) {
  jobsim::DataParallel job;
  const SimulatedJob measured(jobsim::hostDataParallelJob(job));
  job.backwardNs /= 4;
  const SimulatedJob truth(jobsim::hostDataParallelJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled({"aten::mm"}, 25)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, AFasterLoader) {
  jobsim::Loader job;
  const SimulatedJob measured(jobsim::loaderJob(job));
  job.batchNs /= 4;
  const SimulatedJob truth(jobsim::loaderJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled({"decode"}, 25)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, FasterStagesOfAPipeline) {
  jobsim::Pipeline job;
  job.slowStage = 2;
  const SimulatedJob measured(jobsim::pipelineJob(job));
  job.backwardNs /= 2;
  const SimulatedJob truth(jobsim::pipelineJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled({"backward"}, 50)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, FasterRanksOfAnInterleavedPipeline) {
  jobsim::InterleavedPipeline job;
  job.slowRank = 1;
  const SimulatedJob measured(jobsim::interleavedPipelineJob(job));
  job.backwardNs /= 2;
  const SimulatedJob truth(jobsim::interleavedPipelineJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled({"backward"}, 50)),
              Pointwise(IsNear(), truth.measured()));
}

// One rank looks up slowly, so the others wait in the exchange.
TEST(SimulatedJobs, FasterLookUpsOfAnEmbeddingJob) {
  jobsim::Embedding job;
  job.slowRank = 2;
  job.slowdown = 300;
  const SimulatedJob measured(jobsim::embeddingJob(job));
  job.lookupNs /= 4;
  const SimulatedJob truth(jobsim::embeddingJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled({"lookup"}, 25)),
              Pointwise(IsNear(), truth.measured()));
}

// The exchange of gradients, hidden before, is exposed.
TEST(SimulatedJobs, FasterDenseLayersOfAnEmbeddingJob) {
  jobsim::Embedding job;
  const SimulatedJob measured(jobsim::embeddingJob(job));
  job.layerNs /= 5;
  const SimulatedJob truth(jobsim::embeddingJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled(
                  {"dense_forward", "dense_backward", "top_forward", "top_backward"}, 20)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, FasterKernelsOfATensorParallelJob) {
  jobsim::TensorParallel job;
  job.slowRank = 3;
  const SimulatedJob measured(jobsim::tensorParallelJob(job));
  job.backwardNs /= 4;
  const SimulatedJob truth(jobsim::tensorParallelJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled({"backward_gemm"}, 25)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, SlowerKernelsOfATensorParallelJob) {
  jobsim::TensorParallel job;
  const SimulatedJob measured(jobsim::tensorParallelJob(job));
  job.forwardNs *= 4;
  const SimulatedJob truth(jobsim::tensorParallelJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled({"forward_gemm"}, 400)),
              Pointwise(IsNear(), truth.measured()));
}

TEST(SimulatedJobs, AFasterStageOfSeveralStreams) {
  for (const int percent : {50, 300}) {
    jobsim::Streams job;
    const SimulatedJob measured(jobsim::streamsJob(job));
    job.firstKernelNs = job.kernelNs * percent / 100;
    const SimulatedJob truth(jobsim::streamsJob(job));
    EXPECT_THAT(measured.replayed(measured.scaled({"stage0"}, percent)),
                Pointwise(IsNear(), truth.measured()));
  }
}

TEST(SimulatedJobs, FasterCallsOfAHostBoundJob) {
  jobsim::DataParallel job = jobsim::hostBound();
  const SimulatedJob measured(jobsim::dataParallelJob(job));
  job.callNs /= 2;
  const SimulatedJob truth(jobsim::dataParallelJob(job));
  EXPECT_THAT(
      measured.replayed(measured.scaled(
          {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaEventRecord", "cudaStreamWaitEvent"},
          50)),
      Pointwise(IsNear(), truth.measured()));
}

// The device, idle before, is busy all the time.
TEST(SimulatedJobs, SlowerKernelsOfAHostBoundJob) {
  jobsim::DataParallel job = jobsim::hostBound();
  const SimulatedJob measured(jobsim::dataParallelJob(job));
  job.backwardNs *= 10;
  const SimulatedJob truth(jobsim::dataParallelJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled({"backward_gemm"}, 1000)),
              Pointwise(IsNear(), truth.measured()));
}

// On one host: messages that came before they were asked for leave its clock uncertain.
TEST(SimulatedJobs, FasterSumsOfAllreducesMadeOfMessages) {
  for (const bool isTree : {false, true}) {
    jobsim::MessageAllreduce job{
        .ranks = 8, .ranksPerMachine = 8, .isTree = isTree, .sumNs = 2'000'000};
    const SimulatedJob measured(jobsim::messageAllreduceJob(job));
    job.sumNs /= 10;
    const SimulatedJob truth(jobsim::messageAllreduceJob(job));
    EXPECT_THAT(measured.replayed(measured.scaled({"sum", "update"}, 10)),
                Pointwise(IsNear(), truth.measured()));
  }
}

TEST(SimulatedJobs, FasterWorkersOfAParameterServer) {
  jobsim::ParameterServer job;
  const SimulatedJob measured(jobsim::parameterServerJob(job));
  job.computeNs /= 2;
  const SimulatedJob truth(jobsim::parameterServerJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled({"train"}, 50)),
              Pointwise(IsNear(), truth.measured()));
}

// Hosts whose clocks show other times and run 20 ppm too fast.
constexpr std::int64_t kDriftPpb = 20'000;

jobsim::Job withOtherClocks(jobsim::Job job) {
  for (std::size_t host = 1; host < job.machines.size(); ++host) {
    job.machines[host].offsetNs = 5'000'000 * static_cast<std::int64_t>(host);
    job.machines[host].driftPpb = kDriftPpb;
  }
  return job;
}

// The job's clock may run as fast as any of them.
MATCHER(IsWithinTheDrift, "") {
  return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= 1e-9 * kDriftPpb * std::get<1>(arg);
}

TEST(SimulatedJobs, HostsWithOtherClocks) {
  jobsim::Pipeline job;
  job.slowStage = 2;
  const SimulatedJob measured(withOtherClocks(jobsim::pipelineJob(job)));
  EXPECT_THAT(measured.replayed(measured.graph().durNs), Pointwise(IsNear(), measured.measured()));
  EXPECT_THAT(measured.graph().gapNs, Each(::testing::Ge(0)));
  job.backwardNs /= 2;
  const SimulatedJob truth(jobsim::pipelineJob(job));
  EXPECT_THAT(measured.replayed(measured.scaled({"backward"}, 50)),
              Pointwise(IsWithinTheDrift(), truth.measured()));
}

}  // namespace
}  // namespace sonde::engine::replay
