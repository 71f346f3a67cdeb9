// The spans of an iteration, for timelines of two runs.
#include "analysis/engine/diff/iteration_spans.h"

#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace sonde::engine::diff {
namespace {

using ::testing::ElementsAre;
using Seen = std::tuple<std::size_t, std::string, std::string, std::int64_t, std::int64_t>;

// Two ranks on hosts whose clocks differ by 5000 ns. Iteration 3 lasts from 1000 to 1100 on rank 0,
// and from 1010 to 1150 on rank 1, by the job's clock. In it: forward for 60 ns with a module, then
// backward for the rest; on rank 0 forward launches a kernel from 50 to 90 of the iteration.
class IterationSpansTest : public ::testing::Test {
 protected:
  void SetUp() override {
    test::TraceBuilder trace(path_);
    addRank(trace, 0, 1000, 100, 0);
    addRank(trace, 1, 1010, 140, 5000);
    trace.finish();
  }

  static void addRank(test::TraceBuilder& trace,
                      std::int64_t rank,
                      std::int64_t jobBegin,
                      std::int64_t length,
                      std::int64_t offset) {
    using model::SliceKind;
    const std::int64_t begin = jobBegin - offset;
    const auto host = trace.add(model::Host{.name = rank == 0 ? "a" : "b"});
    trace.add(model::ClockMap{.hostId = host, .fromNs = -10'000, .offsetNs = offset});
    const auto process = trace.add(model::Process{.hostId = host, .pid = 7 + rank, .rank = rank});
    const auto thread = trace.add(model::Thread{.processId = process, .tid = 7});
    const auto step =
        trace.slice(thread, SliceKind::Iteration, "iteration", {begin, begin + length});
    trace.add(
        model::Iteration{.processId = process, .number = 3, .startNs = begin, .durNs = length});
    const auto forward =
        trace.slice(thread, SliceKind::Forward, "forward", {begin, begin + 60}, step);
    trace.slice(thread, SliceKind::Module, "layer", {begin + 10, begin + 20}, forward);
    trace.slice(thread, SliceKind::Backward, "backward", {begin + 60, begin + length}, step);
    if (rank != 0)
      return;
    const auto stream = trace.add(model::Stream{.processId = process, .number = 7});
    model::Kernel kernel;
    kernel.work.streamId = stream;
    kernel.work.nameId = trace.name("gemm");
    kernel.work.startNs = begin + 50;
    kernel.work.durNs = 40;
    kernel.work.scopeId = forward;
    trace.add(kernel);
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "a.sonde";
};

TEST_F(IterationSpansTest, HasTheOperationsOfEachRankAndItsDevices) {
  const store::Database trace = test::must(store::openTrace(path_));
  const IterationSpans found = test::must(readIterationSpans(trace, {3, 0}));
  std::vector<std::string> lanes;
  for (const SpanLane& lane : found.lanes)
    lanes.push_back(lane.name);
  EXPECT_THAT(lanes, ElementsAre("rank 0", "rank 0, devices", "rank 1"));
  std::vector<Seen> spans;
  for (const OperationSpan& span : found.spans)
    spans.emplace_back(span.lane, span.operation, span.name, span.beginNs, span.endNs);
  EXPECT_THAT(spans,
              ElementsAre(Seen{0, "forward", "", 0, 60},
                          Seen{0, "backward", "", 60, 100},
                          Seen{1, "forward", "gemm", 50, 90},
                          Seen{2, "forward", "", 10, 70},
                          Seen{2, "backward", "", 70, 150}));
  EXPECT_EQ(found.durNs, 150);
}

TEST_F(IterationSpansTest, ListsIterationsByTheLongestRank) {
  const store::Database trace = test::must(store::openTrace(path_));
  const auto lengths = test::must(readIterationLengths(trace));
  ASSERT_EQ(lengths.size(), 1U);
  EXPECT_EQ(lengths[0].name, (IterationName{3, 0}));
  EXPECT_EQ(lengths[0].ns, 140);
}

TEST_F(IterationSpansTest, AnIterationIsWithinATimeThatHoldsItOnAllRanks) {
  const store::Database trace = test::must(store::openTrace(path_));
  const auto within = [&](std::int64_t begin, std::int64_t end) {
    return test::must(readIterationsWithin(trace, {begin, end}));
  };
  EXPECT_THAT(within(1000, 1150), ElementsAre(IterationName{3, 0}));
  EXPECT_THAT(within(1001, 1150), ElementsAre()) << "begins before on rank 0";
  EXPECT_THAT(within(1000, 1149), ElementsAre()) << "ends after on rank 1";
  EXPECT_THAT(within(1010, 1150), ElementsAre()) << "all of rank 1";
}

TEST_F(IterationSpansTest, AnotherIterationHasNoSpans) {
  const store::Database trace = test::must(store::openTrace(path_));
  EXPECT_TRUE(test::must(readIterationSpans(trace, {3, 1})).lanes.empty());
}

}  // namespace
}  // namespace sonde::engine::diff
