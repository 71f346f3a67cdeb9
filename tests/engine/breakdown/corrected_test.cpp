#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace sonde::engine::breakdown {
namespace {

using model::SliceKind;
using test::must;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// A process from 0 to 1000, always in operation `outer`.
class CorrectedBreakdown : public ::testing::Test {
 protected:
  CorrectedBreakdown() {
    host_ = trace_.add(model::Host{.name = "h", .bootId = "b"});
    process_ = trace_.add(model::Process{
        .hostId = host_, .pid = 7, .rank = 0, .command = "train", .startNs = 0, .endNs = 1000});
    main_ = trace_.add(model::Thread{.processId = process_, .tid = 7});
    outer_ = operation("outer", {0, 1000}, {});
  }

  model::SliceId operation(std::string_view name,
                           std::pair<std::int64_t, std::int64_t> time,
                           model::SliceId within) {
    return trace_.slice(main_, SliceKind::Operation, name, time, within, "annotation");
  }
  void cost(std::string_view method, double before, double inside, double after, double error) {
    trace_.add(model::Overhead{.probe = "annotation",
                               .api = "scope",
                               .meanNs = before + inside + after,
                               .errorNs = error,
                               .method = method,
                               .beforeNs = before,
                               .insideNs = inside});
  }
  Breakdown result(const Options& options) {
    trace_.finish();
    const auto trace = must(store::openTrace(path_));
    return must(breakDown(trace, options));
  }
  static std::string text(const Row& row) {
    return fmt::format("{}: {} ({}–{}, raw {})",
                       fmt::join(row.group.operations, "&"),
                       row.ns,
                       row.lowNs,
                       row.highNs,
                       row.rawNs);
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  model::HostId host_;
  model::ProcessId process_;
  model::ThreadId main_;
  model::SliceId outer_;
};

constexpr Options kByOperation{.by = {.operation = true}};

TEST_F(CorrectedBreakdown, TakesTheCostOfAnAnnotationFromWhoMadeIt) {
  operation("inner", {200, 300}, outer_);
  operation("inner", {500, 600}, outer_);
  cost("micro-loop", 20, 10, 30, 0);
  const Breakdown found = result(kByOperation);
  EXPECT_TRUE(found.corrected);
  // Each `inner` costs 10 inside and 50 around it; `outer` costs 10 inside.
  EXPECT_THAT(found.rows, SizeIs(2));
  EXPECT_EQ(text(found.rows[0]), "outer: 690 (690–690, raw 800)");
  EXPECT_EQ(text(found.rows[1]), "inner: 180 (180–180, raw 200)");
  EXPECT_EQ(found.totalNs, 870);
  EXPECT_EQ(found.rawTotalNs, 1000);
}

TEST_F(CorrectedBreakdown, HasTheIntervalOfTheErrors) {
  operation("inner", {200, 300}, outer_);
  cost("micro-loop", 0, 40, 0, 4);
  const Breakdown found = result(kByOperation);
  EXPECT_EQ(text(found.rows[0]), "outer: 860 (852–868, raw 900)");
  EXPECT_EQ(text(found.rows[1]), "inner: 60 (52–68, raw 100)");
  EXPECT_EQ(found.rows[0].errorNs, 4);
}

TEST_F(CorrectedBreakdown, GoesByTheBestMethod) {
  cost("in-run", 0, 100, 0, 0);
  cost("micro-loop", 0, 10, 0, 0);
  cost("assumed", 0, 1, 0, 0);
  EXPECT_EQ(result(kByOperation).totalNs, 900);
}

TEST_F(CorrectedBreakdown, GoesByCostsFromElsewhereFirst) {
  cost("in-run", 0, 100, 0, 0);
  const correction::CostSet measured{
      {{"annotation", "scope", std::nullopt, {0, 200, 0}, 0, "separate runs"}}, {}, {}};
  Options options = kByOperation;
  options.measured = &measured;
  EXPECT_EQ(result(options).totalNs, 800);
}

TEST_F(CorrectedBreakdown, IsAsRecordedWhereThatIsAskedForOrNothingIsKnown) {
  Options raw = kByOperation;
  raw.correct = false;
  cost("in-run", 0, 100, 0, 10);
  const Breakdown found = result(raw);
  EXPECT_FALSE(found.corrected);
  EXPECT_EQ(text(found.rows[0]), "outer: 1000 (1000–1000, raw 1000)");
  EXPECT_EQ(found.rows[0].errorNs, 0);
}

TEST_F(CorrectedBreakdown, SaysWhatNobodyKnowsTheCostOf) {
  trace_.slice(main_, SliceKind::Mark, "m", {100, 100}, outer_, "annotation");
  trace_.slice(main_, SliceKind::Mark, "m", {200, 200}, outer_, "annotation");
  cost("in-run", 0, 10, 0, 0);
  const Breakdown found = result(kByOperation);
  ASSERT_THAT(found.unknownCosts, SizeIs(1));
  EXPECT_EQ(found.unknownCosts[0].probe + " " + found.unknownCosts[0].api, "annotation mark");
  EXPECT_EQ(found.unknownCosts[0].count, 2);
}

// It is only known that the cost is between zero and twice the stated one.
TEST_F(CorrectedBreakdown, AnIntervalEndsWhereRecordingCostNothing) {
  operation("inner", {200, 300}, outer_);
  operation("inner", {500, 600}, outer_);
  cost("assumed", 20, 10, 30, 60);
  const Breakdown found = result(kByOperation);
  EXPECT_EQ(text(found.rows[0]), "outer: 690 (474–800, raw 800)");
  EXPECT_EQ(text(found.rows[1]), "inner: 180 (141–200, raw 200)");
  EXPECT_EQ(found.rows[0].errorNs, 110) << "nor does that make it surer";
}

TEST_F(CorrectedBreakdown, EachProcessHasItsOwnCostsAndThoseThatItStartsHaveThem) {
  const auto started = trace_.add(model::Process{.hostId = host_,
                                                 .pid = 8,
                                                 .parentId = process_,
                                                 .command = "worker",
                                                 .startNs = 0,
                                                 .endNs = 1000});
  const auto alien = trace_.add(
      model::Process{.hostId = host_, .pid = 9, .command = "train", .startNs = 0, .endNs = 1000});
  for (const auto each : {started, alien}) {
    const auto thread = trace_.add(model::Thread{.processId = each, .tid = 8});
    trace_.slice(thread, SliceKind::Operation, "all", {0, 1000}, {}, "annotation");
  }
  const auto costs = [&](model::ProcessId of, double ns) {
    trace_.add(model::Overhead{.probe = "annotation",
                               .api = "scope",
                               .meanNs = ns,
                               .errorNs = 0,
                               .method = "in-run",
                               .processId = of,
                               .beforeNs = 0,
                               .insideNs = ns});
  };
  costs(process_, 100);
  costs(alien, 200);
  Options options = kByOperation;
  options.by.process = true;
  const Breakdown found = result(options);
  ASSERT_THAT(found.rows, SizeIs(3));
  EXPECT_EQ(found.rows[0].ns, 900);
  EXPECT_EQ(found.rows[1].ns, 900);
  EXPECT_EQ(found.rows[2].ns, 800);
}

TEST_F(CorrectedBreakdown, CostsFromElsewhereGoBeforeThoseOfEachProcess) {
  trace_.add(model::Overhead{.probe = "annotation",
                             .api = "scope",
                             .meanNs = 100,
                             .errorNs = 0,
                             .method = "in-run",
                             .processId = process_,
                             .beforeNs = 0,
                             .insideNs = 100});
  const correction::CostSet measured{
      {{"annotation", "scope", std::nullopt, {0, 200, 0}, 0, "separate runs"}}, {}, {}};
  Options options = kByOperation;
  options.measured = &measured;
  EXPECT_EQ(result(options).totalNs, 800);
}

TEST_F(CorrectedBreakdown, NeverTakesMoreThanThereIs) {
  operation("inner", {200, 300}, outer_);
  cost("assumed", 5000, 5000, 5000, 15000);
  const Breakdown found = result(kByOperation);
  EXPECT_EQ(found.rawTotalNs, 1000);
  EXPECT_GE(found.totalNs, 0);
  EXPECT_FALSE(found.rows.empty());
  for (const Row& row : found.rows) {
    EXPECT_GE(row.lowNs, 0);
    EXPECT_GE(row.ns, row.lowNs);
    EXPECT_GE(row.highNs, row.ns);
    EXPECT_GE(row.rawNs, row.highNs);
  }
}

TEST_F(CorrectedBreakdown, LeavesOutIterationsOfWhichNotAllWasRecorded) {
  const auto iteration = [&](std::int64_t number, std::int64_t begin, std::int64_t mask) {
    trace_.add(model::Iteration{.processId = process_,
                                .number = number,
                                .startNs = begin,
                                .durNs = 100,
                                .probeMask = mask});
  };
  iteration(0, 100, 7);
  iteration(1, 200, 3);  // a probe was off
  iteration(2, 300, 0);  // outline
  iteration(3, 400, 7);
  Options options = kByOperation;
  options.by.iteration = true;
  const Breakdown found = result(options);
  EXPECT_EQ(found.maskedNs, 200);
  EXPECT_EQ(found.totalNs, 800);
  std::set<std::int64_t> iterations;
  for (const Row& row : found.rows) {
    if (row.group.iteration)
      iterations.insert(*row.group.iteration);
  }
  EXPECT_THAT(iterations, ElementsAre(0, 3));
}

}  // namespace
}  // namespace sonde::engine::breakdown
