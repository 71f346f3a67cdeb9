// The question about images that several ranks share.
#include "analysis/engine/whatif/sharing/spatial.h"

#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/programs.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>

#include <map>

namespace sonde::engine::whatif {
namespace {

using jobsim::Begin;
using jobsim::dataParallelJob;
using jobsim::End;
using jobsim::Launch;
using jobsim::Ns;
using test::ask;
using test::expectNear;
using test::refusal;
using test::SimulatedJob;
using ::testing::Contains;
using ::testing::HasSubstr;

// The operators of kernels, and of threads' work.
const std::map<std::string, Begin> kImages = {
    {"forward_gemm",
     {jobsim::Scope::Operator,
      "aten::convolution",
      "[[8, 16, 32, 32], [64, 16, 5, 5]]",
      "[float, float]"}},
    {"backward_gemm",
     {jobsim::Scope::Operator,
      "aten::convolution_backward",
      "[[8, 64, 32, 32], [8, 16, 32, 32], [64, 16, 5, 5]]",
      "[float, float, float]"}},
    {"adam", {jobsim::Scope::Operator, "aten::mul_", "[[64, 16, 5, 5]]", "[float]"}}};

// Two rows have 8 * 16 * 32 and 8 * 64 * 32 numbers of four bytes each.
constexpr std::int64_t kForwardBytes = 2LL * 8 * 16 * 32 * 4;
constexpr std::int64_t kBackwardBytes = 2LL * 8 * 64 * 32 * 4;

// Kernels are within operators on images.
jobsim::Job withImages(jobsim::Job job) {
  for (jobsim::Thread& thread : job.threads) {
    std::vector<jobsim::Op> program;
    for (const jobsim::Op& each : thread.program) {
      const auto* launch = std::get_if<Launch>(&each);
      const auto image = launch == nullptr ? kImages.end() : kImages.find(launch->name);
      if (image == kImages.end())
        program.push_back(each);
      else
        jobsim::append(program, {image->second, each, End{}});
    }
    thread.program = std::move(program);
  }
  return job;
}

// One rank, whose convolutions take this long.
jobsim::DataParallel oneRank(Ns forwardNs, Ns backwardNs) {
  jobsim::DataParallel of;
  of.ranks = 1;
  of.ranksPerMachine = 1;
  of.forwardNs = forwardNs;
  of.backwardNs = backwardNs;
  return of;
}

// With 10 us, and 10 bytes in a nanosecond.
Ns haloNs(std::int64_t bytes, int neighbours) {
  return neighbours * (10'000 + bytes / 10);
}

TEST(Spatial, DividesImagesAndExchangesRows) {
  for (const int parts : {2, 4}) {
    const int neighbours = parts == 2 ? 1 : 2;
    const jobsim::DataParallel then = oneRank(200'000 / parts + haloNs(kForwardBytes, neighbours),
                                              400'000 / parts + haloNs(kBackwardBytes, neighbours));
    expectNear(withImages(dataParallelJob(oneRank(200'000, 400'000))),
               dataParallelJob(then),
               {spatial({.parts = parts, .bytesPerNs = 10, .latencyNs = 10'000})});
  }
}

// Weights are no images: Adam keeps its time. Neither are 32 rows enough for 33 parts.
TEST(Spatial, LeavesOperatorsWithFewerRows) {
  const SimulatedJob job(withImages(dataParallelJob(oneRank(200'000, 400'000))));
  const Answer answer = ask(job, {spatial({.parts = 33, .bytesPerNs = 10})});
  EXPECT_NEAR(answer.predictedNs, answer.baselineNs, 1);
  const Answer two = ask(job, {spatial({.parts = 2, .bytesPerNs = 10})});
  EXPECT_THAT(two.notes, Contains(HasSubstr("96 kernels on images")));  // 16 layers, 6 iterations
  EXPECT_THAT(two.notes, Contains(HasSubstr("reduction of gradients")));
}

// Twice as many ranks reduce gradients, on the same links.
TEST(Spatial, UsesTheFittedNetworkAndReducesAmongAllRanks) {
  jobsim::DataParallel now = test::reducingJob();
  now.ranks = 2;
  jobsim::DataParallel then = now;
  then.ranks = 4;
  const auto halo = [&](std::int64_t bytes) { return now.link.latencyNs + now.link.timeOf(bytes); };
  then.forwardNs = now.forwardNs / 2 + halo(kForwardBytes);
  then.backwardNs = now.backwardNs / 2 + halo(kBackwardBytes);
  expectNear(withImages(dataParallelJob(now)), dataParallelJob(then), {spatial({.parts = 2})});
}

TEST(Spatial, DividesTheTimeOfThreads) {
  const auto jobOf = [](Ns forwardNs, bool hasImages) {
    jobsim::Job job = jobsim::machinesFor(1, 1, 0);
    jobsim::Thread thread{0, "python3", {}};
    for (int i = 0; i < 4; ++i) {
      thread.program.push_back(Begin{jobsim::Scope::Iteration, "step"});
      if (hasImages)
        thread.program.push_back(kImages.at("forward_gemm"));
      thread.program.push_back(jobsim::Compute{"conv", forwardNs});
      if (hasImages)
        thread.program.push_back(End{});
      jobsim::append(thread.program, {jobsim::Compute{"other", 50'000}, End{}});
    }
    job.threads = {thread};
    return job;
  };
  expectNear(jobOf(300'000, true),
             jobOf(150'000 + haloNs(kForwardBytes, 1), false),
             {spatial({.parts = 2, .bytesPerNs = 10, .latencyNs = 10'000})});
}

TEST(Spatial, NeedsSizesConvolutionsAndANetwork) {
  const jobsim::Job images = withImages(dataParallelJob(oneRank(200'000, 400'000)));
  EXPECT_EQ(refusal(dataParallelJob({}), spatial({})), ErrorCode::NotFound);
  EXPECT_EQ(refusal(images, spatial({})), ErrorCode::NotFound) << "of one rank";
  EXPECT_EQ(refusal(images, spatial({.parts = 1})), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(images, spatial({.kernel = 0})), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(images, spatial({.bytesPerNs = 0})), ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace sonde::engine::whatif
