#include "analysis/engine/whatif/loader_workers.h"

#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace sonde::engine::whatif {
namespace {

using test::ask;
using test::meanNs;
using test::SimulatedJob;

// A worker is two batches ahead: one in the queue, and one that it works on.
jobsim::Job withWorkers(int workers) {
  jobsim::Loader job;
  job.workers = workers;
  job.prefetch = workers;
  job.iterations = 400;
  return jobsim::loaderJob(job);
}

TEST(LoaderWorkers, MoreOrFewerThanNow) {
  for (const auto& [now, then] : {std::pair(1, 2), {2, 1}, {0, 1}, {0, 2}, {0, 4}, {1, 0}}) {
    const double truth = meanNs(SimulatedJob(withWorkers(then)));
    const Answer answer = ask(SimulatedJob(withWorkers(now)), {loaderWorkers(then)});
    EXPECT_GT(std::abs(answer.baselineNs / truth - 1), 0.1);   // or the question is idle
    const double taking = now == 0 && then > 1 ? 200'000 : 0;  // which the simulation lacks
    EXPECT_NEAR(answer.predictedNs / (truth + taking), 1, 0.01)
        << now << " to " << then << " p " << answer.predictedNs << " t " << truth;
  }
}

TEST(LoaderWorkers, NeedsLoads) {
  const SimulatedJob job(jobsim::dataParallelJob({}));
  EXPECT_EQ(answer(job.database(), job.trace(), {loaderWorkers(2)}).error().code,
            ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::whatif
