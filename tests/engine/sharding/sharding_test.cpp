#include "analysis/engine/sharding/sharding.h"

#include "analysis/engine/sharding/shard_search.h"
#include "tests/engine/sharding/exact_sharding.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace sonde::engine::sharding {
namespace {

using models::CollectiveModel;
using models::EmbeddingTable;
using models::LookupDevice;

// An A100: published peaks.
constexpr LookupDevice kDevice{1'555, 5'100, 40e6, 19'500};
constexpr double kGb = 1e9;

CollectiveModel allToAll() {
  CollectiveModel model;
  model.stepNs = 3'000;
  model.byteNs = 1 / 200.0;
  return model;
}

double powerOfTwo(std::mt19937& chance, int least, int most) {
  return std::ldexp(1, std::uniform_int_distribution(least, most)(chance));
}

std::vector<EmbeddingTable> randomTables(std::mt19937& chance, std::size_t count) {
  std::vector<EmbeddingTable> tables;
  std::uniform_real_distribution<double> decades(3, 7);
  std::uniform_int_distribution<std::int64_t> pooling(1, 60);
  for (std::size_t at = 0; at < count; ++at)
    tables.push_back({static_cast<std::int64_t>(std::pow(10, decades(chance))),
                      static_cast<std::int64_t>(powerOfTwo(chance, 4, 8)),
                      pooling(chance),
                      2048});
  return tables;
}

ShardingProblem problemOf(const std::vector<EmbeddingTable>& tables,
                          std::size_t ranks,
                          double bytesPerRank = 80 * kGb) {
  return test::must(
      shardingProblem(tables, kDevice, allToAll(), {.ranks = ranks, .bytesPerRank = bytesPerRank}));
}

// Half of them have memory for little more than their share.
ShardingProblem randomProblem(unsigned seed) {
  std::mt19937 chance(seed);
  const std::vector<EmbeddingTable> tables = randomTables(chance, 20);
  double all = 0;
  double largest = 0;
  for (const EmbeddingTable& each : tables) {
    all += each.bytes();
    largest = std::max(largest, each.bytes());
  }
  return problemOf(tables, 8, seed % 2 == 0 ? 80 * kGb : std::max(1.3 * all / 8, largest));
}

TEST(Sharding, CostsTheSlowestRankAndTwoExchanges) {
  ShardingProblem problem{.tables = {{100, 10, 7}, {40, 10, 1}, {30, 10, 2}},
                          .ranks = 2,
                          .bytesPerRank = 20,
                          .allToAll = allToAll()};
  // Rank 0 sends 8 bytes and receives 2.
  EXPECT_NEAR(problem.costNs({0, 0, 1}), 140 + 2 * (3'000 + 8 / 200.0), 1e-9);
  // With three ranks, rank 0 sends its 7 to two others, which is more than the 3 that it receives.
  problem.ranks = 3;
  EXPECT_NEAR(problem.costNs({0, 1, 2}), 100 + 2 * (2 * 3'000 + 14 / 200.0), 1e-9);
  // Each of two ranks receives all that the other one sends.
  problem.ranks = 2;
  EXPECT_NEAR(problem.costNs({0, 1, 1}), 100 + 2 * (3'000 + 7 / 200.0), 1e-9);
  EXPECT_TRUE(problem.fits({0, 1, 1}));
  EXPECT_FALSE(problem.fits({0, 0, 0}));
  problem.ranks = 1;
  EXPECT_EQ(problem.costNs({0, 0, 0}), 170) << "nothing to exchange";
}

TEST(Sharding, TakesTheBatchOfAllRanks) {
  const EmbeddingTable table{1'000'000, 128, 10, 2048};
  const ShardingProblem problem = problemOf({table}, 4);
  EXPECT_EQ(problem.tables[0].sentBytes, 4.0 * 2048 * 128);
  EmbeddingTable all = table;
  all.batch *= 4;
  EXPECT_NEAR(problem.tables[0].ns,
              lookupForwardNs(all, kDevice, 1) + lookupBackwardNs(all, kDevice, 1),
              1e-6);
}

TEST(Sharding, RespectsTheMemoryOfRanks) {
  // Fast tables are large, so that the shortest iteration would need more memory.
  ShardingProblem problem{
      .tables = {}, .ranks = 2, .bytesPerRank = 100, .allToAll = CollectiveModel()};
  for (const double ns : {8, 4, 2, 2})
    problem.tables.push_back({ns, ns == 8 ? 10.0 : 45.0, 1});
  const Sharding found = test::must(shard(problem));
  EXPECT_TRUE(problem.fits(found.rankOf));
  EXPECT_EQ(found.ns, 10);
  problem.bytesPerRank = 60;
  const auto none = shard(problem);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::NotFound);
}

TEST(Sharding, RefusesNumbersThatAreNone) {
  const EmbeddingTable table{1000, 16, 1, 64};
  const ShardingOptions options{.ranks = 2, .bytesPerRank = 1};
  EXPECT_FALSE(shardingProblem({}, kDevice, allToAll(), options));
  EXPECT_FALSE(shardingProblem({{1000, 16, 0, 64}}, kDevice, allToAll(), options));
  EXPECT_FALSE(shardingProblem({table}, {}, allToAll(), options));
  EXPECT_FALSE(shardingProblem({table}, kDevice, allToAll(), {.ranks = 0, .bytesPerRank = 1}));
}

// Moves and swaps are rated as if they had been made.
TEST(Sharding, RatesChangesAsTheirResults) {
  std::mt19937 chance(3);
  for (const std::size_t ranks : {1U, 2U, 3U, 4U, 9U}) {
    const ShardingProblem problem = problemOf(randomTables(chance, 20), ranks);
    std::vector<std::size_t> rankOf(problem.tables.size());
    for (std::size_t& each : rankOf)
      each = chance() % ranks;
    const ShardLoads loads(problem, rankOf);
    EXPECT_NEAR(loads.rating().costNs / problem.costNs(rankOf), 1, 1e-12);
    for (int n = 0; n < 50; ++n) {
      const std::size_t one = chance() % rankOf.size();
      const std::size_t other = chance() % rankOf.size();
      const std::size_t to = chance() % ranks;
      const auto expectSame = [&](const ShardRating& tried, const std::vector<std::size_t>& then) {
        const ShardRating made = ShardLoads(problem, then).rating();
        EXPECT_NEAR(tried.costNs / made.costNs, 1, 1e-12);
        EXPECT_NEAR(tried.unevenness / made.unevenness, 1, 1e-12);
      };
      std::vector<std::size_t> then = rankOf;
      if (rankOf[one] != to) {
        then[one] = to;
        expectSame(loads.withMoved(one, rankOf[one], to), then);
      }
      then = rankOf;
      std::swap(then[one], then[other]);
      if (rankOf[one] != rankOf[other])
        expectSame(loads.withSwapped(one, rankOf[one], other, rankOf[other]), then);
    }
  }
}

// It ends although not all swaps can be tried, and no rank is much longer than the mean.
TEST(Sharding, EndsWithManyTables) {
  std::mt19937 chance(4);
  const ShardingProblem problem = problemOf(randomTables(chance, 1000), 256);
  const Sharding found = test::must(shard(problem));
  double all = 0;
  double longest = 0;
  for (const ShardingProblem::Table& each : problem.tables) {
    all += each.ns;
    longest = std::max(longest, each.ns);
  }
  double slowest = 0;
  for (const ShardingProblem::Table& each : problem.loadsOf(found.rankOf))
    slowest = std::max(slowest, each.ns);
  EXPECT_LE(slowest, 1.1 * std::max(longest, all / 256));
  EXPECT_TRUE(problem.fits(found.rankOf));
}

TEST(Sharding, IsTheSameEachTime) {
  const ShardingProblem problem = randomProblem(5);
  EXPECT_EQ(test::must(shard(problem)).rankOf, test::must(shard(problem)).rankOf);
}

// 20 tables on 8 ranks, within 10 % of the best sharding in nine of ten cases. Where the best one
// is not found in so many steps, it is proven that no sharding is more than 10 % better.
TEST(Sharding, IsNearlyTheBest) {
  constexpr std::int64_t kSteps = 3'000'000;
  constexpr std::int64_t kStepsForTen = 100'000'000;
  const unsigned cases = std::getenv("SONDE_SLOW") != nullptr ? 100 : 10;
  unsigned near = 0;
  unsigned exact = 0;
  unsigned best = 0;
  double worst = 0;
  for (unsigned seed = 0; seed < cases; ++seed) {
    const ShardingProblem problem = randomProblem(seed);
    const Sharding found = test::must(shard(problem));
    EXPECT_TRUE(problem.fits(found.rankOf));
    EXPECT_EQ(found.ns, problem.costNs(found.rankOf));
    test::ExactSharding truth(problem);
    if (const auto least = truth.below(found.ns, kSteps)) {
      ++exact;
      best += found.ns <= *least * (1 + 1e-9) ? 1U : 0U;
      worst = std::max(worst, found.ns / *least - 1);
      near += found.ns <= 1.1 * *least ? 1U : 0U;
    } else {
      near += truth.below(found.ns / 1.1, kStepsForTen) == found.ns / 1.1 ? 1U : 0U;
    }
  }

  std::printf("%u cases: %u within 10 %%; of %u solved exactly %u are the best, worst +%.2f %%\n",
              cases,
              near,
              exact,
              best,
              100 * worst);
  EXPECT_GE(near, cases * 9 / 10);
  EXPECT_GE(exact, cases / 2);
  EXPECT_GE(best, exact * 3 / 4);
  EXPECT_LE(worst, 0.05);
}

}  // namespace
}  // namespace sonde::engine::sharding
