// The critical path of simulated jobs, as a report has it.
#include "analysis/engine/report/path_report.h"

#include "tests/engine/replay/simulated_job.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

namespace sonde::engine::report {
namespace {

using test::SimulatedJob;

TEST(PathReport, HasTheRankThatHoldsUpTheJob) {
  jobsim::DataParallel job{.iterations = 8};
  job.slowRank = 2;
  const PathReport slow = readPaths(SimulatedJob(jobsim::dataParallelJob(job)).database(), 0);
  ASSERT_TRUE(slow.straggler);
  EXPECT_EQ(slow.straggler->rank, 2);
  job.slowRank = -1;
  const PathReport even = readPaths(SimulatedJob(jobsim::dataParallelJob(job)).database(), 0);
  EXPECT_FALSE(even.straggler);
  EXPECT_EQ(even.iterations, job.iterations);
}

TEST(PathReport, SumsPartsByCauseAndNamesTheLongest) {
  using critical::PathCause;
  const std::vector<PathCauseShare> causes = causesOf({{0, 0, PathCause::Host, "a", 0, 10},
                                                       {0, 0, PathCause::Device, "k", 10, 70},
                                                       {0, 0, PathCause::Host, "b", 70, 90},
                                                       {0, 0, PathCause::Host, "a", 90, 100}});
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0].what, "k");
  EXPECT_DOUBLE_EQ(causes[0].share, 0.6);
  EXPECT_EQ(causes[1].ns, 40);
  EXPECT_EQ(causes[1].what, "a");
}

}  // namespace
}  // namespace sonde::engine::report
