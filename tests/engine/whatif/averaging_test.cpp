// Gradients that are averaged in groups of ranks.
#include "analysis/engine/whatif/gradients/averaging.h"

#include "analysis/engine/whatif/gradients/compression.h"
#include "analysis/engine/whatif/gradients/partition.h"
#include "analysis/engine/whatif/network/network.h"
#include "tests/engine/whatif/other_reductions.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using jobsim::dataParallelJob;
using jobsim::hostDataParallelJob;
using test::ask;
using test::expectNear;
using test::reducingJob;
using test::refusal;
using test::SimulatedJob;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(AveragingGroups, ChangeInEachIteration) {
  const auto groups = [](std::int64_t ranks, std::int64_t size, std::int64_t iteration) {
    return averagingGroups(ranks, size, iteration);
  };
  EXPECT_THAT(groups(4, 2, 0), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(groups(4, 2, 1), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_EQ(groups(4, 2, 2), groups(4, 2, 0));
  EXPECT_THAT(groups(8, 4, 1), ElementsAre(ElementsAre(0, 1, 4, 5), ElementsAre(2, 3, 6, 7)));
  EXPECT_THAT(groups(4, 4, 1), ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_EQ(groups(4, 1, 1).size(), 4);
}

TEST(AveragingGroups, HaveAboutTheSquareRootOfTheRanks) {
  for (const auto& [ranks, size] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {2, 2}, {4, 2}, {8, 4}, {16, 4}, {32, 8}, {1024, 32}})
    EXPECT_EQ(defaultGroupSize(ranks), size) << ranks;
}

// A slow rank, whom only its own group waits for. Latency is too short to matter.
jobsim::DataParallel withSlowRank() {
  jobsim::DataParallel of;
  of.ranksPerMachine = of.ranks;
  of.iterations = 8;
  of.slowRank = 1;
  of.link.latencyNs = 100;
  return of;
}

TEST(Averaging, WaitsForItsGroupAlone) {
  const jobsim::DataParallel of = withSlowRank();
  for (const auto build : {dataParallelJob, hostDataParallelJob})
    for (const std::int64_t size : {2, 4}) {
      const Answer found = ask(SimulatedJob(build(of)), {averaging({.size = size})});
      const double truth = test::meanNs(SimulatedJob(test::grouped(build(of), of, size)));
      EXPECT_NEAR(found.predictedNs / truth, 1, 0.005) << size;
      EXPECT_LE(found.lowNs, truth);
      EXPECT_GE(found.highNs, truth);
      EXPECT_LT(truth / found.baselineNs, size == 2 ? 0.99 : 1.001);  // or the question is idle
    }
}

TEST(Averaging, WaitsForNobody) {
  const jobsim::DataParallel of = withSlowRank();
  for (const auto build : {dataParallelJob, hostDataParallelJob})
    expectNear(build(of), test::withoutWaits(build(of), of, 2), {averaging({.waits = false})});
}

// In the measured job all ranks come to the loss together, as they leave the last bucket.
TEST(Averaging, StillWaitsInOtherCollectives) {
  jobsim::DataParallel of = reducingJob();
  of.slowRank = 1;
  of.slowdown = 105;
  for (const auto build : {dataParallelJob, hostDataParallelJob}) {
    expectNear(build(of), test::grouped(build(of), of, 2), {averaging({})});
    expectNear(build(of), test::withoutWaits(build(of), of, 2), {averaging({.waits = false})});
  }
}

TEST(Averaging, DoesNotPredictConvergence) {
  const SimulatedJob job(dataParallelJob(reducingJob()));
  const std::vector<std::string> notes = ask(job, {averaging({})}).notes;
  EXPECT_THAT(notes, Contains(HasSubstr("groups of 2 of 4 ranks")));
  EXPECT_THAT(notes, Contains(HasSubstr("learns as well from such averages is not predicted")));
  EXPECT_THAT(ask(job, {averaging({.waits = false})}).notes,
              Contains(HasSubstr("No rank waits for others")));
}

TEST(Averaging, NamesCommunicatorsThatStayAsTheyAre) {
  jobsim::TensorParallel of;
  of.dataRanks = 4;
  EXPECT_THAT(ask(SimulatedJob(tensorParallelJob(of)), {averaging({})}).notes,
              Contains(HasSubstr("1 other communicator that reduces as large buckets keeps")));
}

// Another network changes the times of groups, too. All ranks reduce the loss, so that none is
// ahead.
TEST(Averaging, IsKnownToLaterQuestions) {
  jobsim::DataParallel of = reducingJob();
  jobsim::DataParallel then = of;
  then.link.bytesPerUs = 1'000;
  for (const auto build : {dataParallelJob, hostDataParallelJob}) {
    const auto both = [&](const Question& other) {
      return ask(SimulatedJob(build(of)), {averaging({}), other}).predictedNs;
    };
    const double slower = ask(SimulatedJob(build(then)), {averaging({})}).predictedNs;
    EXPECT_NEAR(both(network({.bytesPerNs = 1})) / slower, 1, 0.01);
    jobsim::DataParallel halved = of;
    halved.bucketBytes /= 2;
    EXPECT_NEAR(both(compression({.bytesPerNs = 1e6})) /
                    ask(SimulatedJob(build(halved)), {averaging({})}).predictedNs,
                1,
                0.01);
    const SimulatedJob job(build(of));
    EXPECT_EQ(
        answer(job.database(), job.trace(), {averaging({}), partition(1'000'000)}).error().code,
        ErrorCode::InvalidArgument);
  }
}

TEST(Averaging, NeedsPowersOfTwoAndBuckets) {
  const jobsim::Job job = dataParallelJob(reducingJob());
  for (const std::int64_t size : {-2, 0, 1, 3, 8})
    EXPECT_EQ(refusal(job, averaging({.size = size})), ErrorCode::InvalidArgument) << size;
  jobsim::DataParallel three = reducingJob();
  three.ranks = 3;
  EXPECT_EQ(refusal(dataParallelJob(three), averaging({})), ErrorCode::InvalidArgument);
  EXPECT_EQ(refusal(jobsim::loaderJob({}), averaging({})), ErrorCode::NotFound);
}

// Shards of gradients cannot be averaged in groups.
TEST(Averaging, NeedsAllReduces) {
  jobsim::Job job = dataParallelJob(reducingJob());
  for (jobsim::Thread& thread : job.threads)
    for (jobsim::Op& op : thread.program)
      if (auto* launched = std::get_if<jobsim::LaunchCollective>(&op))
        launched->op = jobsim::Collective::ReduceScatter;
  EXPECT_EQ(refusal(job, averaging({})), ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::whatif
