#include "analysis/engine/statistics/rank_test.h"

#include "analysis/engine/statistics/distributions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace sonde::engine::statistics {
namespace {

// The values of both samples in ascending order, with twice the rank of each and its sample. Equal
// values share the middle rank; doubled, it stays whole.
struct Ranked {
  std::vector<std::int64_t> twice;
  std::int64_t twiceSumOfFirst = 0;
  double ties = 0;  // the sum of t³ − t over the groups of t equal values
};

Ranked ranksOf(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<std::pair<double, bool>> all;  // value, whether it is of `first`
  all.reserve(first.size() + second.size());
  for (const double value : first)
    all.emplace_back(value, true);
  for (const double value : second)
    all.emplace_back(value, false);
  std::sort(all.begin(), all.end());
  Ranked ranked;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].first == all[begin].first)
      ++end;
    const auto twice = static_cast<std::int64_t>(begin + end + 1);  // ranks count from 1
    const auto size = static_cast<double>(end - begin);
    ranked.ties += size * size * size - size;
    for (; begin < end; ++begin) {
      ranked.twice.push_back(twice);
      ranked.twiceSumOfFirst += all[begin].second ? twice : 0;
    }
  }
  return ranked;
}

// The number of ways to choose `chosen` of the ranks for each sum, by dynamic programming over the
// ranks.
std::vector<double> waysBySum(const std::vector<std::int64_t>& ranks, std::size_t chosen) {
  std::int64_t most = 0;  // the largest ranks are last
  for (std::size_t i = 0; i < chosen; ++i)
    most += ranks[ranks.size() - 1 - i];
  const auto sums = static_cast<std::size_t>(most) + 1;
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(sums, 0));
  ways[0][0] = 1;
  for (const std::int64_t rank : ranks) {
    const auto shift = static_cast<std::size_t>(rank);
    for (std::size_t count = chosen; count > 0; --count)
      for (std::size_t sum = sums; sum-- > shift;)
        ways[count][sum] += ways[count - 1][sum - shift];
  }
  return std::move(ways[chosen]);
}

// The shares of all splits whose sum of the first sample's ranks is at most, or at least, the
// observed one.
struct Tails {
  double atMost = 1;
  double atLeast = 1;
};

Tails tailsOfCount(const std::vector<double>& ways, std::int64_t twiceSum) {
  const auto seen = static_cast<std::size_t>(twiceSum);
  double all = 0;
  double atMost = 0;
  double atLeast = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    all += ways[sum];
    atMost += sum <= seen ? ways[sum] : 0;
    atLeast += sum >= seen ? ways[sum] : 0;
  }
  return {atMost / all, atLeast / all};
}

// A sample of one value has as many splits as there are values.
Tails tailsOfOne(const std::vector<std::int64_t>& ranks, std::int64_t rank) {
  const auto all = static_cast<double>(ranks.size());
  const auto [first, last] = std::equal_range(ranks.begin(), ranks.end(), rank);
  return {static_cast<double>(last - ranks.begin()) / all,
          static_cast<double>(ranks.end() - first) / all};
}

// The normal approximation, with n values in the first sample.
Tails approximateTails(const Ranked& ranked, double n, std::int64_t twiceSum) {
  const auto total = static_cast<double>(ranked.twice.size());
  const double m = total - n;
  const double u = static_cast<double>(twiceSum) / 2 - n * (n + 1) / 2;
  const double variance = n * m / 12 * (total + 1 - ranked.ties / (total * (total - 1)));
  if (variance <= 0)
    return {};  // all values are equal
  const double deviation = std::sqrt(variance);
  return {normalCdf((u - n * m / 2 + 0.5) / deviation),
          normalCdf((n * m / 2 - u + 0.5) / deviation)};
}

double twoSidedOf(const Tails& tails) {
  return std::min(1.0, 2 * std::min(tails.atMost, tails.atLeast));
}

// `first` is the smaller sample.
RankTest ofSmallerFirst(const std::vector<double>& first, const std::vector<double>& second) {
  const Ranked ranked = ranksOf(first, second);
  const std::size_t n = first.size();
  const std::size_t all = n + second.size();
  RankTest test;
  test.exact = n == 1 || n * all <= kExactWork;
  const std::vector<double> ways =
      test.exact && n > 1 ? waysBySum(ranked.twice, n) : std::vector<double>();
  const auto tailsOf = [&](std::int64_t twiceSum) {
    return n == 1       ? tailsOfOne(ranked.twice, twiceSum)
           : test.exact ? tailsOfCount(ways, twiceSum)
                        : approximateTails(ranked, static_cast<double>(n), twiceSum);
  };
  const Tails seen = tailsOf(ranked.twiceSumOfFirst);
  test.pLower = seen.atMost;
  test.pHigher = seen.atLeast;
  test.p = twoSidedOf(seen);
  const auto middle = static_cast<std::ptrdiff_t>(n);
  const auto& ranks = ranked.twice;
  test.leastP = std::min(
      twoSidedOf(tailsOf(std::accumulate(ranks.begin(), ranks.begin() + middle, std::int64_t{0}))),
      twoSidedOf(tailsOf(std::accumulate(ranks.end() - middle, ranks.end(), std::int64_t{0}))));
  const auto size = static_cast<double>(n);
  const double u = static_cast<double>(ranked.twiceSumOfFirst) / 2 - size * (size + 1) / 2;
  test.superiority = 1 - u / (size * static_cast<double>(second.size()));
  return test;
}

}  // namespace

RankTest mannWhitney(const std::vector<double>& first, const std::vector<double>& second) {
  if (first.empty() || second.empty())
    return {};
  if (first.size() <= second.size())
    return ofSmallerFirst(first, second);
  RankTest test = ofSmallerFirst(second, first);
  std::swap(test.pLower, test.pHigher);
  test.superiority = 1 - test.superiority;
  return test;
}

}  // namespace sonde::engine::statistics
