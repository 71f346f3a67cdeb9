#include "analysis/engine/whatif/ranks/ranks.h"

#include "analysis/engine/whatif/gradients/bucket_size.h"
#include "analysis/engine/whatif/network/network.h"
#include "analysis/engine/whatif/primitives.h"
#include "analysis/engine/whatif/ranks/arrival_spread.h"
#include "analysis/engine/whatif/ranks/processor_use.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace sonde::engine::whatif {
namespace {

using test::ask;
using test::meanNs;
using test::selector;
using test::SimulatedJob;
using ::testing::HasSubstr;

using Builder = jobsim::Job (*)(const jobsim::DataParallel& of);
constexpr Builder kBuilders[] = {jobsim::dataParallelJob, jobsim::hostDataParallelJob};

// Its collectives have two sizes, which show the network's latency.
jobsim::DataParallel ofRanks(int ranks) {
  jobsim::DataParallel job;
  job.ranks = ranks;
  job.lossBytes = 1000;
  return job;
}

// Relative error of the predicted iteration.
double errorOf(const jobsim::Job& now,
               const jobsim::Job& then,
               const std::vector<Question>& questions) {
  const double truth = meanNs(SimulatedJob(then));
  const Answer answer = ask(SimulatedJob(now), questions);
  EXPECT_GT(std::abs(answer.baselineNs / truth - 1), 0.01);  // or the question is idle
  EXPECT_LE(answer.lowNs, truth);
  EXPECT_GE(answer.highNs, truth);
  return std::abs(answer.predictedNs / truth - 1);
}

TEST(RanksQuestion, MoreAndFewerOnDevicesAndOnProcessors) {
  for (const Builder build : kBuilders)
    for (const auto& [now, then] : {std::pair(2, 5), {2, 8}, {4, 2}, {3, 1}})
      EXPECT_LT(errorOf(build(ofRanks(now)), build(ofRanks(then)), {ranks({.count = then})}), 1e-3)
          << now << " to " << then;
}

TEST(RanksQuestion, GoesWithOthersInAnyOrder) {
  jobsim::DataParallel then = ofRanks(5);
  then.link.bytesPerUs /= 2;
  const std::vector<Question> questions = {ranks({.count = 5}), network({.bandwidthFactor = 0.5})};
  for (const Builder build : kBuilders) {
    EXPECT_LT(errorOf(build(ofRanks(2)), build(then), questions), 1e-3);
    EXPECT_LT(errorOf(build(ofRanks(2)), build(then), {questions[1], questions[0]}), 1e-3);
  }
  then = ofRanks(5);
  then.backwardNs /= 2;
  for (const Builder build : kBuilders) {
    const Question faster = scale(
        selector(build == jobsim::dataParallelJob ? "name:backward_*" : "name:aten::mm"), 0.5);
    EXPECT_LT(errorOf(build(ofRanks(2)), build(then), {faster, ranks({.count = 5})}), 1e-3);
    EXPECT_LT(errorOf(build(ofRanks(2)), build(then), {ranks({.count = 5}), faster}), 1e-3);
  }
}

TEST(RanksQuestion, GoesWithOtherBuckets) {
  jobsim::DataParallel then = ofRanks(5);
  then.buckets /= 2;
  then.bucketBytes *= 2;
  const std::vector<Question> questions = {bucketSize(then.bucketBytes), ranks({.count = 5})};
  for (const Builder build : kBuilders) {
    EXPECT_LT(errorOf(build(ofRanks(2)), build(then), questions), 0.01);
    EXPECT_LT(errorOf(build(ofRanks(2)), build(then), {questions[1], questions[0]}), 0.01);
  }
}

// Collectives that take twice as long do so on more ranks, too.
TEST(RanksQuestion, KeepsChangedCollectives) {
  jobsim::DataParallel then = ofRanks(5);
  then.link = {then.link.latencyNs * 2, then.link.bytesPerUs / 2};
  const Question slower = scale(selector("collective:allreduce"), 2);
  for (const Builder build : kBuilders)
    EXPECT_LT(errorOf(build(ofRanks(2)), build(then), {slower, ranks({.count = 5})}), 0.01);
}

TEST(RanksQuestion, LeavesASlowRankOrCopiesIt) {
  jobsim::DataParallel now = ofRanks(2);
  now.slowRank = 1;
  jobsim::DataParallel then = ofRanks(4);
  then.slowRank = 1;
  EXPECT_LT(
      errorOf(jobsim::dataParallelJob(now), jobsim::dataParallelJob(then), {ranks({.count = 4})}),
      1e-3);
  for (const Builder build : kBuilders)
    EXPECT_LT(errorOf(build(now), build(ofRanks(1)), {ranks({.count = 1})}), 1e-3);
}

TEST(RanksQuestion, DividesABatch) {
  jobsim::DataParallel then = ofRanks(4);
  then.forwardNs /= 2;
  then.backwardNs /= 2;
  for (const Builder build : kBuilders)
    EXPECT_LT(
        errorOf(build(ofRanks(2)), build(then), {ranks({.count = 4, .batch = Batch::Global})}),
        1e-3);
}

TEST(RanksQuestion, SharesProcessors) {
  jobsim::DataParallel job = ofRanks(2);
  job.ranksPerMachine = 8;
  job.layers = 32;
  jobsim::DataParallel more = job;
  more.ranks = 6;
  jobsim::Job then = jobsim::hostDataParallelJob(more);
  then.machines.front().cores = 2;
  EXPECT_LT(errorOf(jobsim::hostDataParallelJob(job), then, {ranks({.count = 6, .processors = 2})}),
            0.02);
  // And back to processors of their own.
  EXPECT_LT(errorOf(then, jobsim::hostDataParallelJob(job), {ranks({.count = 2})}), 0.02);
}

TEST(RanksQuestion, NeedsADataParallelJobWithAllItsRanks) {
  const auto refused = [](const jobsim::Job& job, const std::vector<Question>& questions) {
    const SimulatedJob simulated(job);
    return answer(simulated.database(), simulated.trace(), questions).error();
  };
  const Question more = ranks({.count = 8});
  EXPECT_EQ(refused(jobsim::tensorParallelJob({}), {more}).code, ErrorCode::NotFound);
  EXPECT_THAT(refused(jobsim::tensorParallelJob({}), {more}).message,
              HasSubstr("communicator tensor-0 has 2 ranks"));
  EXPECT_THAT(refused(jobsim::pipelineJob({}), {more}).message, HasSubstr("no collective"));
  EXPECT_THAT(refused(jobsim::loaderJob({}), {more}).message, HasSubstr("at least two ranks"));
  const jobsim::Job job = jobsim::dataParallelJob({});
  EXPECT_EQ(refused(job, {ranks({.count = 0})}).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(job, {more, more}).code, ErrorCode::InvalidArgument);
}

TEST(ArrivalSpread, IsTheExpectedMaximum) {
  EXPECT_NEAR(expectedMaximum({{0, 1}}, 2), 0, 1e-3);
  EXPECT_NEAR(expectedMaximum({{0, 2}}, 1), 0.5642, 1e-3);
  EXPECT_NEAR(expectedMaximum({{5, 8}}, 10), 5 + 14.236, 0.01);
  EXPECT_NEAR(expectedMaximum({{0, 7}, {100, 1}}, 1), 100, 1e-3);  // always the same is last
  EXPECT_NEAR(expectedMaximum({{0, 7}, {100, 2}}, 1), 100.5642, 1e-3);
  EXPECT_EQ(expectedMaximum({{3, 7}, {2, 2}}, 0), 3);
}

TEST(ProcessorUse, SharesProcessorsEvenly) {
  ProcessorUse two(2);
  const Busy longest{0, 0, 100};
  const Busy late{1, 50, 90};
  for (const Busy& each : {longest, longest, Busy{2, 0, 40}, late})
    two.add(each);
  two.complete();
  EXPECT_EQ(two.most(), 3);
  EXPECT_NEAR(two.processorNs({2, 0, 40}), 40 * 2. / 3, 1e-9);
  EXPECT_NEAR(two.processorNs(longest), (40 + 40) * 2. / 3 + 20, 1e-9);
  EXPECT_NEAR(two.freeNs(0, 200), 100, 1e-9);  // after all have ended
}

}  // namespace
}  // namespace sonde::engine::whatif
