#include "analysis/engine/diff/run_times.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::engine::diff {
namespace {

const Subject kIteration{};
const Subject kForward{Kind::Host, {}, "forward"};

IterationTimes rankOf(std::int64_t rank,
                      const std::vector<std::int64_t>& numbers,
                      const std::vector<double>& forward) {
  IterationTimes times;
  times.rank = rank;
  for (const std::int64_t number : numbers)
    times.iterations.push_back({number, 0});
  times.times[kIteration] = std::vector<double>(numbers.size(), 100);
  times.times[kForward] = forward;
  return times;
}

TEST(WarmUp, IsATenthOfTheIterations) {
  EXPECT_EQ(warmUpOf(0), 0U);
  EXPECT_EQ(warmUpOf(1), 0U);
  EXPECT_EQ(warmUpOf(2), 1U);
  EXPECT_EQ(warmUpOf(30), 3U);
  EXPECT_EQ(warmUpOf(31), 4U);
  EXPECT_EQ(warmUpOf(10'000), 20U);
}

TEST(RunTimes, FirstIterationsDoNotCount) {
  const IterationTimes rank = rankOf(0, {4, 5, 6, 7}, {90, 10, 11, 12});
  const RunTimes usual = runOf({rank}, false, {});
  EXPECT_EQ(usual.warmUp, 1U);
  EXPECT_EQ(usual.times.at(kForward), (std::vector<double>{10, 11, 12}));
  EXPECT_EQ(runOf({rank}, false, {3}).times.at(kForward), (std::vector<double>{12}));
  EXPECT_EQ(runOf({rank}, false, {0}).iterations, 4U);
  EXPECT_EQ(runOf({rank}, false, {9}).iterations, 0U);
  EXPECT_EQ(runOf({rank}, false, {9}).warmUp, 4U);
}

TEST(RunTimes, OfChosenIterationsOnlyTheRunsFirstAreSkipped) {
  const IterationTimes rank = rankOf(0, {4, 5, 6, 7}, {90, 10, 11, 12});
  const auto early = [](const IterationName& each) { return each.number < 7; };
  const RunTimes all = runOf({rank}, false, {{}, early});
  EXPECT_EQ(all.times.at(kForward), (std::vector<double>{90, 10, 11}));
  EXPECT_EQ(all.warmUp, 0U);
  EXPECT_EQ(all.unwanted, 1U);
  const RunTimes skipped = runOf({rank}, false, {2, early});
  EXPECT_EQ(skipped.times.at(kForward), (std::vector<double>{11}));
  EXPECT_EQ(skipped.warmUp, 2U);
  const auto late = [](const IterationName& each) { return each.number > 5; };
  EXPECT_EQ(runOf({rank}, false, {2, late}).times.at(kForward), (std::vector<double>{11, 12}));
}

TEST(RunTimes, RanksTogetherAreTheirMeanInTheIterationsOfAll) {
  const RunTimes run =
      runOf({rankOf(0, {0, 1, 2, 3}, {0, 10, 20, 30}), rankOf(1, {1, 2, 3, 4}, {20, 40, 60, 80})},
            false,
            {0});
  EXPECT_EQ(run.ranks, 2U);
  EXPECT_EQ(run.iterations, 3U);
  EXPECT_EQ(run.times.at(kForward), (std::vector<double>{15, 30, 45}));
  EXPECT_EQ(run.times.at(kIteration), (std::vector<double>{100, 100, 100}));
}

TEST(RunTimes, RanksOfDifferentNumberingKeepAllTheirIterations) {
  const RunTimes run = runOf({rankOf(0, {0, 1}, {1, 2}), rankOf(1, {10, 11}, {3, 4})}, false, {0});
  EXPECT_EQ(run.times.at(kForward), (std::vector<double>{1, 2, 3, 4}));
}

TEST(RunTimes, RanksMeetWhereANumberComesTheSameTime) {
  IterationTimes first = rankOf(0, {5, 6, 5, 6}, {1, 2, 3, 4});
  first.iterations = {{5, 0}, {6, 0}, {5, 1}, {6, 1}};
  IterationTimes second = rankOf(1, {6, 5, 6}, {10, 20, 30});
  second.iterations = {{6, 0}, {5, 1}, {6, 1}};
  const RunTimes run = runOf({first, second}, false, {0});
  EXPECT_EQ(run.times.at(kForward), (std::vector<double>{6, 11.5, 17}));
}

TEST(RunTimes, IterationsStayInTheOrderOfTime) {
  IterationTimes rank = rankOf(0, {9, 8, 9, 8}, {1, 2, 3, 4});
  rank.iterations = {{9, 0}, {8, 0}, {9, 1}, {8, 1}};
  EXPECT_EQ(runOf({rank}, false, {1}).times.at(kForward), (std::vector<double>{2, 3, 4}));
}

TEST(RunTimes, ASubjectOfOneRankIsSharedAmongAll) {
  IterationTimes second = rankOf(1, {0, 1}, {0, 0});
  second.times[{Kind::Host, {}, "log"}] = {6, 8};
  const RunTimes run = runOf({rankOf(0, {0, 1}, {1, 1}), second}, false, {0});
  EXPECT_EQ(run.times.at({Kind::Host, {}, "log"}), (std::vector<double>{3, 4}));
}

TEST(RunTimes, RanksByThemselvesKeepTheirOwn) {
  const RunTimes run = runOf({rankOf(7, {0, 1}, {1, 2}), rankOf(8, {0, 1}, {5, 6})}, true, {0});
  EXPECT_EQ(run.times.at({Kind::Host, 7, "forward"}), (std::vector<double>{1, 2}));
  EXPECT_EQ(run.times.at({Kind::Host, 8, "forward"}), (std::vector<double>{5, 6}));
}

// A child process inherits the variable that names the rank.
TEST(RunTimes, OfARanksProcessesItIsTheMean) {
  const std::vector<IterationTimes> processes = {
      rankOf(0, {0, 1}, {1, 2}), rankOf(0, {0, 1}, {3, 6}), rankOf(1, {0, 1}, {8, 9})};
  const RunTimes run = runOf(processes, true, {0});
  EXPECT_EQ(run.times.at({Kind::Host, 0, "forward"}), (std::vector<double>{2, 4}));
  EXPECT_EQ(run.times.at({Kind::Iteration, 0, {}}), (std::vector<double>{100, 100}));
  EXPECT_EQ(run.times.at({Kind::Host, 1, "forward"}), (std::vector<double>{8, 9}));
}

TEST(RunTimes, ProcessesWithoutARankAreNobodysRank) {
  IterationTimes unknown = rankOf(0, {0, 1}, {5, 6});
  unknown.rank.reset();
  IterationTimes other = rankOf(0, {0, 1}, {7, 10});
  other.rank.reset();
  const RunTimes run = runOf({rankOf(1, {0, 1}, {1, 2}), unknown, other}, true, {0});
  EXPECT_EQ(run.times.at({Kind::Host, 1, "forward"}), (std::vector<double>{1, 2}));
  EXPECT_EQ(run.times.at(kForward), (std::vector<double>{6, 8}));
  EXPECT_EQ(run.times.size(), 4U);
}

}  // namespace
}  // namespace sonde::engine::diff
