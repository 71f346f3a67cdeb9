// Gradients that are combined by Adasum.
#include "analysis/engine/whatif/gradients/adasum.h"

#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <variant>

namespace sonde::engine::whatif {
namespace {

using jobsim::dataParallelJob;
using jobsim::hostDataParallelJob;
using test::ask;
using test::reducingJob;
using test::refusal;
using test::SimulatedJob;
using ::testing::Contains;
using ::testing::HasSubstr;

// Four ranks: 20 µs a step, 6 bytes a ns. Four exchanges send 6 MB for a bucket of 4 MB; the
// all-reduces of three numbers have one and two steps; 15 MB are touched.
TEST(Adasum, ExchangesHalvesAndComputesProducts) {
  const jobsim::DataParallel now = reducingJob();
  ASSERT_EQ(now.bucketBytes, 4'000'000);
  constexpr double kExchangeNs = 4 * 20'000 + 6e6 / 6;
  constexpr double kScalarsNs = 3 * (20'000 + 24.0 / 6);
  constexpr jobsim::Ns kLossNs = 6 * 20'000;  // reduced as before, behind the last bucket
  for (const auto build : {dataParallelJob, hostDataParallelJob})
    for (const double speed : {2.0, 50.0}) {
      jobsim::DataParallel then = now;
      const double ns = kExchangeNs + kScalarsNs + 15e6 / speed;
      then.link = {.latencyNs = static_cast<jobsim::Ns>(ns / 6), .bytesPerUs = 0};
      then.lossBytes = 0;
      const Answer found = ask(SimulatedJob(build(now)), {adasum({.bytesPerNs = speed})});
      const double truth = test::meanNs(SimulatedJob(build(then))) + kLossNs;
      EXPECT_GT(std::abs(found.baselineNs / truth - 1), 0.01);
      EXPECT_NEAR(found.predictedNs / truth, 1, 0.005) << speed;
      EXPECT_LE(found.lowNs, truth);
      EXPECT_GE(found.highNs, truth);
    }
}

TEST(Adasum, AssumesHowFastMemoryIs) {
  const jobsim::DataParallel of = reducingJob();
  const Answer onDevice = ask(SimulatedJob(dataParallelJob(of)), {adasum({})});
  EXPECT_THAT(onDevice.notes, Contains(HasSubstr("at 1000 GB/s, which is assumed")));
  EXPECT_EQ(onDevice.predictedNs,
            ask(SimulatedJob(dataParallelJob(of)), {adasum({.bytesPerNs = 1'000})}).predictedNs);
  const Answer onHost = ask(SimulatedJob(hostDataParallelJob(of)), {adasum({})});
  EXPECT_THAT(onHost.notes, Contains(HasSubstr("at 10 GB/s")));
}

TEST(Adasum, NeedsAPowerOfTwoABucketAndASpeed) {
  jobsim::DataParallel three = reducingJob();
  three.ranks = 3;
  EXPECT_EQ(refusal(dataParallelJob(three), adasum({})), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(dataParallelJob(reducingJob()), adasum({.bytesPerNs = 0})),
            ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(jobsim::loaderJob({}), adasum({})), ErrorCode::NotFound);
}

TEST(Adasum, NamesCommunicatorsThatStayAsTheyAre) {
  jobsim::TensorParallel of;
  of.dataRanks = 4;
  EXPECT_THAT(ask(SimulatedJob(tensorParallelJob(of)), {adasum({})}).notes,
              Contains(HasSubstr("1 other communicator that reduces as large buckets keeps")));
}

// Shards of gradients have no dot products.
TEST(Adasum, NeedsAllReduces) {
  jobsim::Job job = dataParallelJob(reducingJob());
  for (jobsim::Thread& thread : job.threads)
    for (jobsim::Op& op : thread.program)
      if (auto* launched = std::get_if<jobsim::LaunchCollective>(&op))
        launched->op = jobsim::Collective::ReduceScatter;
  EXPECT_EQ(refusal(job, adasum({})), ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::whatif
