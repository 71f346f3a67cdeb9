// Iterations that not all ranks of a job have are not judged.
#include "analysis/engine/replay/replay_report.h"
#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

#include <cstdint>

namespace sonde::engine::replay {
namespace {

using test::must;
using ::testing::HasSubstr;

class PartialIterations : public test::DeviceTrace {
 protected:
  // Iteration N of a rank takes `ns` + N.
  void addRank(std::int64_t number, std::int64_t first, std::int64_t behind, std::int64_t ns) {
    const Rank made = rank(number);
    for (std::int64_t at = first; at < behind; ++at)
      step(made, at, {1000 * at, 1000 * at + ns + at});
  }
  Result<ReplayReport> report(Judge judge = Judge::Identity) {
    const store::Database trace = open();
    return replayReport(trace, must(graph::readGraph(trace)), judge);
  }
};

TEST_F(PartialIterations, AreLeftOut) {
  addRank(0, 0, 6, 500);
  addRank(1, 0, 3, 700);
  const ReplayReport found = must(report());
  EXPECT_EQ(found.iterations, 3);
  EXPECT_EQ(found.leftOut, 3);
  EXPECT_DOUBLE_EQ(found.measuredNs, 601);
  ASSERT_EQ(found.ranks.size(), 2U);
  EXPECT_DOUBLE_EQ(found.ranks[0].measuredNs, 501);
  EXPECT_DOUBLE_EQ(found.ranks[1].measuredNs, 701);
}

TEST_F(PartialIterations, PredictNoOthers) {
  addRank(0, 0, 6, 500);
  addRank(1, 0, 2, 700);
  const ReplayReport found = must(report(Judge::Odd));
  EXPECT_EQ(found.iterations, 1);
  EXPECT_DOUBLE_EQ(found.measuredNs, 601);
  EXPECT_DOUBLE_EQ(found.replayedNs, 600);
}

TEST_F(PartialIterations, AloneGiveNoNumber) {
  addRank(0, 0, 4, 500);
  addRank(1, 4, 8, 500);
  const store::Database trace = open();
  const graph::TraceGraph graph = must(graph::readGraph(trace));
  for (const Judge judge : {Judge::Identity, Judge::Odd}) {
    const auto found = replayReport(trace, graph, judge);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::NotFound);
    EXPECT_THAT(found.error().message, HasSubstr(" ranks"));
  }
}

// A server of parameters has none.
TEST_F(PartialIterations, ARankWithoutIterationsDoesNotCount) {
  addRank(0, 0, 4, 500);
  addRank(1, 0, 0, 0);
  EXPECT_EQ(must(report()).iterations, 4);
}

}  // namespace
}  // namespace sonde::engine::replay
