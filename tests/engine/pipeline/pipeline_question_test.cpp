// Another pipeline, asked of simulated jobs.
#include "analysis/engine/pipeline/pipeline_question.h"

#include "analysis/engine/pipeline/read_pipeline.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

namespace sonde::engine::pipeline {
namespace {

using jobsim::PipelineSchedule;
using test::ask;
using test::meanNs;
using test::must;
using test::SimulatedJob;

jobsim::Pipeline pipelineOf(PipelineSchedule schedule) {
  jobsim::Pipeline job;
  job.schedule = schedule;
  job.iterations = 6;
  return job;
}

void expectNear(const jobsim::Job& now, const jobsim::Job& then, const PipelineChange& change) {
  const whatif::Answer answer = ask(SimulatedJob(now), {changePipeline(change)});
  const double truth = meanNs(SimulatedJob(then));
  EXPECT_GT(std::abs(answer.baselineNs / truth - 1), 0.005);  // or the question is idle
  EXPECT_NEAR(answer.predictedNs / truth, 1, 0.004)
      << "now " << answer.baselineNs << ", predicted " << answer.predictedNs << ", truth " << truth;
  EXPECT_LE(answer.lowNs, truth);
  EXPECT_GE(answer.highNs, truth);
}

TEST(PipelineQuestion, KnowsTheScheduleThatAJobHas) {
  const auto scheduleIn = [](const jobsim::Job& job) {
    const SimulatedJob simulated(job);
    return scheduleOf(
        must(readPipeline(simulated.database(), whatif::Scenario(simulated.trace()))));
  };
  EXPECT_EQ(scheduleIn(jobsim::pipelineJob(pipelineOf(PipelineSchedule::OneF1B))),
            Schedule::OneF1B);
  EXPECT_EQ(scheduleIn(jobsim::pipelineJob(pipelineOf(PipelineSchedule::GPipe))), Schedule::GPipe);
  EXPECT_EQ(scheduleIn(jobsim::interleavedPipelineJob({})), Schedule::Interleaved);
}

TEST(PipelineQuestion, ChangesNothingWithTheJobsOwnSettings) {
  for (const jobsim::Job& job : {jobsim::pipelineJob(pipelineOf(PipelineSchedule::OneF1B)),
                                 jobsim::pipelineJob(pipelineOf(PipelineSchedule::GPipe)),
                                 jobsim::interleavedPipelineJob({})}) {
    const whatif::Answer answer = ask(SimulatedJob(job), {changePipeline({})});
    EXPECT_NEAR(answer.predictedNs / answer.baselineNs, 1, 0.0005);
  }
}

TEST(PipelineQuestion, OfAnotherSchedule) {
  jobsim::Pipeline now = pipelineOf(PipelineSchedule::OneF1B);
  now.slowStage = 2;
  now.link = {.latencyNs = 400'000, .bytesPerUs = 12'500};
  jobsim::Pipeline then = now;
  then.schedule = PipelineSchedule::GPipe;
  expectNear(jobsim::pipelineJob(now), jobsim::pipelineJob(then), {.schedule = Schedule::GPipe});
  expectNear(jobsim::pipelineJob(then), jobsim::pipelineJob(now), {.schedule = Schedule::OneF1B});
}

TEST(PipelineQuestion, WithoutAFlush) {
  const jobsim::Pipeline now = pipelineOf(PipelineSchedule::OneF1B);
  jobsim::Pipeline then = now;
  then.schedule = PipelineSchedule::Async;
  expectNear(jobsim::pipelineJob(now), jobsim::pipelineJob(then), {.schedule = Schedule::Async});
}

TEST(PipelineQuestion, OfAnInterleavedSchedule) {
  jobsim::Pipeline now = pipelineOf(PipelineSchedule::OneF1B);
  jobsim::InterleavedPipeline then;
  then.iterations = now.iterations;
  then.optimizerNs = now.optimizerNs;
  expectNear(jobsim::pipelineJob(now),
             jobsim::interleavedPipelineJob(then),
             {.schedule = Schedule::Interleaved, .chunks = 2});
  expectNear(jobsim::interleavedPipelineJob(then),
             jobsim::pipelineJob(now),
             {.schedule = Schedule::OneF1B});
}

// Half of a message's time is latency.
TEST(PipelineQuestion, OfOtherMicrobatches) {
  jobsim::Pipeline now = pipelineOf(PipelineSchedule::OneF1B);
  now.link = {.latencyNs = 100'000, .bytesPerUs = 10'000};
  jobsim::Pipeline then = now;
  then.microbatches = 16;
  expectNear(jobsim::pipelineJob(now),
             jobsim::pipelineJob(then),
             {.microbatches = 16, .keepsMicrobatchSize = true});
  then.forwardNs /= 2;
  then.backwardNs /= 2;
  then.bytes /= 2;
  expectNear(jobsim::pipelineJob(now), jobsim::pipelineJob(then), {.microbatches = 16});
}

// The messages of the present microbatches take longer than those of fewer ones.
TEST(PipelineQuestion, LeavesOutTheMessagesOfTheJob) {
  jobsim::Pipeline now = pipelineOf(PipelineSchedule::OneF1B);
  now.microbatches = 16;
  now.link = {.latencyNs = 4'000'000, .bytesPerUs = 10'000};
  jobsim::Pipeline then = now;
  then.microbatches = 2;
  expectNear(jobsim::pipelineJob(now),
             jobsim::pipelineJob(then),
             {.microbatches = 2, .keepsMicrobatchSize = true});
}

TEST(PipelineQuestion, OfOtherStages) {
  const jobsim::Pipeline now = pipelineOf(PipelineSchedule::OneF1B);
  for (const int stages : {2, 3, 6}) {
    jobsim::Pipeline then = now;
    then.stages = stages;
    then.forwardNs = now.forwardNs * now.stages / stages;
    then.backwardNs = now.backwardNs * now.stages / stages;
    then.optimizerNs = now.optimizerNs * now.stages / stages;
    expectNear(jobsim::pipelineJob(now), jobsim::pipelineJob(then), {.stages = stages});
  }
}

TEST(PipelineQuestion, IsRefusedWhereItContradictsItself) {
  const SimulatedJob job(jobsim::pipelineJob(pipelineOf(PipelineSchedule::OneF1B)));
  const auto codeOf = [&](const PipelineChange& change) {
    return whatif::answer(job.database(), job.trace(), {changePipeline(change)}).error().code;
  };
  EXPECT_EQ(codeOf({.schedule = Schedule::Interleaved}), ErrorCode::InvalidArgument);
  EXPECT_EQ(codeOf({.schedule = Schedule::Interleaved, .microbatches = 6, .chunks = 2}),
            ErrorCode::InvalidArgument);
  EXPECT_EQ(codeOf({.schedule = Schedule::GPipe, .chunks = 2}), ErrorCode::InvalidArgument);
  EXPECT_EQ(codeOf({.microbatches = 0}), ErrorCode::InvalidArgument);
}

TEST(PipelineQuestion, NeedsAPipeline) {
  const SimulatedJob job(jobsim::hostDataParallelJob({}));
  const auto found = whatif::answer(job.database(), job.trace(), {changePipeline({})});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::pipeline
