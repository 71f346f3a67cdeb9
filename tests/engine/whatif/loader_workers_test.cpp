#include "analysis/engine/whatif/loader_workers.h"

#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <variant>

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

// Every eighth batch takes nine times as long as the others.
jobsim::Job withSlowBatches(int workers, int prefetch) {
  jobsim::Loader of;
  of.workers = workers;
  of.prefetch = prefetch;
  of.iterations = 400;
  of.batchNs = 800'000;
  of.stepNs += workers > 0 ? 200'000 : 0;  // to take a batch
  jobsim::Job job = jobsim::loaderJob(of);
  for (jobsim::Thread& thread : job.threads) {
    int batch = 0;
    for (jobsim::Op& op : thread.program)
      if (auto* compute = std::get_if<jobsim::Compute>(&op);
          compute != nullptr && compute->name == "decode" && batch++ % 8 == 0)
        compute->ns *= 9;
  }
  return job;
}

// Only a worker that is far ahead hides a slow batch.
TEST(LoaderWorkers, AreFartherAhead) {
  const SimulatedJob now(withSlowBatches(0, 1));
  double before = ask(now, {loaderWorkers(1, 1)}).predictedNs;
  for (const int prefetch : {2, 3, 4}) {
    const double truth = meanNs(SimulatedJob(withSlowBatches(1, prefetch - 1)));
    const double predicted = ask(now, {loaderWorkers(1, prefetch)}).predictedNs;
    EXPECT_NEAR(predicted / truth, 1, 0.02) << prefetch;
    EXPECT_LT(predicted, 0.99 * before);
    before = predicted;
  }
  EXPECT_FALSE(answer(now.database(), now.trace(), {loaderWorkers(1, 0)}));
}

TEST(LoaderWorkers, NeedsLoads) {
  const SimulatedJob job(jobsim::dataParallelJob({}));
  EXPECT_EQ(answer(job.database(), job.trace(), {loaderWorkers(2)}).error().code,
            ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::whatif
