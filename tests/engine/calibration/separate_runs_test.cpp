#include "analysis/engine/calibration/separate_runs.h"

#include "analysis/engine/calibration/known_factors.h"
#include "analysis/model/words.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace sonde::engine::calibration {
namespace {

// Results of loops: io takes 2 µs of an iteration, net 1 µs, each ± a half.
correction::CostTable known() {
  correction::CostTable table;
  table.add({{{"io", "call", std::nullopt, {20, 20, 160}, 100, "micro-loop"},
              {"net", "transfer", std::nullopt, {10, 10, 80}, 50, "micro-loop"}},
             {},
             {}});
  return table;
}

// Rounds of runs of a job whose iterations take 1 ms. The machine's speed changes by a tenth
// between rounds and by a permille between runs; io takes 30 µs of each iteration, net 5.
std::vector<CalibrationRun> runs(std::size_t rounds, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const std::int64_t io = model::probeBit("io");
  const std::int64_t net = model::probeBit("net");
  std::vector<CalibrationRun> runs;
  for (std::size_t round = 0; round < rounds; ++round) {
    const double level = 1e6 * (1 + 0.1 * normal(random));
    for (const std::int64_t mask : {1 | io | net, std::int64_t{1}, 1 | io, 1 | net}) {
      CalibrationRun run;
      run.round = round;
      run.mask = mask;
      run.iterations = 100;
      if ((mask & io) != 0)
        run.costNs["io"] = 20'000;
      if ((mask & net) != 0)
        run.costNs["net"] = 10'000;
      run.iterationNs = level + 1e3 * normal(random) + ((mask & io) != 0 ? 30'000 : 0) +
                        ((mask & net) != 0 ? 5'000 : 0);
      runs.push_back(run);
    }
  }
  return runs;
}

// Reads a trace whose processes have these numbers of iterations of 1 µs.
Result<CalibrationRun> readRun(const std::vector<std::int64_t>& iterations) {
  const test::TemporaryFolder folder;
  test::TraceBuilder trace(folder / "t.sonde");
  const auto host = trace.add(model::Host{.name = "h", .bootId = "b"});
  for (const std::int64_t count : iterations) {
    const auto process = trace.add(model::Process{.hostId = host, .startNs = 0});
    for (std::int64_t number = 0; number < count; ++number)
      trace.add(model::Iteration{.processId = process,
                                 .number = number,
                                 .startNs = 2'000 * number,
                                 .durNs = 1'000,
                                 .probeMask = 1});
  }
  trace.finish();
  return readCalibrationRun(test::must(store::openTrace(folder / "t.sonde")), known());
}

TEST(ReadCalibrationRun, TwentyIterationsAreEnough) {
  const auto run = readRun({20});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->iterations, 19) << "the first does not count";
  EXPECT_DOUBLE_EQ(run->iterationNs, 1'000);
  const auto ofTwo = readRun({8, 12});
  ASSERT_TRUE(ofTwo) << ofTwo.error().message;
  EXPECT_EQ(ofTwo->iterations, 7 + 11);
}

TEST(ReadCalibrationRun, SaysHowManyIterationsAreTooFew) {
  EXPECT_THAT(readRun({19}).error().message, ::testing::HasSubstr("made 19 iterations, too few"));
  EXPECT_THAT(readRun({}).error().message, ::testing::HasSubstr("made 0 iterations, too few"));
  const std::vector<std::int64_t> ones(20, 1);
  EXPECT_THAT(readRun(ones).error().message, ::testing::HasSubstr("none of the 20 iterations"));
}

TEST(CalibrateRuns, FindsWhatEachProbeCostsThroughTheMachinesChanges) {
  const auto costs = calibrateRuns(runs(8, 1), known());
  ASSERT_TRUE(costs);
  ASSERT_EQ(costs->costs.probes, (std::vector<std::string>{"io", "net"}));
  for (const correction::MeasuredCost& row : costs->costs.rows) {
    const double truth = row.probe == "io" ? 300 : 50;
    EXPECT_NEAR(row.cost.sumNs(), truth, 3 * row.errorNs + 1) << row.probe;
    EXPECT_LT(row.errorNs, 0.1 * truth + 20);
    EXPECT_EQ(row.method, "separate runs");
  }
  EXPECT_NEAR(costs->overheadNs, 35'000, 3 * costs->overheadErrorNs);
  EXPECT_EQ(costs->iterations, 8 * 4 * 100);
}

TEST(CalibrateRuns, HasTheTruthInTheIntervalAsOftenAsItShould) {
  int within = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const auto costs = calibrateRuns(runs(5, seed), known());
    ASSERT_TRUE(costs);
    within += std::abs(costs->overheadNs - 35'000) < 1.96 * costs->overheadErrorNs ? 1 : 0;
  }
  EXPECT_GE(within, 170);
}

TEST(CalibrateRuns, RefusesOneRunOfEach) {
  const auto costs = calibrateRuns(runs(1, 1), known());
  ASSERT_FALSE(costs);
  EXPECT_EQ(costs.error().code, ErrorCode::NotFound);
}

TEST(CalibrateRuns, RefusesRunsThatRecordedNothing) {
  std::vector<CalibrationRun> all = runs(5, 1);
  for (CalibrationRun& run : all)
    run.costNs.clear();
  const auto costs = calibrateRuns(all, known());
  ASSERT_FALSE(costs);
  EXPECT_THAT(costs.error().message, ::testing::HasSubstr("nothing but its own annotations"));
}

TEST(ApplyFactors, LeavesWhatItKnowsWorseThanBefore) {
  Factors factors;
  factors.values = {3, 2};
  factors.covariance = {{4, 0}, {0, 0.01}};  // nothing was learnt about io: ± 200 %
  const auto costs = applyFactors(known(), {{"io", 20'000}, {"net", 10'000}}, factors, "in-run");
  EXPECT_EQ(costs.costs.probes, std::vector<std::string>{"net"});
  ASSERT_EQ(costs.costs.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(costs.costs.rows[0].cost.sumNs(), 200);
  EXPECT_DOUBLE_EQ(costs.costs.rows[0].errorNs, std::hypot(10, 30)) << "and 15 % of its own";
  EXPECT_DOUBLE_EQ(costs.costs.covariance[0][0], 0.01 / 4 + 0.15 * 0.15)
      << "relative to what was found";
  ASSERT_EQ(costs.shares.size(), 2U);
  EXPECT_FALSE(costs.shares[0].found);
  EXPECT_DOUBLE_EQ(costs.shares[0].ns, 20'000) << "as it was known, and not three times that";
  EXPECT_DOUBLE_EQ(costs.shares[0].errorNs, 10'000);
  EXPECT_TRUE(costs.shares[1].found);
  EXPECT_DOUBLE_EQ(costs.overheadNs, 40'000);
  EXPECT_DOUBLE_EQ(costs.overheadErrorNs, std::hypot(10'000, 1'000, 3'000));
}

// The regression knows the sum of the two well, but not the shares.
TEST(ApplyFactors, WhatIsNotFoundOfOneProbeIsFoundOfTheOthers) {
  Factors factors;
  factors.values = {4, 1.1};
  factors.covariance = {{9, -1.8}, {-1.8, 0.3604}};
  const auto costs = applyFactors(known(), {{"io", 2'000}, {"net", 10'000}}, factors, "in-run");
  ASSERT_EQ(costs.shares.size(), 2U);
  EXPECT_FALSE(costs.shares[0].found);
  EXPECT_DOUBLE_EQ(costs.shares[0].ns, 2'000);
  EXPECT_NEAR(costs.overheadNs, 19'000, 1e-6) << "as the run shows: 4 x 2,000 + 1.1 x 10,000";
  EXPECT_NEAR(costs.shares[1].ns, 17'000, 1e-6) << "1.1 - 0.2 x (1 - 4)";
  EXPECT_NEAR(costs.overheadErrorNs, std::hypot(0.02 * 10'000, 0.15 * 17'000), 1)
      << "of which a half of what io is known to cost is no part, as net's is less by that";
  EXPECT_NEAR(costs.shares[1].errorNs, std::hypot(200, 0.5 * 2'000, 2'550), 1);
}

TEST(Given, OthersAreWhatTheyAreOnTheCondition) {
  Factors factors;
  factors.values = {2, 3, 5};
  factors.covariance = {{4, 2, 0}, {2, 3, 0}, {0, 0, 1}};
  const Factors found = given(factors, {0.5, std::nullopt, std::nullopt});
  EXPECT_EQ(found.values, (std::vector<double>{1, 2.5, 5}));
  EXPECT_DOUBLE_EQ(found.covariance[0][0], 0.25);
  EXPECT_DOUBLE_EQ(found.covariance[0][1], 0.125);
  EXPECT_DOUBLE_EQ(found.covariance[1][1], 3 - 1 + 0.25 / 4);
  EXPECT_DOUBLE_EQ(found.covariance[2][2], 1);
  const Factors all = given(factors, {0.5, 0.25, 0});
  EXPECT_EQ(all.values, (std::vector<double>{1, 1, 1}));
  EXPECT_DOUBLE_EQ(all.covariance[1][1], 0.0625);
  EXPECT_NEAR(all.covariance[0][1], 0, 1e-12);
  EXPECT_NEAR(all.covariance[2][2], 0, 1e-12);
}

TEST(Given, ItIsNothingNewWhereOneIsTheOther) {
  Factors factors;
  factors.values = {3, 3};
  factors.covariance = {{4, 4}, {4, 4}};
  const Factors both = given(factors, {1, 1});
  EXPECT_EQ(both.values, (std::vector<double>{1, 1}));
  EXPECT_NEAR(both.covariance[0][0], 1, 1e-9);
}

TEST(ApplyFactors, HasTheErrorOfAProbeThatCostsNextToNothing) {
  correction::CostTable table;
  table.add({{{"io", "call", std::nullopt, {0, 0, 100}, 50, "micro-loop", 20}}, {}, {}});
  Factors factors;
  factors.values = {-0.1};
  factors.covariance = {{0.01}};
  const auto costs = applyFactors(table, {{"io", 100}}, factors, "in-run");
  ASSERT_EQ(costs.costs.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(costs.costs.rows[0].cost.sumNs(), 20)
      << "what a call costs that is not recorded";
  EXPECT_DOUBLE_EQ(std::sqrt(costs.costs.covariance[0][0]) * 20, std::hypot(8, 10, 3));
}

TEST(ApplyFactors, ScalesWhatGoesWhenAProbeIsOff) {
  correction::CostTable table;
  table.add({{{"mpi", "call", std::nullopt, {50, 650, 50}, 750, "assumed", 500}}, {}, {}});
  Factors factors;
  factors.values = {1};
  factors.covariance = {{0.0004}};
  const std::vector<ProbeCost> probes = {{"mpi", 250, 500}};
  const auto as = applyFactors(table, probes, factors, "in-run");
  ASSERT_EQ(as.costs.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(as.costs.rows[0].cost.sumNs(), 750);
  EXPECT_DOUBLE_EQ(as.costs.rows[0].cost.insideNs, 650);
  EXPECT_DOUBLE_EQ(as.overheadNs, 750);
  EXPECT_DOUBLE_EQ(as.overheadErrorNs, std::hypot(250 * 0.02, 500, 112.5))
      << "what no run shows is no better known than it was";
  EXPECT_DOUBLE_EQ(as.noiseNs, 250 * 0.02);
  factors.values = {2};
  const auto twice = applyFactors(table, probes, factors, "in-run");
  EXPECT_DOUBLE_EQ(twice.costs.rows[0].cost.sumNs(), 1000) << "what is there anyway is as it was";
  EXPECT_DOUBLE_EQ(twice.overheadNs, 1000);
}

// CUPTI is never off, so almost none of a launch's cost disappears with the probe.
TEST(ApplyFactors, WhatNoRunCanShowIsNotFound) {
  correction::CostTable table;
  table.add(
      {{{"cuda", "launch", std::nullopt, {90, 1'530, 180}, 900, "micro-loop", 1'800}}, {}, {}});
  Factors factors;
  factors.values = {1};
  factors.covariance = {{2.5 * 2.5}};  // the prior: nothing was learnt
  const std::vector<ProbeCost> probes = {{"cuda", 90, 1'710}};
  const auto nothing = applyFactors(table, probes, factors, "in-run");
  ASSERT_EQ(nothing.shares.size(), 1U);
  EXPECT_FALSE(nothing.shares[0].found);
  EXPECT_TRUE(nothing.costs.rows.empty()) << "the loops' row is left to count";
  EXPECT_DOUBLE_EQ(nothing.shares[0].errorNs, 900);
  factors.covariance = {{0.0025}};
  const auto little = applyFactors(table, probes, factors, "in-run");
  EXPECT_FALSE(little.shares[0].found) << "well known is a twentieth of it";
  EXPECT_DOUBLE_EQ(little.shares[0].errorNs, 900);
  table.assumeFreeWhileOff("cuda");
  const auto all = applyFactors(table, {{"cuda", 1'800, 0}}, factors, "separate runs");
  EXPECT_TRUE(all.shares[0].found) << "runs without it do show it";
}

// The run's result for the removable part is not subtracted from the others.
TEST(ApplyFactors, AHiddenCostLeavesTheOthersAsTheRunShowsThem) {
  correction::CostTable table;
  table.add({{{"cuda", "launch", std::nullopt, {90, 1'530, 180}, 900, "micro-loop", 1'800},
              {"torch", "scope", std::nullopt, {100, 0, 100}, 200, "assumed"}},
             {},
             {}});
  Factors factors;
  factors.values = {3, 1};
  factors.covariance = {{0.04, -0.01}, {-0.01, 0.01}};
  const auto costs =
      applyFactors(table, {{"cuda", 90, 1'710}, {"torch", 1'000, 0}}, factors, "in-run");
  ASSERT_EQ(costs.shares.size(), 2U);
  EXPECT_FALSE(costs.shares[0].found);
  EXPECT_DOUBLE_EQ(costs.shares[0].ns, 1'800);
  EXPECT_TRUE(costs.shares[1].found);
  EXPECT_DOUBLE_EQ(costs.shares[1].ns, 1'000);
  EXPECT_DOUBLE_EQ(costs.noiseNs, 100);
  EXPECT_DOUBLE_EQ(costs.overheadErrorNs, std::hypot(900, 100, 150));
  ASSERT_EQ(costs.costs.rows.size(), 1U);
  EXPECT_EQ(costs.costs.rows[0].probe, "torch");
}

TEST(UsualSplit, WhatCuptiTakesLiesInsideOfTheCall) {
  const correction::EventCost launch = correction::usualSplit("cuda", "launch", 2'000);
  EXPECT_DOUBLE_EQ(launch.sumNs(), 2'000);
  EXPECT_DOUBLE_EQ(launch.insideNs, 1'700);
  EXPECT_DOUBLE_EQ(correction::usualSplit("annotation", "scope", 100).beforeNs, 50);
  EXPECT_DOUBLE_EQ(correction::usualSplit("io", "call", 100).afterNs, 80);
}

TEST(CostTable, LaunchesCostWhatOtherCallsDoWhereNobodySaysMore) {
  correction::CostTable table;
  EXPECT_EQ(table.find({"cuda", "launch"}, 1), std::nullopt);
  table.add({{{"cuda", "call", std::nullopt, {0, 0, 100}, 50, "assumed", 0}}, {}, {}});
  EXPECT_EQ(table.find({"cuda", "launch"}, 1), table.find({"cuda", "call"}, 1));
  table.add({{{"cuda", "launch", std::nullopt, {0, 0, 200}, 50, "assumed", 0}}, {}, {}});
  EXPECT_NE(table.find({"cuda", "launch"}, 1), table.find({"cuda", "call"}, 1));
  EXPECT_EQ(table.find({"io", "call"}, 1), std::nullopt);
}

TEST(AssumeFreeWhileOff, AProbeThatIsNotThereWhileItIsOffCostsNothingThen) {
  correction::CostTable table;
  table.add({{{"cuda", "launch", std::nullopt, {100, 1'500, 200}, 1'800, "assumed", 1'600},
              {"io", "call", std::nullopt, {0, 0, 100}, 50, "micro-loop", 20}},
             {},
             {}});
  table.assumeFreeWhileOff("cuda");
  ASSERT_EQ(table.rows().size(), 2U);
  EXPECT_EQ(unrecordedShare(table.rows()[0]), 0);
  EXPECT_EQ(table.rows()[0].cost.sumNs(), 1'800);
  EXPECT_EQ(unrecordedShare(table.rows()[1]), 0.2);
}

}  // namespace
}  // namespace sonde::engine::calibration
