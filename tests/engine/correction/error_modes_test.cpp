#include "analysis/engine/correction/error_modes.h"

#include "analysis/engine/correction/error_interval.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace sonde::engine::correction {
namespace {

using test::must;
using ::testing::SizeIs;

// Each cost is 100 ns, and each occurs once.
class ErrorModesTest : public ::testing::Test {
 protected:
  void cost(std::string_view probe,
            double error,
            std::string_view method = "in-run",
            model::ProcessId process = {}) {
    trace_.add(model::Overhead{.probe = probe,
                               .api = "call",
                               .meanNs = 100,
                               .errorNs = 100 * error,
                               .method = method,
                               .processId = process});
    ++count_;
  }
  void covariance(std::string_view a, std::string_view b, double value) {
    trace_.add(model::OverheadCovariance{a, b, value, {}});
    if (a != b)
      trace_.add(model::OverheadCovariance{b, a, value, {}});
  }
  // ± 20 and 30 %.
  void ioAndNet(double inCommon) {
    cost("io", 0.2);
    cost("net", 0.3);
    covariance("io", "io", 0.04);
    covariance("net", "net", 0.09);
    covariance("io", "net", inCommon);
  }
  model::ProcessId process() {
    const auto host = trace_.add(model::Host{.name = "h", .bootId = "b"});
    return trace_.add(model::Process{.hostId = host, .pid = 7, .command = "train"});
  }
  std::vector<ErrorMode> modes() {
    trace_.finish(false);
    const auto trace = must(store::openTrace(path_));
    return errorModes(must(CostTable::read(trace)), std::vector<std::int64_t>(count_, 1));
  }
  // The variance of a sum that applies `weights` to the relative changes.
  static double varianceOf(const std::vector<ErrorMode>& modes,
                           const std::vector<double>& weights) {
    double variance = 0;
    for (const ErrorMode& mode : modes) {
      double change = 0;
      for (std::size_t at = 0; at < weights.size(); ++at)
        change += weights[at] * mode[at];
      variance += change * change;
    }
    return variance;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  std::size_t count_ = 0;
};

// A call with an inexact cost that is made rarely hardly counts.
TEST_F(ErrorModesTest, OfAProbeAreThoseOfItsCallsAsOftenAsTheyAreMade) {
  cost("io", 0.2, "micro-loop");
  cost("io", 1.2, "micro-loop");
  trace_.finish(false);
  const auto trace = must(store::openTrace(path_));
  const auto modes = errorModes(must(CostTable::read(trace)), {9, 1});
  EXPECT_NEAR(varianceOf(modes, {1, 0}), 0.3 * 0.3, 1e-9);
  EXPECT_NEAR(varianceOf(modes, {9, 1}), 3.0 * 3.0, 1e-9);
}

// Otherwise errors of one measurement would be combined with the covariance of another.
TEST_F(ErrorModesTest, HaveNothingInCommonWithWhatWasMeasuredElsewhere) {
  ioAndNet(-0.06);
  trace_.finish(false);
  CostTable table = must(CostTable::read(must(store::openTrace(path_))));
  table.add(
      CostSet{{{"io", "call", std::nullopt, {0, 0, 100}, 1, "separate runs"}}, {"io"}, {{0.0001}}});
  EXPECT_EQ(table.covariance(CostTable::kAll, "io", "io"), 0.0001);
  EXPECT_EQ(table.covariance(CostTable::kAll, "net", "net"), 0.09);
  EXPECT_EQ(table.covariance(CostTable::kAll, "io", "net"), std::nullopt);
  EXPECT_EQ(table.covariance(CostTable::kAll, "net", "io"), std::nullopt);
}

TEST_F(ErrorModesTest, HaveTheVarianceOfEachAndOfAnySum) {
  ioAndNet(-0.05);
  const auto found = modes();
  EXPECT_THAT(found, SizeIs(2));
  EXPECT_NEAR(varianceOf(found, {1, 0}), 0.04, 1e-9);
  EXPECT_NEAR(varianceOf(found, {0, 1}), 0.09, 1e-9);
  EXPECT_NEAR(varianceOf(found, {1, 1}), 0.03, 1e-9);
  EXPECT_NEAR(varianceOf(found, {1, -2}), 0.04 + 0.36 + 0.2, 1e-9);
}

// With more causes than are kept, each probe and the sum of all keep their variances.
TEST_F(ErrorModesTest, WhatIsTakenTogetherLosesNoVarianceAndOverstatesNone) {
  const std::vector<std::string> probes = {"io", "net", "sync", "python", "torch", "nccl", "mpi"};
  double sum = 0;
  for (std::size_t at = 0; at < probes.size(); ++at) {
    const double error = 0.1 + 0.01 * static_cast<double>(at);
    cost(probes[at], error);
    sum += error * error;
  }
  const auto found = modes();
  EXPECT_THAT(found, SizeIs(kMostModes));
  for (std::size_t at = 0; at < probes.size(); ++at) {
    std::vector<double> alone(probes.size(), 0);
    alone[at] = 1;
    EXPECT_NEAR(std::sqrt(varianceOf(found, alone)), 0.1 + 0.01 * static_cast<double>(at), 1e-9);
  }
  const double all = varianceOf(found, std::vector<double>(probes.size(), 1));
  EXPECT_NEAR(std::sqrt(all) / std::sqrt(sum), 1, 0.2);
}

// Each rank measured the cost of its own recording, so their errors are independent. Results of
// loops are equally wrong in both.
TEST_F(ErrorModesTest, MeasurementsOfSeveralProcessesAreIndependentAndLoopsAreNot) {
  constexpr std::size_t kRanks = 16;
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    cost("io", 0.1, "in-run", process());
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    cost("net", 0.1, "micro-loop", process());
  const auto found = modes();
  std::vector<double> measured(2 * kRanks, 0);
  std::vector<double> loops(2 * kRanks, 0);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    loops[rank] = 1;  // the worse method is first in the table
    measured[kRanks + rank] = 1;
    std::vector<double> alone(2 * kRanks, 0);
    alone[kRanks + rank] = 1;
    EXPECT_NEAR(varianceOf(found, alone), 0.01, 1e-9) << rank;
  }
  EXPECT_NEAR(std::sqrt(varianceOf(found, measured)), 0.1 * std::sqrt(kRanks), 1e-9);
  EXPECT_NEAR(std::sqrt(varianceOf(found, loops)), 0.1 * kRanks, 1e-9);
}

TEST(ErrorInterval, DoesNotDependOnWhichDirectionIsCalledHigher) {
  ErrorInterval one(1000, 800);
  one.add(790, 805);
  ErrorInterval other(1000, 800);
  other.add(805, 790);
  EXPECT_EQ(one.lowNs(), other.lowNs());
  EXPECT_EQ(one.highNs(), other.highNs());
  EXPECT_EQ(one.lowNs(), 780);
  EXPECT_EQ(one.highNs(), 810);
}

TEST(ErrorInterval, AddsSquares) {
  ErrorInterval interval(10'000, 5000);
  interval.add(5300, 4700);
  interval.add(4600, 5400);
  EXPECT_EQ(interval.lowNs(), 5000 - 980);
  EXPECT_EQ(interval.highNs(), 5000 + 980);
}

TEST(ErrorInterval, StaysWithinWhatCanBe) {
  std::mt19937 random(3);
  for (int time = 0; time < 1000; ++time) {
    const auto some = [&](unsigned most) { return static_cast<std::int64_t>(random() % most); };
    const std::int64_t raw = some(1000);
    const std::int64_t ns = some(1000);
    ErrorInterval interval(raw, ns);
    for (int cause = 0; cause < 3; ++cause)
      interval.add(some(2000), some(2000));
    EXPECT_LE(0, interval.lowNs());
    EXPECT_LE(interval.lowNs(), ns);
    EXPECT_LE(ns, interval.highNs());
    EXPECT_LE(interval.highNs(), ns <= raw ? raw : INT64_MAX);
  }
}

}  // namespace
}  // namespace sonde::engine::correction
