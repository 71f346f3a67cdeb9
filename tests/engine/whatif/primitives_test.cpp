#include "analysis/engine/whatif/primitives.h"

#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::whatif {
namespace {

using test::ask;
using test::expectExact;
using test::selector;
using test::SimulatedJob;
using ::testing::HasSubstr;

TEST(Primitives, ScaleKernelsByName) {
  jobsim::DataParallel job;
  const jobsim::Job now = jobsim::dataParallelJob(job);
  job.backwardNs /= 4;
  expectExact(now, jobsim::dataParallelJob(job), {scale(selector("name:backward_*"), 0.25)});
}

TEST(Primitives, ScaleKernelsByWhatLaunchedThem) {
  jobsim::DataParallel job;
  const jobsim::Job now = jobsim::dataParallelJob(job);
  job.backwardNs /= 4;
  expectExact(
      now, jobsim::dataParallelJob(job), {scale(selector("kind:kernel,operation:backward"), 0.25)});
}

TEST(Primitives, ScaleTheTransfersOfCollectives) {
  jobsim::DataParallel job;
  const jobsim::Job now = jobsim::dataParallelJob(job);
  job.link = {job.link.latencyNs * 3, job.link.bytesPerUs / 3};
  const Answer answer = ask(SimulatedJob(now), {scale(selector("collective:allreduce"), 3)});
  const double truth = test::meanNs(SimulatedJob(jobsim::dataParallelJob(job)));
  EXPECT_NEAR(answer.predictedNs / truth, 1, 1e-3);  // bytes / µs is rounded
}

TEST(Primitives, ScalePartOfAThreadsTime) {
  jobsim::DataParallel job;
  const jobsim::Job now = jobsim::hostDataParallelJob(job);
  job.backwardNs *= 2;
  expectExact(now, jobsim::hostDataParallelJob(job), {scale(selector("name:aten::mm"), 2)});
}

TEST(Primitives, ScaleWhatIsInsideAnAnnotation) {
  jobsim::DataParallel job;
  const jobsim::Job now = jobsim::hostDataParallelJob(job);
  job.forwardNs /= 2;
  expectExact(now,
              jobsim::hostDataParallelJob(job),
              {scale(selector("operation:forward,kind:operator"), 0.5)});
}

TEST(Primitives, ScaleOneRank) {
  jobsim::DataParallel job;
  job.slowRank = 2;
  job.slowdown = 200;
  const jobsim::Job now = jobsim::dataParallelJob(job);
  job.slowRank = -1;
  expectExact(now,
              jobsim::dataParallelJob(job),
              {scale(selector("rank:2,name:forward_gemm"), 0.5),
               scale(selector("rank:2,name:backward_gemm"), 0.5)});
}

TEST(Primitives, QuestionsApplyOneAfterTheOther) {
  jobsim::DataParallel job;
  const jobsim::Job now = jobsim::dataParallelJob(job);
  job.backwardNs = 100'000;
  expectExact(now,
              jobsim::dataParallelJob(job),
              {set(selector("name:backward_gemm"), 50'000),
               scale(selector("operation:backward,kind:kernel"), 2)});
}

TEST(Primitives, SetWorkOnThreadsAndDevices) {
  jobsim::Loader loader;
  const jobsim::Job now = jobsim::loaderJob(loader);
  loader.batchNs = 700'000;
  expectExact(now, jobsim::loaderJob(loader), {set(selector("name:decode"), 700'000)});
}

// Work of threads and of devices.
TEST(Primitives, SetWorkThatWasRemoved) {
  jobsim::Loader loader;
  const jobsim::Job now = jobsim::loaderJob(loader);
  loader.batchNs = 700'000;
  const auto decode = selector("name:decode");
  expectExact(now, jobsim::loaderJob(loader), {remove(decode), set(decode, 700'000)});
  jobsim::DataParallel job;
  const jobsim::Job kernels = jobsim::dataParallelJob(job);
  job.backwardNs = 100'000;
  const auto backward = selector("name:backward_gemm");
  expectExact(kernels, jobsim::dataParallelJob(job), {scale(backward, 0), set(backward, 100'000)});
}

TEST(Primitives, RemoveKernelsWithTheirLaunches) {
  jobsim::DataParallel job = jobsim::hostBound();
  const jobsim::Job now = jobsim::dataParallelJob(job);
  const Answer kept = ask(SimulatedJob(now), {scale(selector("name:backward_gemm"), 0)});
  const Answer removed = ask(SimulatedJob(now), {remove(selector("name:backward_gemm"))});
  // Each of eight launches takes 40 µs, which the kernels hide behind.
  EXPECT_NEAR(kept.predictedNs - removed.predictedNs, 8 * 40'000, 10'000);
}

TEST(Primitives, ScaleMessages) {
  jobsim::ParameterServer job;
  const jobsim::Job now = jobsim::parameterServerJob(job);
  const Answer answer = ask(SimulatedJob(now), {scale(selector("kind:message"), 0.5)});
  EXPECT_LT(answer.predictedNs, 0.8 * answer.baselineNs);
  EXPECT_GT(answer.originShares[static_cast<std::size_t>(Origin::Scaled)], 0.2);
}

TEST(Primitives, SayWhereTheTimeComesFrom) {
  const SimulatedJob job(jobsim::dataParallelJob({}));
  const Answer idle = ask(job, {scale(selector("name:backward_gemm"), 1)});
  EXPECT_DOUBLE_EQ(idle.predictedNs, idle.baselineNs);
  const Answer answer = ask(job, {scale(selector("name:backward_gemm"), 2)});
  double sum = 0;
  for (const double share : answer.originShares)
    sum += share;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(answer.originShares[static_cast<std::size_t>(Origin::Modelled)], 0);
  double after = 0;
  for (const ChangedShare& each : answer.after)
    if (each.what == "backward_gemm")
      after += each.share;
  EXPECT_NEAR(after, answer.originShares[static_cast<std::size_t>(Origin::Scaled)], 1e-3);
}

TEST(Primitives, RefuseWhatMatchesNothing) {
  const SimulatedJob job(jobsim::dataParallelJob({}));
  const auto refused = [&](const char* text) {
    return answer(job.database(), job.trace(), {scale(selector(text), 2)}).error();
  };
  EXPECT_EQ(refused("name:nothing").code, ErrorCode::NotFound);
  EXPECT_EQ(refused("rank:9").code, ErrorCode::NotFound);
  EXPECT_EQ(refused("kind:kernels").code, ErrorCode::InvalidArgument);
  EXPECT_THAT(refused("kind:kernels").message, HasSubstr("kernel"));
}

}  // namespace
}  // namespace sonde::engine::whatif
