// Questions about the parallelism of simulated jobs with random settings.
#include "analysis/engine/pipeline/degrees.h"
#include "analysis/engine/pipeline/pipeline_question.h"
#include "tests/engine/whatif/random_asking.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace sonde::engine::pipeline {
namespace {

using jobsim::Job;
using jobsim::PipelineSchedule;
using test::Asked;

constexpr int kIterations = 6;

class RandomPipelines : public test::RandomAsking {
 public:
  jobsim::Pipeline pipeline() {
    jobsim::Pipeline job;
    job.stages = from(2, 5);
    job.microbatches = job.stages * from(1, 4);
    job.iterations = kIterations;
    job.forwardNs = from(600, 1500) * 1000;
    job.backwardNs = from(1000, 3000) * 1000;
    job.optimizerNs = from(200, 2000) * 1000;
    job.link = {.latencyNs = from(2, 200) * 1000, .bytesPerUs = from(5, 50) * 1000};
    return job;
  }

  // Only the work of all chunks of a stage is known, so they are alike.
  static Job build(const jobsim::Pipeline& job, Schedule schedule, int chunks) {
    if (schedule != Schedule::Interleaved) {
      jobsim::Pipeline of = job;
      of.schedule = schedule == Schedule::GPipe   ? PipelineSchedule::GPipe
                    : schedule == Schedule::Async ? PipelineSchedule::Async
                                                  : PipelineSchedule::OneF1B;
      return jobsim::pipelineJob(of);
    }
    return jobsim::interleavedPipelineJob({.ranks = job.stages,
                                           .stagesPerRank = chunks,
                                           .microbatches = job.microbatches,
                                           .iterations = job.iterations,
                                           .forwardNs = job.forwardNs / chunks,
                                           .backwardNs = job.backwardNs / chunks,
                                           .optimizerNs = job.optimizerNs,
                                           .bytes = job.bytes,
                                           .link = job.link,
                                           .slowRank = job.slowStage,
                                           .slowdown = job.slowdown});
  }

  // The present schedule has a flush.
  Asked schedules() {
    jobsim::Pipeline job = pipeline();
    job.slowStage = from(-1, job.stages - 1);
    const int chunks = from(2, 3);
    const auto now = static_cast<Schedule>(from(0, 2));
    auto then = now;
    while (then == now)
      then = static_cast<Schedule>(from(0, 3));
    const std::uint32_t seed = this->seed();
    return {
        variedByWork(build(job, now, chunks), seed),
        variedByWork(build(job, then, chunks), seed),
        {changePipeline({.schedule = then, .chunks = then == Schedule::Interleaved ? chunks : 1})}};
  }

  Asked microbatches() {
    jobsim::Pipeline job = pipeline();
    job.slowStage = from(-1, job.stages - 1);
    const auto schedule = coin() ? Schedule::GPipe : Schedule::OneF1B;
    const int now = job.microbatches;
    const std::uint32_t seed = this->seed();
    Asked asked{variedByWork(build(job, schedule, 1), seed), {}, {}};
    while (job.microbatches == now)
      job.microbatches = from(2, 20);
    const bool keepsSize = coin();
    if (!keepsSize) {
      job.forwardNs = job.forwardNs * now / job.microbatches;
      job.backwardNs = job.backwardNs * now / job.microbatches;
      job.bytes = job.bytes * now / job.microbatches;
    }
    asked.then = variedByWork(build(job, schedule, 1), seed);
    asked.questions = {
        changePipeline({.microbatches = job.microbatches, .keepsMicrobatchSize = keepsSize})};
    return asked;
  }

  Asked stages() {
    jobsim::Pipeline job = pipeline();
    const auto schedule = coin() ? Schedule::GPipe : Schedule::OneF1B;
    const int now = job.stages;
    const std::uint32_t seed = this->seed();
    Asked asked{variedByWork(build(job, schedule, 1), seed), {}, {}};
    while (job.stages == now)
      job.stages = from(2, 6);
    for (jobsim::Ns* ns : {&job.forwardNs, &job.backwardNs, &job.optimizerNs})
      *ns = *ns * now / job.stages;
    asked.then = variedByWork(build(job, schedule, 1), seed);
    asked.questions = {changeDegrees({.pipeline = {.stages = job.stages}})};
    return asked;
  }

  // The same model on other numbers of ranks.
  Asked tensors() {
    jobsim::TensorParallel job;
    job.iterations = kIterations;
    job.tensorRanks = 1 << from(1, 2);
    job.dataRanks = from(2, 4);
    job.forwardNs = from(100, 800) * 1000;
    job.backwardNs = 2 * job.forwardNs;
    job.resultBytes = from(1, 8) * 1'000'000;
    job.gradientBytes = from(2, 12) * 1'000'000;
    job.lossBytes = 1000;
    job.tensorLink = {.latencyNs = from(2, 10) * 1000, .bytesPerUs = from(50, 400) * 1000};
    job.dataLink = {.latencyNs = from(5, 30) * 1000, .bytesPerUs = from(10, 50) * 1000};
    const std::uint32_t seed = this->seed();
    Asked asked{varied(jobsim::tensorParallelJob(job), seed), {}, {}};
    const int tensor = job.tensorRanks;
    Degrees degrees;
    if (coin())
      degrees.tensor = job.tensorRanks = 1 << from(0, 3);
    if (!degrees.tensor || coin())
      degrees.data = job.dataRanks = from(1, 5);
    for (std::int64_t* each :
         {&job.forwardNs, &job.backwardNs, &job.optimizerNs, &job.gradientBytes})
      *each = *each * tensor / job.tensorRanks;
    asked.then = varied(jobsim::tensorParallelJob(job), seed);
    asked.questions = {changeDegrees(degrees)};
    return asked;
  }
};

TEST_F(RandomPipelines, AreAnsweredAsTheSimulationDoes) {
  expectTruths<RandomPipelines>(*this,
                                {{"schedules", &RandomPipelines::schedules},
                                 {"microbatches", &RandomPipelines::microbatches},
                                 {"stages", &RandomPipelines::stages},
                                 {"tensors", &RandomPipelines::tensors}});
}

}  // namespace
}  // namespace sonde::engine::pipeline
