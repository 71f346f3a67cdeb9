// Jobs whose numbers of iterations begin anew with each epoch.
#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/graph/job_iterations.h"
#include "analysis/engine/replay/replay_report.h"
#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

#include <vector>

namespace sonde::engine::replay {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Epochs : public test::DeviceTrace {
 protected:
  static constexpr std::int64_t kEpoch = 10'000;

  // Three iterations in each epoch. Those of later epochs are longer.
  void addEpochs(const Rank& made, int first, int last) {
    for (std::int64_t epoch = first; epoch < last; ++epoch)
      for (std::int64_t number = 0; number < 3; ++number) {
        const std::int64_t begin = kEpoch * epoch + 1000 * number;
        step(made, number, {begin, begin + 500 + 100 * epoch});
      }
  }
  graph::TraceGraph readAll() {
    database_.emplace(open());
    return must(graph::readGraph(*database_));
  }

  std::optional<store::Database> database_;
};

TEST_F(Epochs, EachHasIterationsOfItsOwn) {
  for (const std::int64_t number : {0, 1})
    addEpochs(rank(number), 0, 2);
  const graph::TraceGraph trace = readAll();
  std::vector<std::int64_t> numbers;
  for (const graph::JobIteration& each : graph::jobIterations(trace)) {
    numbers.push_back(each.number);
    ASSERT_THAT(each.ranks, SizeIs(2));
    EXPECT_EQ(trace.graph.beginNs[each.ranks[0].first], trace.graph.beginNs[each.ranks[1].first]);
  }
  EXPECT_THAT(numbers, ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST_F(Epochs, AreAllSelectedByANumber) {
  addEpochs(rank(0), 0, 3);
  const graph::TraceGraph trace = readAll();
  std::vector<std::int64_t> lengths;
  for (const critical::IterationPath& each : critical::pathsOf(trace, 1))
    lengths.push_back(each.lengthNs());
  EXPECT_THAT(lengths, ElementsAre(500, 600, 700));
  EXPECT_THAT(critical::pathsOf(trace), SizeIs(9));
  EXPECT_THAT(critical::pathsOf(trace, 3), IsEmpty());
}

// In time: 0 1 2 | 0 1 2. The places 0, 2 and 4 build: two of 500 ns and one of 600.
TEST_F(Epochs, AreJudgedByTheirPlacesInTime) {
  addEpochs(rank(0), 0, 2);
  const graph::TraceGraph trace = readAll();
  const ReplayReport report = must(replayReport(*database_, trace, Judge::Odd));
  EXPECT_EQ(report.iterations, 3);
  EXPECT_DOUBLE_EQ(report.measuredNs, (500 + 600 + 600) / 3.0);
  EXPECT_DOUBLE_EQ(report.replayedNs, (500 + 500 + 600) / 3.0);
}

TEST_F(Epochs, AreJudgedByTheirNumbersIfTheseDoNotRepeat) {
  const Rank made = rank(0);
  for (const std::int64_t number : {1, 2, 4, 5})
    step(made, number, {1000 * number, 1000 * number + 100 * number});
  const graph::TraceGraph trace = readAll();
  const ReplayReport report = must(replayReport(*database_, trace, Judge::Odd));
  EXPECT_DOUBLE_EQ(report.measuredNs, (100 + 500) / 2.0);
  EXPECT_DOUBLE_EQ(report.replayedNs, (200 + 400) / 2.0);
}

TEST_F(Epochs, OfOneIterationDoNotShowHowMuchTheyVary) {
  step(rank(0), 0, {0, 500});
  const graph::TraceGraph trace = readAll();
  const ReplayReport one = must(replayReport(*database_, trace, Judge::Identity));
  EXPECT_EQ(one.iterations, 1);
  EXPECT_FALSE(one.noise);
}

TEST_F(Epochs, OfOneIterationOnEachSideHaveNoStandardError) {
  const Rank made = rank(0);
  step(made, 0, {0, 500});
  step(made, 1, {500, 1100});
  const graph::TraceGraph trace = readAll();
  const ReplayReport report = must(replayReport(*database_, trace, Judge::Odd));
  EXPECT_FALSE(report.noise);
  EXPECT_FALSE(report.standardError);
  EXPECT_GT(must(replayReport(*database_, trace, Judge::Identity)).noise.value(), 0);
}

// Rank 1 ends after the first epoch.
TEST_F(Epochs, ThatOneRankLacksAreLeftOut) {
  addEpochs(rank(0), 0, 3);
  addEpochs(rank(1), 0, 1);
  const graph::TraceGraph trace = readAll();
  const ReplayReport report = must(replayReport(*database_, trace, Judge::Identity));
  EXPECT_EQ(report.iterations, 3);
  EXPECT_EQ(report.leftOut, 6);
  EXPECT_DOUBLE_EQ(report.measuredNs, 500);
}

}  // namespace
}  // namespace sonde::engine::replay
