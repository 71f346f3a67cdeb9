// Models that are fitted to one job and used for another.
#include "analysis/engine/whatif/gradients/bucket_size.h"
#include "analysis/engine/whatif/network/network.h"
#include "analysis/engine/whatif/network/op_fits.h"
#include "tests/engine/whatif/simulated_question.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sonde::engine::whatif {
namespace {

using models::OpModel;
using test::meanNs;
using test::SimulatedJob;
using ::testing::Contains;
using ::testing::HasSubstr;

std::vector<OpModel> fitted(const jobsim::Job& to) {
  const SimulatedJob job(to);
  return fitOperations(test::must(readCollectives(job.database(), job.trace())));
}

constexpr double kStepNs = 5'000;  // of the simulated link
constexpr double kByteNs = 0.08;

TEST(OpFits, HaveAModelForEachOperation) {
  std::vector<OpModel> found = fitted(jobsim::embeddingJob({}));
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].op, "allreduce");
  EXPECT_EQ(found[1].op, "alltoall");
  for (const OpModel& each : found) {
    EXPECT_TRUE(each.isOnDevice);
    EXPECT_EQ(each.model.ranks, std::set<std::int64_t>{4});
  }
}

TEST(OpFits, HaveAModelForEachNumberOfRanksAndForAll) {
  const std::vector<OpModel> found = fitted(jobsim::tensorParallelJob({}));
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(found[0].model.ranks, std::set<std::int64_t>{2});
  EXPECT_EQ(found[1].model.ranks, std::set<std::int64_t>{3});
  EXPECT_EQ(found[2].model.ranks, (std::set<std::int64_t>{2, 3}));
  EXPECT_EQ(models::modelOf(found, "allreduce", true, 3), &found[1].model);
  EXPECT_EQ(models::modelOf(found, "allreduce", true, 8), &found[2].model);
  EXPECT_EQ(models::modelOf(found, "allreduce", false, 3), nullptr);
  EXPECT_EQ(models::modelOf(found, "allgather", true, 3), nullptr);
}

// Buckets of one size do not tell latency from bandwidth; those of another job do.
TEST(GivenModels, KnowWhatOneSizeCannotTell) {
  jobsim::DataParallel job;
  job.lossBytes = 1000;
  const std::vector<OpModel> given = fitted(jobsim::dataParallelJob(job));
  ASSERT_EQ(given.size(), 1);
  EXPECT_NEAR(given[0].model.stepNs, kStepNs, 100);
  EXPECT_NEAR(given[0].model.byteNs, kByteNs, 1e-3);
  job.lossBytes = 0;
  job.buckets = 8;
  job.bucketBytes /= 20;
  job.backwardNs /= 8;
  job.link.latencyNs = 5'000;
  const SimulatedJob now(jobsim::dataParallelJob(job));
  job.buckets = 2;
  job.bucketBytes *= 4;
  const double truth = meanNs(SimulatedJob(jobsim::dataParallelJob(job)));
  const auto errorWith = [&](const std::vector<OpModel>& models) {
    const Answer found = test::must(
        answer(now.database(), now.trace(), {bucketSize(job.bucketBytes)}, {models, {}}));
    EXPECT_THAT(found.notes,
                Contains(HasSubstr("from the given model")).Times(models.empty() ? 0 : 1));
    return std::abs(found.predictedNs / truth - 1);
  };
  EXPECT_GT(errorWith({}), 0.02);
  EXPECT_LT(errorWith(given), 0.002);
}

TEST(GivenModels, AreUsedForTheNetworkToo) {
  const SimulatedJob job(jobsim::dataParallelJob({}));
  std::vector<OpModel> given = fitted(jobsim::dataParallelJob({}));
  given[0].model.stepNs = 1e6;
  const auto predicted = [&](const std::vector<OpModel>& models) {
    return test::must(
        answer(job.database(), job.trace(), {network({.bandwidthFactor = 1.0})}, {models, {}}));
  };
  EXPECT_GT(predicted(given).predictedNs, 2 * predicted({}).predictedNs);
  EXPECT_THAT(predicted(given).notes, Contains(HasSubstr("from the given model")));
  given[0].isOnDevice = false;
  EXPECT_EQ(predicted(given).predictedNs, predicted({}).predictedNs);
}

}  // namespace
}  // namespace sonde::engine::whatif
