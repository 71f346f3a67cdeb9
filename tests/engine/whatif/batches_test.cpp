// Other batches, and gradients that are accumulated.
#include "analysis/engine/whatif/compute/accumulation.h"
#include "analysis/engine/whatif/compute/batch_size.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gtest/gtest.h>

namespace sonde::engine::whatif {
namespace {

using test::expectNear;
using test::SimulatedJob;

jobsim::DataParallel withBatches(int percent, int microbatches) {
  jobsim::DataParallel job;
  job.iterations = 8;
  job.forwardNs = job.forwardNs * percent / 100;
  job.backwardNs = job.backwardNs * percent / 100;
  job.microbatches = microbatches;
  return job;
}

TEST(BatchSize, ScalesWhatSamplesTake) {
  for (const int percent : {50, 200, 400}) {
    const std::vector<Question> asked{batchSize({.factor = percent / 100.0})};
    expectNear(
        dataParallelJob(withBatches(100, 1)), dataParallelJob(withBatches(percent, 1)), asked);
    expectNear(hostDataParallelJob(withBatches(100, 1)),
               hostDataParallelJob(withBatches(percent, 1)),
               asked);
  }
}

TEST(BatchSize, LeavesTheFixedPart) {
  expectNear(hostDataParallelJob(withBatches(100, 1)),
             hostDataParallelJob(withBatches(175, 1)),
             {batchSize({.factor = 2, .fixed = 0.25})});
}

TEST(BatchSize, NeedsABackwardPassOrAnOptimizer) {
  const SimulatedJob now(loaderJob(jobsim::Loader()));
  const Result<Answer> answer =
      whatif::answer(now.database(), now.trace(), {batchSize({.factor = 2})});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::NotFound);
}

TEST(Accumulation, ReducesGradientsOnce) {
  for (const int microbatches : {2, 4}) {
    expectNear(dataParallelJob(withBatches(100, 1)),
               dataParallelJob(withBatches(100, microbatches)),
               {accumulation(microbatches)});
    expectNear(hostDataParallelJob(withBatches(100, 1)),
               hostDataParallelJob(withBatches(100, microbatches)),
               {accumulation(microbatches)});
  }
}

TEST(Accumulation, OfCallsThatTakeLongerThanTheirKernels) {
  jobsim::DataParallel job = jobsim::hostBound();
  const jobsim::Job now = dataParallelJob(job);
  job.microbatches = 3;
  expectNear(now, dataParallelJob(job), {accumulation(3)});
}

}  // namespace
}  // namespace sonde::engine::whatif
