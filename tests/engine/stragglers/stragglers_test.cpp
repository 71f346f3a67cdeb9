// Simulated jobs with one slow rank, and healthy ones.
#include "analysis/engine/stragglers/trace_work.h"
#include "tests/engine/replay/simulated_job.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::stragglers {
namespace {

using test::SimulatedJob;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Straggler> stragglersOf(const jobsim::Job& job) {
  const SimulatedJob simulated(job);
  return findStragglers(test::must(workOf(simulated.database(), simulated.trace())));
}

TEST(Stragglers, ADeviceThatIsSlow) {
  const auto found = stragglersOf(jobsim::dataParallelJob({.slowRank = 2}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rank, 2);
  EXPECT_EQ(found[0].operation, "backward_gemm");
  EXPECT_EQ(found[0].cause, critical::PathCause::Device);
  EXPECT_GT(found[0].confidence, 0.9);
}

TEST(Stragglers, LoseWhatTheJobGainsWithoutThem) {
  const SimulatedJob healthy(jobsim::dataParallelJob({.ranksPerMachine = 4}));
  const SimulatedJob slow(jobsim::dataParallelJob({.ranksPerMachine = 4, .slowRank = 2}));
  const auto found = findStragglers(test::must(workOf(slow.database(), slow.trace())));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_NEAR(static_cast<double>(found[0].ns), slow.measured()[2] - healthy.measured()[2], 1);
}

TEST(Stragglers, AProcessorThatIsSlow) {
  const auto found = stragglersOf(jobsim::hostDataParallelJob({.slowRank = 1}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rank, 1);
  EXPECT_EQ(found[0].operation, "aten::mm");
  EXPECT_EQ(found[0].cause, critical::PathCause::Host);
}

TEST(Stragglers, AStageThatIsSlow) {
  jobsim::Job job = jobsim::pipelineJob({.slowStage = 3});
  for (jobsim::Rank& rank : job.ranks)
    rank.machine = 0;
  const auto found = stragglersOf(job);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rank, 3);
  EXPECT_EQ(found[0].operation, "backward");
}

TEST(Stragglers, AHealthyJobHasNone) {
  EXPECT_THAT(stragglersOf(jobsim::dataParallelJob({})), IsEmpty());
  EXPECT_THAT(stragglersOf(jobsim::hostDataParallelJob({})), IsEmpty());
  EXPECT_THAT(stragglersOf(jobsim::parameterServerJob({})), IsEmpty());
  EXPECT_THAT(stragglersOf(jobsim::loaderJob({})), IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::stragglers
