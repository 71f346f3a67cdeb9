#include "analysis/engine/whatif/network/network.h"

#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::whatif {
namespace {

using test::ask;
using test::meanNs;
using test::SimulatedJob;

// Relative error of the predicted iteration.
double errorOf(const jobsim::Job& now, const jobsim::Job& then, const Network& of) {
  const double truth = meanNs(SimulatedJob(then));
  const Answer answer = ask(SimulatedJob(now), {network(of)});
  EXPECT_GT(std::abs(answer.baselineNs / truth - 1), 0.02);  // or the question is idle
  EXPECT_LE(answer.lowNs, truth);
  EXPECT_GE(answer.highNs, truth);
  return std::abs(answer.predictedNs / truth - 1);
}

double bytesPerNs(const jobsim::Link& link) {
  return static_cast<double>(link.bytesPerUs) / 1000;
}

jobsim::DataParallel withLink(jobsim::DataParallel job, const jobsim::Link& link) {
  job.link = link;
  return job;
}

constexpr jobsim::Link kSlow{.latencyNs = 50'000, .bytesPerUs = 3'000};
constexpr jobsim::Link kFast{.latencyNs = 1'000, .bytesPerUs = 100'000};

TEST(NetworkQuestion, OfADataParallelJobOnDevices) {
  const jobsim::DataParallel job;
  for (const jobsim::Link& link : {kSlow, kFast})
    EXPECT_LT(errorOf(jobsim::dataParallelJob(job),
                      jobsim::dataParallelJob(withLink(job, link)),
                      {.bytesPerNs = bytesPerNs(link), .latencyNs = link.latencyNs}),
              0.001);
}

TEST(NetworkQuestion, OfADataParallelJobOnProcessors) {
  const jobsim::DataParallel job;
  for (const jobsim::Link& link : {kSlow, kFast})
    EXPECT_LT(errorOf(jobsim::hostDataParallelJob(job),
                      jobsim::hostDataParallelJob(withLink(job, link)),
                      {.bytesPerNs = bytesPerNs(link), .latencyNs = link.latencyNs}),
              0.001);
}

// Collectives of two sizes show how much of their time is latency.
TEST(NetworkQuestion, KeepsTheLatencyThatItFinds) {
  jobsim::Embedding job;
  const jobsim::Job now = jobsim::embeddingJob(job);
  job.link.bytesPerUs /= 2;
  EXPECT_LT(errorOf(now, jobsim::embeddingJob(job), {.bandwidthFactor = 0.5}), 0.01);
}

TEST(NetworkQuestion, NeedsCollectives) {
  const SimulatedJob job(jobsim::loaderJob({}));
  EXPECT_EQ(answer(job.database(), job.trace(), {network({.bandwidthFactor = 2})}).error().code,
            ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::whatif
