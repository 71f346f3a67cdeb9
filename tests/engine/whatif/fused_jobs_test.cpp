// The question about several jobs of a model that run as one.
#include "analysis/engine/whatif/sharing/fused_jobs.h"

#include "analysis/engine/whatif/sharing/kernel_waves.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>

#include <map>

namespace sonde::engine::whatif {
namespace {

using jobsim::dataParallelJob;
using test::ask;
using test::expectNear;
using test::reducingJob;
using test::refusal;
using test::SimulatedJob;
using ::testing::Contains;
using ::testing::HasSubstr;

// A V100 has 80 multiprocessors, each with eight blocks of 256 threads: 640 in a wave.
const std::map<std::string, std::int64_t> kBlocks = {
    {"forward_gemm", 100}, {"backward_gemm", 640}, {"adam", 960}};

jobsim::Job onDevice(const jobsim::DataParallel& of) {
  jobsim::Job job = dataParallelJob(of);
  job.deviceName = "Tesla V100-SXM2-16GB";
  for (jobsim::Thread& thread : job.threads)
    for (jobsim::Op& op : thread.program)
      if (auto* launch = std::get_if<jobsim::Launch>(&op))
        if (const auto blocks = kBlocks.find(launch->name); blocks != kBlocks.end())
          launch->blocks = blocks->second;
  return job;
}

TEST(KernelWaves, FollowTheLimitsOfTheDevice) {
  const DeviceLimits v100 = *deviceLimitsOf("Tesla V100-SXM2-16GB");
  EXPECT_EQ(v100.multiprocessors, 80);
  LaunchShape shape{.blocks = 641, .threads = 256};
  EXPECT_EQ(residentBlocks(v100, shape), 8);
  EXPECT_EQ(wavesOf(v100, shape, 1), 2);
  EXPECT_EQ(wavesOf(v100, shape, 4), 5);  // 2,564 of 640
  shape.registers = 128;                  // 16 warps of 4,096 registers
  EXPECT_EQ(residentBlocks(v100, shape), 2);
  shape.registers = 255;  // in steps of 256 for a warp: 8 warps
  EXPECT_EQ(residentBlocks(v100, shape), 1);
  EXPECT_EQ(residentBlocks(v100, {.blocks = 1, .threads = 32}), 32) << "blocks";
  EXPECT_EQ(residentBlocks(v100, {.blocks = 1, .threads = 64, .sharedBytes = 48 * 1024}), 2);
  EXPECT_EQ(residentBlocks(*deviceLimitsOf("NVIDIA A100-SXM4-80GB"),
                           {.blocks = 1, .threads = 64, .sharedBytes = 48 * 1024}),
            3)
      << "of 164 KiB, of which each block loses one";
  EXPECT_EQ(residentBlocks(v100, {.blocks = 1, .threads = 64, .sharedBytes = 97 * 1024}), 1);
  EXPECT_EQ(deviceLimitsOf("T4")->threads, 1024);
  EXPECT_EQ(deviceLimitsOf("NVIDIA L4")->multiprocessors, 58);
  EXPECT_FALSE(deviceLimitsOf("AMD Instinct MI300X"));
  EXPECT_FALSE(deviceLimitsOf(""));
}

// Four forward kernels fit into one wave, backward kernels fill the device, and Adam's second wave
// was half empty: 6 waves in place of 2.
TEST(FusedJobs, FillTheWavesOfTheDevice) {
  jobsim::DataParallel then = reducingJob();
  then.backwardNs *= 4;
  then.optimizerNs *= 3;
  then.bucketBytes *= 4;
  then.lossBytes *= 4;
  expectNear(onDevice(reducingJob()), onDevice(then), {fusedJobs({.jobs = 4})});
}

// A job of small kernels gets all of it for nothing.
TEST(FusedJobs, HaveTheThroughputOfAllJobsWhereKernelsAreSmall) {
  jobsim::DataParallel of;
  of.ranks = 1;
  of.ranksPerMachine = 1;
  jobsim::Job job = dataParallelJob(of);
  for (jobsim::Op& op : job.threads.front().program)
    if (auto* launch = std::get_if<jobsim::Launch>(&op))
      launch->blocks = 64;
  const SimulatedJob simulated(job);
  const Answer answer = ask(simulated, {fusedJobs({.jobs = 8, .device = "V100"})});
  EXPECT_NEAR(answer.predictedNs, answer.baselineNs, 1);
  EXPECT_THAT(answer.notes, Contains(HasSubstr("8 jobs in one have 8.00 times the throughput")));
  const Answer full = ask(simulated, {fusedJobs({.jobs = 40, .device = "V100"})});
  EXPECT_NEAR(full.predictedNs / answer.predictedNs, 4, 0.1) << "2,560 blocks: four waves";
}

// Kernels without a shape take as many times as long as there are jobs.
TEST(FusedJobs, CountKernelsOfUnknownShapeAsLarge) {
  jobsim::DataParallel now = reducingJob();
  now.activations = 2;
  jobsim::DataParallel then = now;
  then.activationNs *= 2;
  then.backwardNs *= 2;
  then.optimizerNs = then.optimizerNs * 3 / 2;
  then.bucketBytes *= 2;
  then.lossBytes *= 2;
  expectNear(onDevice(now), onDevice(then), {fusedJobs({.jobs = 2})});
}

TEST(FusedJobs, NeedShapesOfKernelsAndAKnownDevice) {
  const auto messageOf = [](const jobsim::Job& job, FusedJobs of) {
    const SimulatedJob simulated(job);
    const auto found = answer(simulated.database(), simulated.trace(), {fusedJobs(std::move(of))});
    EXPECT_FALSE(found);
    return found ? "" : found.error().message;
  };
  EXPECT_EQ(refusal(jobsim::hostDataParallelJob({}), fusedJobs({})), ErrorCode::NotFound);
  EXPECT_THAT(messageOf(dataParallelJob({}), {}), HasSubstr("no grids and blocks"));
  jobsim::Job unknown = onDevice({});
  unknown.deviceName = "Wonder GPU";
  EXPECT_THAT(messageOf(unknown, {}), HasSubstr("device Wonder GPU holds is unknown"));
  EXPECT_EQ(refusal(unknown, fusedJobs({})), ErrorCode::NotFound);
  EXPECT_EQ(refusal(onDevice({}), fusedJobs({.jobs = 1})), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(onDevice({}), fusedJobs({.device = "V1000"})), ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace sonde::engine::whatif
