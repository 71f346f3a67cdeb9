// Plans for simulated jobs.
#include "analysis/engine/optimise/plan.h"

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/store/trace_file.h"
#include "tests/engine/replay/simulated_job.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace sonde::engine::optimise {
namespace {

using jobsim::DataParallel;
using test::must;
using test::SimulatedJob;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Result<Plan> planOf(const SimulatedJob& job, const PlanOptions& options = {}) {
  const auto asked = must(whatif::AskedJob::read(job.database(), job.trace()));
  return plan(asked, options);
}

double meanNs(const jobsim::Job& job) {
  const std::vector<double> all = SimulatedJob(job).measured();
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

std::vector<std::string> familiesOf(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlannedChange& each : plan.changes)
    names.push_back(each.family);
  return names;
}

// Many small buckets on a link of high latency.
DataParallel smallBuckets() {
  DataParallel job;
  job.iterations = 8;
  job.layers = 16;
  job.buckets = 16;
  job.bucketBytes = 200'000;
  job.lossBytes = 1000;
  job.link = {.latencyNs = 100'000, .bytesPerUs = 2'000};
  return job;
}

TEST(Plan, HasTheBucketsThatASimulationFindsBest) {
  for (const auto build : {jobsim::dataParallelJob, jobsim::hostDataParallelJob}) {
    const DataParallel now = smallBuckets();
    const Plan found = must(planOf(SimulatedJob(build(now)), {.questions = {"bucket-size"}}));
    ASSERT_EQ(familiesOf(found), std::vector<std::string>{"bucket-size"});
    EXPECT_TRUE(found.isComplete);
    double best = found.baselineNs;
    for (DataParallel then = now; then.buckets > 1;) {
      then.buckets /= 2;
      then.bucketBytes *= 2;
      best = std::min(best, meanNs(build(then)));
    }
    EXPECT_LT(best, 0.95 * found.baselineNs);
    EXPECT_LT(found.together.ns, 1.01 * best);
    EXPECT_GT(found.together.ns, 0.97 * best);
    EXPECT_THAT(found.changes.front().change.setting, HasSubstr("bucket_cap_mb="));
    EXPECT_NEAR(found.gain, 1 - found.together.ns / found.baselineNs, 1e-9);
    EXPECT_NEAR(found.changes.front().gainInPlan, found.gain, 1e-3);
  }
}

// As DistributedDataParallel reports them: its first bucket has a limit of its own.
TEST(Plan, DividesGradientsOfKnownSizes) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "job.sonde";
  DataParallel now = smallBuckets();
  now.ranksPerMachine = now.ranks;
  const jobsim::Job job = dataParallelJob(now);
  jobsim::writeTrace(job, jobsim::simulate(job), path);
  std::string sizes = "1048576 200000";
  for (int bucket = 0; bucket < now.buckets; ++bucket)
    sizes += " " + std::to_string(now.bucketBytes);
  must(must(store::Database::open(path, store::Access::ReadWrite))
           .exec("INSERT INTO string(text) VALUES ('sonde.ddp'); INSERT INTO arg(owner, owner_id, "
                 "key_id, value) SELECT 'process', p.id, s.id, '" +
                 sizes + "' FROM process p, string s WHERE s.text = 'sonde.ddp'"));
  const auto trace = must(store::openTrace(path));
  const auto asked = must(whatif::AskedJob::read(trace, must(graph::readGraph(trace))));
  const Plan found = must(plan(asked, {.questions = {"bucket-size"}}));
  EXPECT_GT(found.gain, 0.05);
  for (const std::string& note : found.notes)
    EXPECT_THAT(note, ::testing::Not(HasSubstr("unknown")));
}

TEST(Plan, CombinesChangesThatBringMoreTogether) {
  DataParallel now = smallBuckets();
  now.bucketBytes = 1'000'000;
  now.activations = 3;
  const Plan found = must(planOf(SimulatedJob(dataParallelJob(now))));
  EXPECT_GE(found.changes.size(), 2U);
  EXPECT_EQ(found.questions.size(), found.changes.size());
  for (const PlannedChange& each : found.changes)
    EXPECT_GT(each.gainInPlan, 0) << each.family;
  for (const PlannedChange& each : found.changes)
    EXPECT_GT(found.gain, each.gain) << each.family;
  EXPECT_LE(found.together.lowNs, found.together.ns);
  EXPECT_GE(found.together.highNs, found.together.ns);
}

TEST(Plan, LeavesOutChangesThatHardlySaveAnything) {
  const SimulatedJob job(dataParallelJob(smallBuckets()));
  const Plan all = must(planOf(job, {.questions = {"bucket-size"}}));
  ASSERT_EQ(all.changes.size(), 1U);
  const Plan none = must(planOf(job, {.questions = {"bucket-size"}, .leastGain = all.gain + 0.01}));
  EXPECT_TRUE(none.changes.empty());
  ASSERT_EQ(none.others.size(), 1U);
  EXPECT_EQ(none.together.ns, none.baselineNs);
}

// With one size of collectives the time of half the bytes is hardly known.
TEST(Plan, SaysWhenItMayNotHelp) {
  const Plan unsure =
      must(planOf(SimulatedJob(jobsim::dataParallelJob({})), {.questions = {"compression"}}));
  ASSERT_EQ(familiesOf(unsure), std::vector<std::string>{"compression"});
  EXPECT_GT(unsure.together.highNs, unsure.baselineNs);
  EXPECT_THAT(unsure.notes, Contains(HasSubstr("may not help")));
  const Plan sure = must(planOf(SimulatedJob(jobsim::dataParallelJob(smallBuckets())),
                                {.questions = {"bucket-size"}}));
  EXPECT_THAT(sure.notes, Not(Contains(HasSubstr("may not help"))));
}

TEST(Plan, NamesWhatItCannotAsk) {
  const Plan found = must(planOf(SimulatedJob(dataParallelJob(smallBuckets()))));
  const auto workers = std::find_if(found.leftOut.begin(),
                                    found.leftOut.end(),
                                    [](const LeftOut& each) { return each.family == "workers"; });
  ASSERT_NE(workers, found.leftOut.end());
  EXPECT_THAT(workers->reason, HasSubstr("load"));

  const auto none =
      planOf(SimulatedJob(dataParallelJob(smallBuckets())), {.questions = {"workers", "pipeline"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::NotFound);
  EXPECT_THAT(none.error().message, HasSubstr("workers: "));
}

TEST(Plan, RefusesUnknownQuestions) {
  const auto found = planOf(SimulatedJob(jobsim::loaderJob({})), {.questions = {"buckets-size"}});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(found.error().message, HasSubstr("'bucket-size'"));
}

TEST(Plan, AddsWorkersToASlowLoader) {
  const Plan found = must(
      planOf(SimulatedJob(jobsim::loaderJob({.workers = 1, .iterations = 40, .prefetch = 1}))));
  EXPECT_EQ(familiesOf(found), std::vector<std::string>{"workers"});
  const double truth = meanNs(jobsim::loaderJob({.workers = 2, .iterations = 40, .prefetch = 2}));
  EXPECT_LT(found.together.ns, 1.02 * truth);
}

TEST(Plan, JudgesBatchesByTheirSamples) {
  DataParallel now = smallBuckets();
  const Plan found = must(planOf(SimulatedJob(hostDataParallelJob(now)), {.questions = {"batch"}}));
  ASSERT_EQ(familiesOf(found), std::vector<std::string>{"batch"});
  EXPECT_EQ(found.samples, 8);
  EXPECT_GT(found.together.ns, found.baselineNs);
  EXPECT_NEAR(found.gain, 1 - found.together.ns / 8 / found.baselineNs, 1e-9);
  EXPECT_GT(found.gain, 0);
}

TEST(Plan, FitsIntoTheMemory) {
  DataParallel now = smallBuckets();
  now.activationBytes = 10'000'000;
  const SimulatedJob job(hostDataParallelJob(now));
  const Plan roomy = must(planOf(job, {.memoryBytes = 1'000'000'000}));
  ASSERT_TRUE(roomy.memory);
  // A rank begins its iteration with its first activation.
  EXPECT_EQ(roomy.memory->peakBytes - roomy.memory->betweenBytes, 15 * now.activationBytes);
  const std::int64_t limit = roomy.memory->betweenBytes + 5 * now.activationBytes;
  const Plan tight = must(planOf(job, {.memoryBytes = limit}));
  EXPECT_THAT(familiesOf(tight), ::testing::Contains("split-batch"));
  EXPECT_LE(tight.peakBytes, static_cast<double>(limit));
  EXPECT_GT(tight.together.ns, roomy.together.ns);
  const auto none = planOf(job, {.memoryBytes = roomy.memory->betweenBytes});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::NotFound);
  EXPECT_THAT(none.error().message, HasSubstr("at its peak"));
  const auto stopped = planOf(job, {.memoryBytes = limit, .isToStop = [] { return true; }});
  ASSERT_FALSE(stopped);
  EXPECT_THAT(stopped.error().message, HasSubstr("--budget"));
}

TEST(Plan, NeedsAllocationsToJudgeMemory) {
  const auto found =
      planOf(SimulatedJob(dataParallelJob(smallBuckets())), {.memoryBytes = 1'000'000});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::NotFound);
  EXPECT_THAT(found.error().message, HasSubstr("+memory"));
}

TEST(Plan, IsTheBestSoFarWhenItIsStopped) {
  int left = 6;
  const Plan found = must(planOf(SimulatedJob(dataParallelJob(smallBuckets())),
                                 {.isToStop = [&left] { return left-- <= 0; }}));
  EXPECT_FALSE(found.isComplete);
  EXPECT_LE(found.together.ns, found.baselineNs);
}

}  // namespace
}  // namespace sonde::engine::optimise
