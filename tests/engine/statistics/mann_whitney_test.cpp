#include "analysis/engine/statistics/multiple_tests.h"
#include "analysis/engine/statistics/rank_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace sonde::engine::statistics {
namespace {

std::vector<double> upTo(int count, double from = 1, double step = 1) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i)
    values.push_back(from + step * i);
  return values;
}

TEST(MannWhitney, HasTheTablesExactProbabilities) {
  const RankTest apart = mannWhitney({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10});
  EXPECT_TRUE(apart.exact);
  EXPECT_NEAR(apart.p, 2.0 / 252, 1e-14);
  EXPECT_NEAR(apart.pLower, 1.0 / 252, 1e-14);
  EXPECT_NEAR(apart.pHigher, 1, 1e-14);
  EXPECT_EQ(apart.superiority, 1);
  // U = 2, the critical value of the 5 % table for 5 and 5.
  EXPECT_NEAR(mannWhitney({1, 2, 3, 4, 7}, {5, 6, 8, 9, 10}).p, 0.031746031746031744, 1e-14);
  EXPECT_NEAR(mannWhitney({1, 2, 3}, {4, 5, 6, 7}).pLower, 1.0 / 35, 1e-14);
}

// The share of all splits of the values whose U is as low, or as high, as the observed one.
RankTest counted(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> pool = first;
  pool.insert(pool.end(), second.begin(), second.end());
  const auto u = [&](const std::vector<bool>& mask) {
    double wins = 0;
    for (std::size_t i = 0; i < pool.size(); ++i)
      for (std::size_t j = 0; j < pool.size(); ++j)
        if (mask[i] && !mask[j])
          wins += pool[i] > pool[j] ? 1 : pool[i] == pool[j] ? 0.5 : 0;
    return wins;
  };
  std::vector<bool> mask(pool.size(), false);
  std::fill(mask.begin(), mask.begin() + static_cast<std::ptrdiff_t>(first.size()), true);
  const double seen = u(mask);
  double all = 0;
  RankTest result;
  result.pLower = result.pHigher = 0;
  std::sort(mask.begin(), mask.end());
  do {
    const double each = u(mask);
    result.pLower += each <= seen ? 1 : 0;
    result.pHigher += each >= seen ? 1 : 0;
    all += 1;
  } while (std::next_permutation(mask.begin(), mask.end()));
  result.pLower /= all;
  result.pHigher /= all;
  return result;
}

TEST(MannWhitney, EqualsCountingAllSplitsAlsoWithTies) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> value(0, 9);
  std::uniform_int_distribution<int> size(1, 7);
  for (int round = 0; round < 40; ++round) {
    std::vector<double> first;
    std::vector<double> second;
    for (int i = size(random); i > 0; --i)
      first.push_back(value(random));
    for (int i = size(random); i > 0; --i)
      second.push_back(value(random) + round % 5);
    const RankTest found = mannWhitney(first, second);
    const RankTest expected = counted(first, second);
    EXPECT_NEAR(found.pLower, expected.pLower, 1e-12);
    EXPECT_NEAR(found.pHigher, expected.pHigher, 1e-12);
  }
}

TEST(MannWhitney, OfManyValuesIsNearTheExactProbability) {
  // The exact two-sided value, by the recurrence of Mann and Whitney.
  std::vector<double> first = upTo(25);
  std::vector<double> second = upTo(25, 7.5);
  // The first wins those of 625 pairs with i > j + 6.5: 18 + 17 + … + 1.
  const RankTest test = mannWhitney(first, second);
  EXPECT_FALSE(test.exact);
  EXPECT_NEAR(test.superiority, 1 - 171.0 / 625, 1e-12);
  EXPECT_NEAR(test.p, 0.00549521438434097, 8e-4);
  // With the correction for continuity: half a step of U towards the middle.
  EXPECT_GT(test.pLower + test.pHigher, 1) << "both count the value that was seen";
}

TEST(MannWhitney, SwappingTheSamplesMirrorsIt) {
  const std::vector<double> few = {3, 1, 4, 1, 5, 9};
  const std::vector<double> other = {2, 6, 5, 3, 5, 8, 9, 7};
  for (const auto& [first, second] :
       {std::pair(few, other), std::pair(upTo(30), upTo(40, 5.5, 0.7))}) {
    const RankTest one = mannWhitney(first, second);
    const RankTest mirrored = mannWhitney(second, first);
    EXPECT_NEAR(one.pLower, mirrored.pHigher, 1e-12);
    EXPECT_NEAR(one.p, mirrored.p, 1e-12);
    EXPECT_NEAR(one.superiority, 1 - mirrored.superiority, 1e-12);
  }
}

TEST(MannWhitney, OfEqualOrMissingValuesProvesNothing) {
  EXPECT_EQ(mannWhitney({1, 1, 1}, {1, 1, 1}).p, 1);
  EXPECT_EQ(mannWhitney(std::vector<double>(50, 2), std::vector<double>(50, 2)).p, 1);
  EXPECT_EQ(mannWhitney({}, {1, 2}).p, 1);
  EXPECT_EQ(mannWhitney({1}, {2}).p, 1);
}

TEST(MannWhitney, OneValueIsComparedExactlyWithAnyNumber) {
  for (const int others : {5, 270, 5000}) {
    const RankTest above = mannWhitney(upTo(others), {others + 1.0});
    EXPECT_TRUE(above.exact);
    EXPECT_NEAR(above.p, 2.0 / (others + 1), 1e-12) << others;
    EXPECT_EQ(above.p, above.leastP);
    EXPECT_NEAR(mannWhitney({0.0}, upTo(others)).p, 2.0 / (others + 1), 1e-12);
  }
  EXPECT_NEAR(mannWhitney(std::vector<double>(270, 10), {30}).p, 2.0 / 271, 1e-12);
}

TEST(MannWhitney, TheLeastPIsThatOfTheMostUnevenSplit) {
  for (const auto& [few, many] : {std::pair(4, 4), std::pair(3, 300), std::pair(60, 70)}) {
    std::vector<double> mixed = upTo(few, 0.5, 2);
    EXPECT_DOUBLE_EQ(mannWhitney(mixed, upTo(many)).leastP,
                     mannWhitney(upTo(few), upTo(many, few + 1)).p);
  }
  // One of ten values is not like the others.
  std::vector<double> nine(9, 1);
  EXPECT_EQ(mannWhitney({1, 1, 1, 1, 2}, {1, 1, 1, 1, 1}).leastP, 1);
}

TEST(Holm, RaisesWhatHolmsPaperRaises) {
  const std::vector<double> adjusted = holm({0.01, 0.04, 0.03, 0.005});
  ASSERT_EQ(adjusted.size(), 4U);
  EXPECT_DOUBLE_EQ(adjusted[0], 0.03);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[3], 0.02);
  EXPECT_TRUE(holm({}).empty());
  EXPECT_EQ(holm({0.7, 0.9}), (std::vector<double>{1, 1}));
}

TEST(Holm, KeepsTheChanceOfAnyFalseFindingBelowTheLevel) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> p(0, 1);
  int families = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<double> family(30);
    for (double& each : family)
      each = p(random);
    const std::vector<double> adjusted = holm(family);
    families += *std::min_element(adjusted.begin(), adjusted.end()) <= 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(families / 4000.0, 0.05, 0.012);  // 1 − (1 − 0.05/30)³⁰ = 0.0489
}

}  // namespace
}  // namespace sonde::engine::statistics
