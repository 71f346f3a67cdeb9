#include "analysis/engine/calibration/in_run.h"

#include "analysis/model/words.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>

namespace sonde::engine::calibration {
namespace {

using model::SliceKind;
using test::must;

constexpr std::int64_t kUnit = 1'000;

// A run whose iterations take 1 ms plus 30 file calls of 1 µs, each of which costs `trueCostNs` to
// record. Every other block of ten does not record them. The trace states a cost of 100.
class CalibratedRun {
 public:
  explicit CalibratedRun(double trueCostNs) : trueCostNs_(trueCostNs) {
    const auto host = trace_.add(model::Host{.name = "h", .bootId = "b"});
    process_ = trace_.add(
        model::Process{.hostId = host, .pid = 7, .rank = 0, .command = "train", .startNs = 0});
    main_ = trace_.add(model::Thread{.processId = process_, .tid = 7});
    trace_.add(model::Overhead{.probe = "io",
                               .api = "call",
                               .meanNs = 100,
                               .errorNs = 100,
                               .method = "assumed",
                               .beforeNs = 10,
                               .insideNs = 10});
  }

  void askedFor(std::string_view sources) { trace_.meta("sources", sources); }

  void blocks(int count) {
    for (int block = 0; block < count; ++block)
      for (int iteration = 0; iteration < 10; ++iteration)
        addIteration(10 * block + iteration, block % 2 == 0);
  }

  // The recorder stores during the next blocks; their iterations take longer if all is recorded.
  void blocksWhileItStores(int count) {
    const std::int64_t begin = now_;
    trueCostNs_ *= 3;
    blocks(count);
    trueCostNs_ /= 3;
    must(trace_.writer().database().exec(
        fmt::format("INSERT OR REPLACE INTO meta VALUES('calibrate', '10'); INSERT INTO "
                    "storing(host_id, start_ns, dur_ns) VALUES(1, {}, {})",
                    begin,
                    now_ - begin)));
  }

  // Adds an inner iteration to each.
  void withIterationsInside() {
    must(trace_.writer().database().exec(
        "INSERT INTO iteration(process_id, number, start_ns, dur_ns, probe_mask) SELECT "
        "process_id, number, start_ns + 10, dur_ns / 2, probe_mask FROM iteration"));
  }

  store::Database open() {
    trace_.finish();
    return must(store::openTrace(path_));
  }

 private:
  void addIteration(std::int64_t number, bool isOn) {
    const std::int64_t begin = now_;
    now_ += 500 * kUnit + static_cast<std::int64_t>(noise_(random_) * 20 * kUnit);
    for (int call = 0; call < 30; ++call) {
      if (isOn)
        trace_.slice(main_, SliceKind::Io, "read", {now_, now_ + kUnit}, {}, "io");
      now_ += kUnit + (isOn ? std::llround(trueCostNs_) : 0);
    }
    now_ += 500 * kUnit;
    const std::int64_t io = model::probeBit("io");
    trace_.add(model::Iteration{.processId = process_,
                                .number = number,
                                .startNs = begin,
                                .durNs = now_ - begin,
                                .probeMask = 1 | (isOn ? io : 0)});
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  model::ProcessId process_;
  model::ThreadId main_;
  double trueCostNs_;
  std::int64_t now_ = 1'000'000;
  std::mt19937 random_{1};
  std::normal_distribution<double> noise_;
};

TEST(CalibrateInRun, FindsWhatTheCallsOfAProbeCost) {
  CalibratedRun run(700);
  run.blocks(60);
  const auto costs = must(calibrateInRun(run.open()));
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->costs.probes, std::vector<std::string>{"io"});
  ASSERT_EQ(costs->costs.rows.size(), 1U);
  const correction::MeasuredCost& io = costs->costs.rows[0];
  EXPECT_EQ(io.method, "in-run");
  EXPECT_NEAR(io.cost.sumNs(), 700, 3 * io.errorNs);
  EXPECT_LT(io.errorNs, 0.2 * io.cost.sumNs());
  EXPECT_NEAR(io.cost.beforeNs / io.cost.sumNs(), 0.1, 1e-9);
  EXPECT_NEAR(costs->overheadNs, 30 * 700, 3 * costs->overheadErrorNs);
  EXPECT_EQ(costs->iterations, 60 * 9) << "the first of each block is left out";
}

TEST(CalibrateInRun, OfAProbeThatCostsNothingItSaysSo) {
  CalibratedRun run(0);
  run.blocks(60);
  const auto costs = must(calibrateInRun(run.open()));
  ASSERT_TRUE(costs);
  EXPECT_LT(costs->costs.rows[0].cost.sumNs(), 2 * costs->costs.rows[0].errorNs + 1);
}

TEST(CalibrateInRun, SaysNothingOfARunInWhichNoProbeWasOff) {
  CalibratedRun run(700);
  run.blocks(1);
  EXPECT_FALSE(must(calibrateInRun(run.open())));
}

// As in a trimmed trace: the largest mask does not have to be that of all probes.
TEST(CalibrateInRun, WhatTheRunWasAskedForAreAllProbesAndNotWhatIsThere) {
  CalibratedRun run(700);
  run.askedFor("annotation,io,sync");
  run.blocks(60);
  const auto costs = calibrateInRun(run.open());
  ASSERT_FALSE(costs);
  EXPECT_EQ(costs.error().code, ErrorCode::NotFound);
}

TEST(CalibrateInRun, GoesByTheBlocksOfARunThatSaysWhatItWasAskedFor) {
  CalibratedRun run(700);
  run.askedFor("annotation,io");
  run.blocks(60);
  const auto costs = must(calibrateInRun(run.open()));
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->iterations, 60 * 9);
}

TEST(CalibrateInRun, LeavesOutIterationsDuringWhichTheRecorderStored) {
  CalibratedRun run(700);
  run.blocks(30);
  run.blocksWhileItStores(40);
  run.blocks(30);
  const auto costs = must(calibrateInRun(run.open()));
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->iterations, 60 * 9);
  ASSERT_EQ(costs->costs.rows.size(), 1U);
  EXPECT_NEAR(costs->costs.rows[0].cost.sumNs(), 700, 3 * costs->costs.rows[0].errorNs);
}

TEST(CalibrateInRun, CountsTheOutermostIterations) {
  CalibratedRun run(700);
  run.blocks(60);
  CalibratedRun nested(700);
  nested.blocks(60);
  nested.withIterationsInside();
  const auto expected = must(calibrateInRun(run.open()));
  const auto found = must(calibrateInRun(nested.open()));
  ASSERT_TRUE(expected && found);
  EXPECT_EQ(found->iterations, expected->iterations);
  EXPECT_EQ(found->overheadNs, expected->overheadNs);
}

TEST(CalibrateInRun, OfARunDuringWhichTheRecorderStoredAlwaysAllCounts) {
  CalibratedRun run(700);
  run.blocksWhileItStores(60);
  const auto costs = must(calibrateInRun(run.open()));
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->iterations, 60 * 9);
}

TEST(CalibrateInRun, SaysThatARunWasTooShort) {
  CalibratedRun run(700);
  run.blocks(4);
  const auto costs = calibrateInRun(run.open());
  ASSERT_FALSE(costs);
  EXPECT_EQ(costs.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::calibration
