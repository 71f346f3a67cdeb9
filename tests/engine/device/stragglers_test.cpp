#include "analysis/engine/device/stragglers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sonde::engine::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kStepNs = 100'000'000;

// A job whose ranks come to two collectives in each iteration, delayed by `lateNs`.
class Job {
 public:
  // Each of `epochs` counts its iterations from 0.
  Job(int ranks, int iterations, int epochs = 1)
      : ranks_(ranks), iterations_(iterations), ofEpoch_(iterations / epochs) {}

  template <typename Late>
  StragglerVerdict verdict(Late lateNs, std::int64_t skewNs = 0) {
    std::vector<metrics::RankProcess> processes;
    std::vector<JoinedCollective> collectives;
    for (int rank = 0; rank < ranks_; ++rank) {
      metrics::RankProcess& process = processes.emplace_back();
      process.processId = rank + 1;
      process.rank = rank;
      for (int step = 0; step < iterations_; ++step)
        process.iterations.push_back(
            {step % ofEpoch_, step * kStepNs, kStepNs, 0, 0, step / ofEpoch_});
    }
    for (int call = 0; call < 2 * iterations_; ++call) {
      JoinedCollective& collective = collectives.emplace_back();
      collective.op = "allreduce";
      collective.size = ranks_;
      const std::int64_t at = call * kStepNs / 2 + kStepNs / 4;
      for (int rank = 0; rank < ranks_; ++rank) {
        const std::int64_t skew = rank == 0 ? skewNs : 0;
        const std::int64_t begin = at + lateNs(rank, call / 2);
        Arrival& arrival = collective.arrivals.emplace_back();
        arrival.processId = rank + 1;
        arrival.rank = rank;
        arrival.beginNs = arrival.hostBeginNs = begin + skew;
        arrival.endNs = at + 10'000'000 + skew;
        if (arrival.beginNs > collective.lastArrivalNs())
          collective.last = collective.arrivals.size() - 1;
      }
    }
    return findStragglers(collectives, processes);
  }

 private:
  int ranks_;
  int iterations_;
  int ofEpoch_;
};

std::vector<std::int64_t> ranksOf(const StragglerVerdict& verdict) {
  std::vector<std::int64_t> ranks;
  for (const std::size_t at : verdict.stragglers)
    ranks.push_back(verdict.ranks[at].rank.value());
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

TEST(Stragglers, FindsTheRankThatIsLateEveryTime) {
  std::mt19937 random(1);
  const auto verdict = Job(4, 20).verdict([&](int rank, int) {
    return std::uniform_int_distribution<std::int64_t>(0, 100'000)(random) +
           (rank == 2 ? 2'000'000 : 0);
  });
  EXPECT_THAT(ranksOf(verdict), ElementsAre(2));
  const RankLag& first = verdict.ranks.front();
  EXPECT_EQ(first.rank, 2);
  EXPECT_EQ(first.greatestIn, 20);
  EXPECT_EQ(first.lastIn, 40);
  EXPECT_NEAR(first.share, 0.04, 0.002);
  EXPECT_LT(first.chance, 1e-9);
}

TEST(Stragglers, FindsTwoThatTakeTurns) {
  const auto verdict = Job(8, 30).verdict([](int rank, int step) {
    return rank == 3 + step % 2 ? 3'000'000 : rank / 3 == 1 ? 2'500'000 : 0;
  });
  EXPECT_THAT(ranksOf(verdict), ElementsAre(3, 4));
}

// A rank is last every time, by chance.
TEST(Stragglers, IsSilentWhereLatenessIsChance) {
  int called = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto verdict = Job(8, 30).verdict([&](int, int) {
      return std::uniform_int_distribution<std::int64_t>(0, 5'000'000)(random);
    });
    called += verdict.stragglers.empty() ? 0 : 1;
  }
  EXPECT_LE(called, 2);  // 1 % of them at most, by its own claim
}

TEST(Stragglers, IsSilentWhereItDoesNotMatter) {
  const auto verdict = Job(4, 30).verdict([](int rank, int) { return rank == 1 ? 300'000 : 0; });
  EXPECT_THAT(verdict.stragglers, IsEmpty());
  EXPECT_THAT(verdict.reason, HasSubstr("1 % of an iteration"));
  EXPECT_EQ(verdict.ranks.front().rank, 1);
  EXPECT_EQ(verdict.ranks.front().medianLagNs, 600'000);
}

TEST(Stragglers, TellsIterationsOfOneNumberApart) {
  const auto verdict = Job(4, 30, 3).verdict([](int rank, int) { return rank == 1 ? 300'000 : 0; });
  EXPECT_THAT(verdict.stragglers, IsEmpty());
  EXPECT_EQ(verdict.ranks.front().iterations, 30);
  EXPECT_EQ(verdict.ranks.front().medianLagNs, 600'000);
  EXPECT_NEAR(verdict.ranks.front().share, 0.006, 1e-9);
}

TEST(Stragglers, SaysWhatIsMissing) {
  const auto late = [](int rank, int) { return rank == 1 ? 5'000'000 : 0; };
  EXPECT_THAT(Job(4, 7).verdict(late).reason,
              HasSubstr("8 iterations with collectives are needed"));
  EXPECT_THAT(Job(4, 7).verdict(late).stragglers, IsEmpty());
  EXPECT_THAT(Job(4, 8).verdict(late).stragglers, ElementsAre(0U));
  EXPECT_THAT(Job(1, 30).verdict(late).reason, HasSubstr("no collective"));
}

TEST(Stragglers, DoesNotTakeASkewedClockForOne) {
  const auto verdict = Job(4, 30).verdict([](int, int) { return 0; }, 5'000'000);
  EXPECT_THAT(verdict.stragglers, IsEmpty());
  EXPECT_THAT(verdict.reason, HasSubstr("clocks differ"));
}

}  // namespace
}  // namespace sonde::engine::device
