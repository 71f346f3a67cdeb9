// The rule `regression` on simulated runs whose change is known, and baseline files of them.
#include "analysis/engine/diff/bounded_runs.h"
#include "rules/baseline/baseline_file.h"
#include "rules/builtin/runs/runs_rules.h"
#include "tests/engine/diff/simulated_runs.h"
#include "tests/rules/process_rule.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sonde::rules {
namespace {

namespace diff = engine::diff;
using sonde::test::must;
using ::testing::HasSubstr;

constexpr int kOperations = 20;

// Runs of 20 operations of 10 ms each, of which the first `slowed` last longer by `factor`.
class SimulatedJobs {
 public:
  explicit SimulatedJobs(unsigned seed) : simulation_(seed) {}

  std::vector<diff::RunTimes> side(int runs, int slowed = 0, double factor = 1) {
    diff::Simulated like;
    like.runs = runs;
    std::vector<diff::RunTimes> all(static_cast<std::size_t>(runs));
    for (diff::RunTimes& run : all) {
      run.iterations = static_cast<std::size_t>(like.iterations);
      run.ranks = 1;
      run.times[diff::Subject{}].assign(run.iterations, 0);
    }
    for (int operation = 0; operation < kOperations; ++operation) {
      const auto observed = simulation_.side(like, operation < slowed ? factor : 1);
      const diff::Subject subject{diff::Kind::Host, {}, "op " + std::to_string(operation)};
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].times[subject] = observed[i];
        for (std::size_t at = 0; at < observed[i].size(); ++at)
          all[i].times[diff::Subject{}][at] += observed[i][at];
      }
    }
    return all;
  }

 private:
  diff::Simulation simulation_;
};

class Regression : public ::testing::Test {
 protected:
  std::vector<Finding> judge(const std::vector<diff::RunTimes>& before,
                             const std::vector<diff::RunTimes>& now) const {
    return must(judgeRegression({before, now}, parameters_));
  }
  static std::set<std::string> fired(const std::vector<Finding>& findings) {
    std::set<std::string> entities;
    for (const Finding& each : findings)
      if (each.outcome.verdict == Verdict::Fired)
        entities.insert(each.entity);
    return entities;
  }
  // Runs whose iterations all last this many nanoseconds, a little different in each run.
  static std::vector<diff::RunTimes> constant(double ns, int runs = 5) {
    std::vector<diff::RunTimes> all;
    for (int i = 0; i < runs; ++i) {
      diff::RunTimes& run = all.emplace_back();
      run.iterations = 20;
      run.ranks = 1;
      run.times[diff::Subject{}].assign(20, ns * (1 + 0.0001 * i));
    }
    return all;
  }

  Parameters parameters_{findRule("regression")->parameters};
};

TEST_F(Regression, AFivePerCentSlowdownOfFiveRunsIsFound) {
  int found = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    SimulatedJobs jobs(seed);
    const auto before = jobs.side(5);
    found += fired(judge(before, jobs.side(5, kOperations, 1.05))).contains("iteration") ? 1 : 0;
  }
  EXPECT_EQ(found, 40);
}

TEST_F(Regression, TheSlowedOperationIsNamedAndNoOther) {
  SimulatedJobs jobs(3);
  const auto before = jobs.side(5);
  EXPECT_EQ(fired(judge(before, jobs.side(5, 1, 1.2))), (std::set<std::string>{"operation op 0"}));
}

TEST_F(Regression, UnchangedRunsFireInAtMostOneOfTwentyComparisons) {
  int alarms = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SimulatedJobs jobs(1000 + seed);
    const auto before = jobs.side(5);
    alarms += fired(judge(before, jobs.side(5))).empty() ? 0 : 1;
  }
  EXPECT_LE(alarms, 10);
}

TEST_F(Regression, OneNewRunAgainstFiveKeepsToTheRateToo) {
  int alarms = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SimulatedJobs jobs(5000 + seed);
    const auto before = jobs.side(5);
    alarms += fired(judge(before, jobs.side(1))).empty() ? 0 : 1;
  }
  EXPECT_LE(alarms, 10);
}

TEST_F(Regression, AFasterRunPassesAndSaysSo) {
  const auto findings = judge(constant(1e8), constant(9e7));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].outcome.verdict, Verdict::Pass);
  EXPECT_THAT(findings[0].outcome.message, HasSubstr("10 % faster than the baseline"));
}

TEST_F(Regression, TheSmallestEffectThatMattersFires) {
  const auto findings = judge(constant(1e8), constant(1.04e8));
  ASSERT_EQ(findings.size(), 1U);
  const double change = findings[0].outcome.value.value();
  EXPECT_NEAR(change, 0.04, 1e-9);
  must(parameters_.set("min_effect", change));
  EXPECT_EQ(judge(constant(1e8), constant(1.04e8))[0].outcome.verdict, Verdict::Fired);
  must(parameters_.set("min_effect", change + 1e-9));
  const Outcome less = judge(constant(1e8), constant(1.04e8))[0].outcome;
  EXPECT_EQ(less.verdict, Verdict::Pass);
  EXPECT_THAT(less.message, HasSubstr("4 % slower than the baseline"));
}

TEST_F(Regression, APassNeedsTheResolution) {
  const auto before = constant(1e8, 1);
  const Outcome first = judge(before, before)[0].outcome;
  EXPECT_EQ(first.verdict, Verdict::Insufficient);
  const double detectable = std::get<double>(first.evidence.at("detectable"));
  EXPECT_GT(detectable, 0.1);
  must(parameters_.set("resolution", detectable));
  EXPECT_EQ(judge(before, before)[0].outcome.verdict, Verdict::Pass);
  must(parameters_.set("resolution", detectable - 1e-9));
  EXPECT_EQ(judge(before, before)[0].outcome.verdict, Verdict::Insufficient);
}

std::vector<diff::RunTimes> runsOf(int runs, const std::vector<double>& iterations) {
  std::vector<diff::RunTimes> all(static_cast<std::size_t>(runs));
  for (diff::RunTimes& run : all) {
    run.iterations = iterations.size();
    run.ranks = 1;
    run.times[diff::Subject{}] = iterations;
  }
  return all;
}

TEST_F(Regression, ASingleIterationThatLastsThreeTimesAsLongFires) {
  const auto findings = judge(runsOf(5, std::vector<double>(54, 1e7)), runsOf(1, {3e7}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].outcome.verdict, Verdict::Fired) << findings[0].outcome.message;
}

TEST_F(Regression, TooFewIterationsNameTheNumberThatIsNeeded) {
  const auto findings = judge(runsOf(1, std::vector<double>(30, 1e7)), runsOf(1, {3e7}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(findings[0].outcome.message, HasSubstr("record at least 2 of this run"));
}

TEST_F(Regression, ASlowdownThatRanksDoNotShowIsNoPass) {
  // The fastest fifth became slower in all runs. All others are the same.
  const auto side = [](double fast) {
    std::vector<double> times;
    for (int i = 0; i < 30; ++i)
      times.push_back(i % 5 == 0 ? fast : 2e7 + 7e5 * i);
    return runsOf(4, times);
  };
  const auto findings = judge(side(1e7), side(1.2e7));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].outcome.verdict, Verdict::Insufficient);
  EXPECT_THAT(
      findings[0].outcome.message,
      HasSubstr("perhaps slower (20 to 20 %), but the ranks of the iterations do not show"));
}

TEST_F(Regression, WhatOneSideLacksIsNoSlowdown) {
  auto before = constant(1e8);
  auto now = constant(1e8);
  for (diff::RunTimes& run : now)
    run.times[{diff::Kind::Kernel, {}, "gemm"}].assign(20, 1e7);
  EXPECT_TRUE(fired(judge(before, now)).empty());
  EXPECT_TRUE(fired(judge(now, before)).empty());
}

TEST_F(Regression, AFileKeepsTheLastIterationsAndTheLongestSubjects) {
  std::vector<diff::RunTimes> runs(1);
  runs[0].iterations = 400;
  runs[0].ranks = 1;
  std::vector<double>& whole = runs[0].times[diff::Subject{}];
  for (int i = 0; i < 400; ++i)
    whole.push_back(i + 0.6);
  for (int i = 0; i < 50; ++i)
    runs[0].times[{diff::Kind::Kernel, {}, "k" + std::to_string(i)}].assign(400, 100 + i);
  const auto bounded = diff::boundedRuns(runs);
  EXPECT_EQ(bounded[0].iterations, 300U);
  EXPECT_EQ(bounded[0].times.at({}).front(), 101);
  EXPECT_EQ(bounded[0].times.at({}).back(), 400);
  EXPECT_EQ(bounded[0].times.size(), 41U);
  EXPECT_FALSE(bounded[0].times.contains({diff::Kind::Kernel, {}, "k9"}));
  EXPECT_TRUE(bounded[0].times.contains({diff::Kind::Kernel, {}, "k10"}));
}

TEST_F(Regression, AFileGivesTheSameFindingsAsTheRuns) {
  SimulatedJobs jobs(9);
  auto before = diff::boundedRuns(jobs.side(5));
  for (diff::RunTimes& run : before) {
    run.errors[diff::Subject{}].assign(run.iterations, 12345.678);
    run.costs = {true, true, 0.3, "torch build cpu"};
  }
  before = diff::boundedRuns(std::move(before));
  BaselineFile file{
      "2027-01-31T12:00:00Z", {"operation", "kernel"}, {{"Xeon \"8\"", 16, {{"H200", 1}}}}, {}};
  for (const diff::RunTimes& run : before)
    file.runs.push_back({"räm.sonde", run});
  const sonde::test::TemporaryFolder folder;
  sonde::test::writeText(folder / "b.json", renderBaseline(file));
  const BaselineFile read = must(readBaselineFile(folder / "b.json"));
  EXPECT_EQ(read.created, file.created);
  EXPECT_EQ(read.by, file.by);
  EXPECT_EQ(read.hardware, file.hardware);
  EXPECT_EQ(renderBaseline(read), renderBaseline(file));
  std::vector<diff::RunTimes> again;
  for (const BaselineFileRun& run : read.runs)
    again.push_back(run.times);
  for (const double factor : {1.0, 1.05, 1.3}) {
    const auto now = jobs.side(5, 5, factor);
    const auto byRuns = judge(before, now);
    const auto byFile = judge(again, now);
    ASSERT_EQ(byRuns.size(), byFile.size());
    for (std::size_t i = 0; i < byRuns.size(); ++i) {
      EXPECT_EQ(byRuns[i].entity, byFile[i].entity);
      EXPECT_EQ(byRuns[i].outcome.verdict, byFile[i].outcome.verdict);
      EXPECT_EQ(byRuns[i].outcome.message, byFile[i].outcome.message);
      EXPECT_EQ(byRuns[i].outcome.evidence, byFile[i].outcome.evidence);
    }
  }
}

TEST_F(Regression, HostsAreTheSameWhateverTheirNumberAndOrder) {
  const diff::HostModel small{"Xeon", 8, {}};
  const diff::HostModel big{"Xeon", 16, {{"H200", 1}, {"A100", 2}}};
  const diff::HostModel turned{"Xeon", 16, {{"A100", 2}, {"H200", 1}}};
  EXPECT_EQ(diff::joined({{small, big}, {small}}), diff::joined({{turned}, {small}}));
  EXPECT_NE(diff::joined({{small}}), diff::joined({{small, big}}));
  EXPECT_EQ(diff::textOf(diff::Hardware{{"Xeon", 16, {{"H200", 1LL << 37}, {"H200", 1LL << 37}}}}),
            "Xeon, 16 cores, 2 x H200 (128.0 GiB)");
  EXPECT_EQ(diff::textOf(diff::Hardware{{"", 0, {{"", 0}}}}),
            "unknown processor, unknown number of cores, unknown GPU");
  EXPECT_EQ(diff::textOf(diff::Hardware{}), "unknown hardware");
}

}  // namespace
}  // namespace sonde::rules
