// Which reductions count as those of gradients.
#include "analysis/engine/whatif/gradients/gradient_buckets.h"

#include "analysis/engine/whatif/answer.h"
#include "analysis/engine/whatif/gradients/compression.h"
#include "analysis/store/trace_file.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"
#include "tests/support/run_program.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde::engine::whatif {
namespace {

using test::must;
using test::SimulatedJob;

// Results of layers are reduced in forward passes, too, and may be much larger than gradients.
TEST(GradientBuckets, AreNotReducedInForwardPasses) {
  jobsim::TensorParallel of;
  of.resultBytes = 10 * of.gradientBytes;
  const SimulatedJob job(jobsim::tensorParallelJob(of));
  const std::vector<JobCollective> all = must(readCollectives(job.database(), job.trace()));
  Scenario scenario(job.trace());
  const std::vector<IterationBuckets> found =
      must(bucketsOf(job.database(), job.trace(), all, TransferEdits(scenario)));
  ASSERT_FALSE(found.empty());
  for (const IterationBuckets& iteration : found)
    for (const JobCollective* each : iteration.buckets)
      EXPECT_EQ(each->bytes, of.gradientBytes);
}

TEST(GradientBuckets, OfTwoBytesHaveNothingToGainFromFp16) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "job.sonde";
  const jobsim::Job job = jobsim::dataParallelJob(test::reducingJob());
  jobsim::writeTrace(job, jobsim::simulate(job), path);
  must(must(store::Database::open(path, store::Access::ReadWrite))
           .exec("UPDATE collective SET dtype = 'bfloat16'"));
  const auto trace = must(store::openTrace(path));
  const auto ask = [&](const Compression& of) {
    return answer(trace, must(graph::readGraph(trace)), {compression(of)});
  };
  const auto fp16 = ask({});
  ASSERT_FALSE(fp16);
  EXPECT_EQ(fp16.error().code, ErrorCode::NotFound);
  EXPECT_TRUE(ask({.codec = Codec::TopK, .ratio = 0.01}));
}

}  // namespace
}  // namespace sonde::engine::whatif
