// Jobs of which a trace lacks ranks, or iterations of ranks.
#include "analysis/engine/graph/rank_checks.h"

#include "tests/engine/graph/trace_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace sonde::engine::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;

class RankChecks : public test::TracePath {
 protected:
  // A rank with iterations of these numbers.
  Rank rankWith(std::int64_t number, std::int64_t first, std::int64_t behind) {
    const Rank made = rank(number);
    for (std::int64_t at = first; at < behind; ++at)
      step(made, at, us(100 * at, 100 * at + 90));
    return made;
  }
  void join(const Rank& made, std::int64_t size, const std::vector<std::int64_t>& ranks = {}) {
    const auto group = trace_->add(model::Communicator{
        .processId = made.process, .jobKey = "g", .size = size, .backend = "nccl"});
    for (std::size_t i = 0; i < ranks.size(); ++i)
      trace_->add(model::CommunicatorMember{group, static_cast<std::int64_t>(i), ranks[i], {}});
  }
  static Check named(const TraceGraph& graph, const std::string& name) {
    const auto found = std::find_if(graph.checks.begin(),
                                    graph.checks.end(),
                                    [&](const Check& each) { return each.name == name; });
    EXPECT_NE(found, graph.checks.end());
    return *found;
  }
  Check check(const std::string& name) { return named(test::must(readGraph(open())), name); }
};

TEST_F(RankChecks, ARankThatEndedEarlyIsNamed) {
  for (const std::int64_t number : {0, 1, 2, 3})
    rankWith(number, 0, number == 2 ? 7 : 10);
  const Check found = check("iterations");
  EXPECT_EQ(found.violations, 1);
  EXPECT_THAT(found.text, StrEq("ranks without all 10 iterations of the job: rank 2 has 7"));
}

// Neither has all, though both have as many.
TEST_F(RankChecks, RanksThatWereRecordedAtOtherTimesAreNamed) {
  rankWith(0, 0, 8);
  rankWith(1, 3, 11);
  rank(2);
  const Check found = check("iterations");
  EXPECT_EQ(found.violations, 3);
  EXPECT_THAT(
      found.text,
      StrEq(
          "ranks without all 11 iterations of the job: rank 0 has 8, rank 1 has 8, rank 2 has 0"));
}

TEST_F(RankChecks, AWholeJobLacksNothing) {
  for (const std::int64_t number : {0, 1})
    join(rankWith(number, 0, 3), 2, {0, 1});
  const TraceGraph graph = test::must(readGraph(open()));
  EXPECT_EQ(named(graph, "iterations").violations, 0);
  EXPECT_EQ(named(graph, "ranks").violations, 0);
}

TEST_F(RankChecks, ARankThatIsMissingIsNamed) {
  for (const std::int64_t number : {0, 1, 3})
    rankWith(number, 0, 1);
  EXPECT_THAT(check("ranks").text,
              StrEq("ranks that the trace does not have, of 4 in the job: rank 2"));
}

TEST_F(RankChecks, TheSizeOfTheJobIsThatOfItsLargestCommunicator) {
  const Rank made = rankWith(0, 0, 1);
  join(made, 2);
  join(made, 4);
  EXPECT_EQ(check("ranks").violations, 3);
}

TEST_F(RankChecks, OfManyMissingRanksEightAreNamed) {
  join(rankWith(1, 0, 1), 2, {1, 2000});
  const Check found = check("ranks");
  EXPECT_EQ(found.violations, 2000);
  EXPECT_THAT(found.text, HasSubstr("of 2001 in the job: rank 0, rank 2, "));
  EXPECT_THAT(found.text, HasSubstr("rank 8, …"));
}

// A process that no launcher started may have a communicator, but has no rank.
TEST_F(RankChecks, ATraceWithoutRanksLacksNone) {
  const Rank made = rankWith(0, 0, 1);
  join(made, 4);
  trace_->finish();
  {
    auto trace = test::must(store::Database::open(DeviceTrace::path(), store::Access::ReadWrite));
    test::must(trace.exec("UPDATE process SET rank = NULL"));
  }
  const auto trace = test::must(store::openTrace(DeviceTrace::path()));
  EXPECT_EQ(named(test::must(readGraph(trace)), "ranks").violations, 0);
}

}  // namespace
}  // namespace sonde::engine::graph
