// The published jobs of StragglerAnalysis, beside what its authors' replay and what-if say of them.
#include "analysis/engine/operations/operation_graph.h"

#include "analysis/engine/operations/operation_replay.h"
#include "analysis/engine/operations/slowdown.h"
#include "analysis/engine/operations/step_times.h"
#include "analysis/engine/replay/replay.h"
#include "analysis/finalise/finaliser.h"
#include "analysis/ingest/import_job.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

namespace sonde::engine::operations {
namespace {

using nlohmann::json;

const std::filesystem::path kJobs = std::filesystem::path(SONDE_REFERENCE_DATA) / "straggler";
constexpr double kNs = 1e-9;
// The authors compute with numbers of 32 bits.
constexpr double kTolerance = 1e-6;

json readJson(const std::string& name) {
  std::ifstream file(kJobs / name);
  return json::parse(file);
}

class OperationJobs : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(kJobs))
      GTEST_SKIP() << "skipped: reference data not present";
    const std::string name = GetParam();
    truth_ = readJson("result-" + name + ".json");
    const std::string path = folder_ / "t.sonde";
    auto job = ingest::ImportJob::create(path, {});
    ASSERT_TRUE(job);
    ASSERT_TRUE(job->add({kJobs / ("timeline-" + name + ".json.gz")}));
    auto released = job->release();
    ASSERT_TRUE(released);
    ASSERT_TRUE(store::finalise(*std::move(released)));
    const auto trace = store::openTrace(path);
    ASSERT_TRUE(trace);
    auto made = readOperationGraph(*trace);
    ASSERT_TRUE(made) << made.error().message;
    job_ = *std::move(made);
  }
  void expectNear(double found, const json& expected, const std::string& what) const {
    const double value = expected.get<double>();
    EXPECT_NEAR(found, value, kTolerance * value) << what;
  }

  test::TemporaryFolder folder_;
  json truth_;
  OperationGraph job_;
};

TEST_P(OperationJobs, TheReplayOfItsOwnTimesIsExact) {
  EXPECT_EQ(replay::replay(job_.graph, {job_.graph.durNs, job_.graph.gapNs}), job_.graph.beginNs);
  EXPECT_EQ(job_.unknown + job_.stepless + job_.unpaired + job_.apart, 0);
}

TEST_P(OperationJobs, StepsWithoutDelaysAreTheAuthors) {
  const std::vector<std::int64_t> times = timesWithoutDelays(job_, job_.graph.durNs);
  ASSERT_EQ(job_.steps.size(), truth_["step_t_nodelay"].size());
  for (std::size_t step = 0; step < times.size(); ++step) {
    const std::string number = std::to_string(job_.steps[step].number);
    expectNear(kNs * static_cast<double>(times[step]), truth_["step_t_nodelay"][number], number);
  }
}

// The authors measure from the begin of a step, which the file does not have: up to 0.7 ms before
// its first operation.
TEST_P(OperationJobs, MeasuredStepsAreTheAuthors) {
  const std::vector<std::int64_t> times = measuredTimes(job_);
  for (std::size_t step = 0; step < times.size(); ++step) {
    const double truth = truth_["step_t_base"][std::to_string(job_.steps[step].number)];
    const double found = kNs * static_cast<double>(times[step]);
    EXPECT_LE(found, truth);
    EXPECT_GE(found, truth - 1e-3);
  }
}

TEST_P(OperationJobs, TheErrorIsNotAboveTheAuthors) {
  double theirs = 0;
  for (const auto& [number, base] : truth_["step_t_base"].items())
    theirs += std::abs(truth_["step_t_nodelay"][number].get<double>() - base.get<double>()) /
              base.get<double>() / static_cast<double>(truth_["step_t_base"].size());
  const double ours = meanError(timesWithoutDelays(job_, job_.graph.durNs), measuredTimes(job_));
  EXPECT_LE(ours, theirs);
  EXPECT_GT(ours, 0.9 * theirs);
  RecordProperty("error", std::to_string(ours));
}

// All steps of both jobs have one structure.
TEST_P(OperationJobs, DelaysOfOtherStepsPredictAStep) {
  const auto own = replayOperations(job_, replay::Judge::Identity);
  ASSERT_TRUE(own);
  ASSERT_EQ(own->groups.size(), 1U);
  EXPECT_LT(std::abs(own->predictedError.value_or(1)), 0.005);
  EXPECT_LT(std::abs(*own->predictedError), std::abs(own->error) / 4);
  const auto odd = replayOperations(job_, replay::Judge::Odd);
  ASSERT_TRUE(odd);
  EXPECT_GT(odd->iterations, 10);
  EXPECT_LT(std::abs(odd->error), 2 * odd->standardError.value());
  EXPECT_LT(std::abs(odd->error), 0.01);
}

TEST_P(OperationJobs, SlowdownAndItsPartsAreTheAuthors) {
  const auto found = slowdownOf(job_);
  ASSERT_TRUE(found);
  expectNear(found->slowdown, truth_["blocking_slowdown"], "S");
  expectNear(kNs * found->idealNs, truth_["step_t_noblk"].front(), "noblk");
  ASSERT_EQ(found->types.size(), truth_["blocking_decompose_by_optype"].size());
  for (const GroupSlowdown& each : found->types)
    expectNear(each.slowdown, truth_["blocking_decompose_by_optype"][each.name], each.name);
  ASSERT_EQ(found->stages.size(), truth_["blocking_decompose_by_stage"].size());
  for (const GroupSlowdown& each : found->stages) {
    const std::string number = std::to_string(each.number);
    expectNear(each.slowdown, truth_["blocking_decompose_by_stage"][number], "stage " + number);
  }
  ASSERT_EQ(found->dataParallelRanks.size(), truth_["blocking_decompose_by_dp_rank"].size());
  for (const GroupSlowdown& each : found->dataParallelRanks) {
    const std::string number = std::to_string(each.number);
    expectNear(each.slowdown, truth_["blocking_decompose_by_dp_rank"][number], "rank " + number);
  }
  const json workers = readJson(std::string("mw-") + GetParam() + ".json");
  EXPECT_NEAR(found->slowestWorkersShare, workers["Mw"].get<double>(), 1e-5);
  const json stages = readJson(std::string("ms-") + GetParam() + ".json");
  EXPECT_NEAR(found->lastStageShare, stages["Ms"].get<double>(), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Published, OperationJobs, ::testing::Values("ST", "AR"));

}  // namespace
}  // namespace sonde::engine::operations
