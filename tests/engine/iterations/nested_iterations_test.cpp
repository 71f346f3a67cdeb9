#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/engine/diff/iteration_times.h"
#include "analysis/engine/iterations/iterations.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace sonde::engine::iterations {
namespace {

using test::must;
using ::testing::ElementsAre;

// annotation, torch and io: bits 0, 2 and 9.
constexpr std::int64_t kAll = 0b10'0000'0101;
constexpr std::int64_t kWithoutTorch = 0b10'0000'0001;

// A trace of one process with two threads.
class NestedIterations : public ::testing::Test {
 protected:
  NestedIterations() {
    const auto host = trace_.add(model::Host{.name = "h", .bootId = "b"});
    process_ = trace_.add(model::Process{.hostId = host, .pid = 1, .startNs = 0});
    for (const std::int64_t tid : {1, 2})
      threads_.push_back(trace_.add(model::Thread{.processId = process_, .tid = tid}));
  }

  // An iteration of the first or second thread, or of an unknown one; returns its id.
  std::int64_t iteration(std::int64_t thread,
                         std::int64_t begin,
                         model::OptionalInt length,
                         std::int64_t mask = kAll,
                         std::int64_t number = 0) {
    model::Iteration row{.processId = process_,
                         .number = number,
                         .startNs = begin,
                         .durNs = length,
                         .probeMask = mask};
    if (thread < 2)
      row.sliceId = trace_.slice(threads_[static_cast<std::size_t>(thread)],
                                 model::SliceKind::Iteration,
                                 "it",
                                 {begin, begin + length.value_or(0)});
    return trace_.add(row).value;
  }
  // An iteration on the first thread with `parts` inner ones of 10 ns each. Without an end, its
  // last part has none either.
  void epoch(std::int64_t begin, std::int64_t parts, bool isOpen = false) {
    iteration(0, begin, isOpen ? model::OptionalInt() : 20 * parts);
    for (std::int64_t part = 0; part < parts; ++part)
      iteration(0,
                begin + 5 + 20 * part,
                isOpen && part + 1 == parts ? model::OptionalInt() : model::OptionalInt(10));
  }
  store::Database open() {
    trace_.finish();
    return must(store::openTrace(path_));
  }
  // The begins of the outermost iterations.
  std::vector<std::int64_t> outermost() {
    const auto trace = open();
    const auto iterations = must(Iterations::read(trace));
    std::vector<std::int64_t> begins;
    for (const Iteration& each : iterations.all())
      if (!each.isInner())
        begins.push_back(each.startNs);
    return begins;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  model::ProcessId process_;
  std::vector<model::ThreadId> threads_;
};

struct Span {
  std::int64_t id, thread, begin;
  model::OptionalInt length;
};

bool holds(const Span& outer, const Span& inner) {
  if (outer.thread != inner.thread || outer.id == inner.id || !outer.length ||
      inner.begin < outer.begin || inner.begin >= outer.begin + *outer.length)
    return false;
  if (outer.begin == inner.begin && outer.length == inner.length)
    return outer.id < inner.id;
  return inner.begin + inner.length.value_or(0) <= outer.begin + *outer.length;
}

// Random iterations of two threads and of none; each is compared with all others. An odd round has
// some without an end, which may contain others.
class RandomIterations : public NestedIterations, public ::testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(Rounds, RandomIterations, ::testing::Range(0, 30));

TEST_P(RandomIterations, InnerAreThoseThatLieWithinAnotherOneOfTheirThread) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random()) % most; };
  std::vector<Span> spans(60);
  for (Span& span : spans) {
    span = {0, below(3), below(200), 1 + below(GetParam() < 20 ? 40 : 8)};
    if (GetParam() % 2 != 0 && below(10) == 0)
      span.length = std::nullopt;
    span.id = iteration(span.thread, span.begin, span.length);
  }
  const auto iterations = must(Iterations::read(open()));
  std::map<std::int64_t, std::int64_t> holders;  // by id of inner ones
  for (const Iteration& each : iterations.all())
    if (each.isInner())
      holders.emplace(each.id, each.holder);
  const auto byId = [&](std::int64_t id) {
    return *std::find_if(
        spans.begin(), spans.end(), [&](const Span& span) { return span.id == id; });
  };
  for (const Span& span : spans) {
    const bool isHeld = std::any_of(
        spans.begin(), spans.end(), [&](const Span& other) { return holds(other, span); });
    EXPECT_TRUE(holders.contains(span.id) || !isHeld) << span.begin << " of " << span.thread;
    if (!holders.contains(span.id))
      continue;
    const Span holder = byId(holders.at(span.id));
    EXPECT_EQ(holds(holder, span), isHeld) << span.begin << " of " << span.thread;
    if (!isHeld) {
      EXPECT_FALSE(holder.length);
      EXPECT_FALSE(holders.contains(holder.id));
      EXPECT_EQ(holder.thread, span.thread);
      EXPECT_LE(holder.begin, span.begin);
    }
  }
}

TEST_F(NestedIterations, LieDirectlyWithinTheInnermost) {
  const auto epoch = iteration(0, 0, 100);
  const auto batch = iteration(0, 10, 50);
  const auto micro = iteration(0, 20, 10);
  const auto next = iteration(0, 60, 40);
  std::map<std::int64_t, std::int64_t> holders;  // by id
  const auto iterations = must(Iterations::read(open()));
  for (const Iteration& each : iterations.all())
    holders.emplace(each.id, each.holder);
  EXPECT_EQ(holders.at(epoch), 0);
  EXPECT_EQ(holders.at(batch), epoch);
  EXPECT_EQ(holders.at(micro), batch);
  EXPECT_EQ(holders.at(next), epoch);
}

// As after a kill.
TEST_F(NestedIterations, OneWithoutAnEndHoldsWhatBeginsAfterItAsOthersDidBefore) {
  epoch(0, 3);
  epoch(100, 3);
  epoch(200, 4, true);
  iteration(1, 300, 10);
  EXPECT_THAT(outermost(), ElementsAre(0, 100, 200, 300));
}

TEST_F(NestedIterations, OneWhoseEndWasLostHoldsNeitherItsLikeNorWhereNoneHeldAny) {
  epoch(0, 3);
  iteration(0, 100, std::nullopt);
  epoch(200, 3);
  for (const std::int64_t begin : {0, 20, 40})
    iteration(1, 300 + begin, begin == 20 ? model::OptionalInt() : model::OptionalInt(10));
  EXPECT_THAT(outermost(), ElementsAre(0, 100, 200, 300, 320, 340));
}

TEST_F(NestedIterations, DoNotSwitchProbes) {
  trace_.meta("sources", "annotation,torch,io");
  iteration(0, 0, 100, kAll);
  iteration(0, 10, 20, kWithoutTorch);
  iteration(0, 100, 100, kAll);
  const auto iterations = must(Iterations::read(open()));
  ASSERT_EQ(iterations.all().size(), 3U);
  for (const Iteration& each : iterations.all())
    EXPECT_FALSE(each.isMasked) << each.startNs;
}

TEST_F(NestedIterations, AreNoneOfReportDiffAndBreakdownAlike) {
  for (const std::int64_t at : {0, 3}) {
    iteration(0, at * 100, 300, kAll, at);
    iteration(0, at * 100 + 10, 90, kAll, at + 1);
    iteration(0, at * 100 + 110, 190, kAll, at + 2);
  }
  const auto trace = open();
  const auto ranks = must(metrics::readRanks(trace));
  EXPECT_EQ(metrics::statisticsOf(ranks.at(0).iterations).count, 2);
  EXPECT_EQ(metrics::statisticsOf(ranks[0].iterations).minNs, 300);
  EXPECT_EQ(ranks[0].maskedCount, 0);
  EXPECT_EQ(must(diff::readIterationTimes(trace, {})).at(0).iterations.size(), 2U);
  std::map<std::int64_t, std::int64_t> ofBreakdown;
  for (const auto& row : must(breakdown::breakDown(trace, {.by = {.iteration = true}})).rows)
    ofBreakdown[row.group.iteration.value_or(-1)] = row.ns;
  EXPECT_EQ(ofBreakdown, (std::map<std::int64_t, std::int64_t>{{0, 300}, {3, 300}}));
}

}  // namespace
}  // namespace sonde::engine::iterations
